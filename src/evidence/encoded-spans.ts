import type { Span } from './text-context.js';

/** A run of characters that may stand for a text, and the text, undefined when it cannot be looked into. */
interface Encoded {
  readonly start: number;
  readonly end: number;
  readonly decoded: readonly string[] | undefined;
}

/** Runs of this length that decode to no text are taken out unseen. */
const OPAQUE_FROM = 200;
/** First bytes of compressed data: gzip, zlib, zstd, bzip2, xz, zip. */
const COMPRESSED = [
  [0x1f, 0x8b],
  [0x78, 0x9c],
  [0x78, 0x01],
  [0x78, 0xda],
  [0x28, 0xb5, 0x2f, 0xfd],
  [0x42, 0x5a, 0x68],
  [0xfd, 0x37, 0x7a],
  [0x50, 0x4b, 0x03],
];

/**
 * Encoded runs whose decoded text `isForbidden`, and those that nobody can look into: compressed, or long and no text.
 */
export function encodedSpans(text: string, isForbidden: (decoded: string) => boolean): readonly Span[] {
  return encodedRuns(text).filter(
    ({ decoded }) => decoded === undefined || decoded.some((one) => isForbidden(one)),
  );
}

function encodedRuns(text: string): readonly Encoded[] {
  return [
    ...base64Runs(text),
    ...hexRuns(text),
    ...escapeRuns(text, /(?:[\w.~-]{0,64}(?:%[0-9a-f]{2})+){2,}[\w.~-]{0,64}/gi, percentDecoded),
    ...escapeRuns(
      text,
      /(?:[^\s\\]{0,3}\\+(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[0-3][0-7]{2})){2,}/gi,
      escapesDecoded,
    ),
    ...escapeRuns(text, /(?:&#(?:x[0-9a-f]+|\d+);){2,}/gi, entitiesDecoded),
    ...escapeRuns(text, /(?:\bchr?\(\s*\d{1,3}\s*\)[\s|+.,&]*){2,}/gi, codesDecoded),
    ...escapeRuns(text, /(?<![\w.])\d{2,3}(?:\s*,\s*\d{2,3}){4,}(?![\w.])/g, codesDecoded),
  ];
}

function* escapeRuns(
  text: string,
  pattern: RegExp,
  decode: (run: string) => string | undefined,
): Generator<Encoded> {
  for (const { 0: run, index } of text.matchAll(pattern)) {
    const decoded = decode(run);
    if (decoded !== undefined) yield { start: index, end: index + run.length, decoded: [decoded] };
  }
}

const BASE64 = /(?:(?:[A-Za-z0-9+/_-]{40,}(?:\r?\n|\\n))+[A-Za-z0-9+/_-]{1,}|[A-Za-z0-9+/_-]{8,})={0,2}/g;

function* base64Runs(text: string): Generator<Encoded> {
  for (const { 0: run, index } of text.matchAll(BASE64)) {
    const joined = run.replace(/\s|\\n/g, '');
    const bytes = Buffer.from(joined, 'base64');
    const span = { start: index, end: index + run.length };
    if (isCompressed(bytes) && joined.length >= 20) yield { ...span, decoded: undefined };
    else if (isReadable(bytes)) yield { ...span, decoded: [bytes.toString('utf8')] };
    else if (isReadable(bytes.filter((_, at) => at % 2 === 0)) && bytes.length >= 8)
      // Base64 of UTF-16, as PowerShell writes it.
      yield { ...span, decoded: [bytes.toString('utf16le')] };
    else if (joined.length >= OPAQUE_FROM && !isPlainWord(joined)) yield { ...span, decoded: undefined };
  }
}

/** Words and names of programs are base64 too, but have few changes between small and capital letters. */
function isPlainWord(run: string): boolean {
  const changes = run.match(/[a-z][A-Z]|[A-Z][a-z]|\d[A-Za-z]/g)?.length ?? 0;
  return changes < run.length / 10;
}

function* hexRuns(text: string): Generator<Encoded> {
  for (const { 0: run, index } of text.matchAll(/(?<![0-9a-f])(?:[0-9a-f]{2}[\s:]?){5,}(?![0-9a-f])/gi)) {
    const bytes = Buffer.from(run.replace(/[\s:]/g, ''), 'hex');
    const span = { start: index, end: index + run.length };
    if (isCompressed(bytes) && bytes.length >= 16) yield { ...span, decoded: undefined };
    else if (isReadable(bytes)) yield { ...span, decoded: [bytes.toString('utf8')] };
  }
}

function isCompressed(bytes: Buffer): boolean {
  return COMPRESSED.some((magic) => magic.every((byte, at) => bytes[at] === byte));
}

/** Whether bytes are text, or begin as one: at least nine of ten are printable. */
function isReadable(bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false;
  let printable = 0;
  for (const byte of bytes) if ((byte >= 0x20 && byte < 0x7f) || (byte >= 9 && byte <= 13)) printable += 1;
  return printable >= bytes.length * 0.9;
}

function percentDecoded(run: string): string | undefined {
  try {
    return decodeURIComponent(run);
  } catch {
    return undefined;
  }
}

function escapesDecoded(run: string): string {
  return run.replace(/\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2})|([0-3][0-7]{2}))/gi, (_all, unicode, hex, octal) =>
    String.fromCharCode(Number.parseInt(unicode ?? hex ?? octal, octal === undefined ? 16 : 8)),
  );
}

function entitiesDecoded(run: string): string {
  return run.replace(/&#(?:x([0-9a-f]+)|(\d+));/gi, (_all, hex, decimal) =>
    characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
  );
}

function codesDecoded(run: string): string | undefined {
  const codes = [...run.matchAll(/\d+/g)].map((match) => Number(match[0]));
  return codes.every((code) => code >= 9 && code < 127) ? codes.map(characterOf).join('') : undefined;
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
