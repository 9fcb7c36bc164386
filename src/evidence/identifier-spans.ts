import { apart, type Span, type TextContext } from './text-context.js';

/** A text as its digits are meant: without invisible characters, digits of all scripts as ASCII. */
interface PlainView {
  readonly text: string;
  /** Position in the original of each character, and of the end. */
  readonly at: readonly number[];
}

const INVISIBLE = /[\p{Cf}\p{Mn}]/u;
const OTHER = /[^\p{ASCII}]/u;

function plainView(text: string): PlainView {
  if (!OTHER.test(text)) return { text, at: [] };
  const at: number[] = [];
  let plain = '';
  let index = 0;
  for (const character of text) {
    const normal = !OTHER.test(character) ? character : INVISIBLE.test(character) ? '' : digitOf(character);
    for (let unit = 0; unit < normal.length; unit += 1) at.push(index);
    plain += normal;
    index += character.length;
  }
  at.push(index);
  return { text: plain, at };
}

/** The value of a digit of any script, else the character in its compatible form. */
function digitOf(character: string): string {
  if (!/\p{Nd}/u.test(character)) return character.normalize('NFKC');
  // Digits of a script stand in one run of ten; the zero is the last one that has no digit before it.
  const code = character.codePointAt(0)!;
  for (let value = 0; value < 10; value += 1)
    if (!/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) return String(value);
  return character.normalize('NFKC');
}

const SEPARATED = /(?<![\d])\d{1,8}(?:[ ,._'’\-/:]\d{1,8}){1,19}(?!\d)/g;
const THOUSANDS = /^\d{1,3}(?:[ ,._'’]\d{3})+$/;
const SCIENTIFIC = /(?<![\w.])\d(?:\.\d+)?e\+?0?[4-9](?![\w.])/gi;
const HEXADECIMAL = /\b0x[0-9a-f]{5,8}\b/gi;
const WITH_DASH = /(?<![\w-])\d{2,3}-\d{1,7}(?![\w-])/g;
/** Identifiers of so many digits are also looked for inside longer runs; shorter ones would be found by chance. */
const WINDOW = 8;
const LEAST_DIGITS = 5;

/**
 * Where identifiers of patients, admissions or stays stand in a text: as digits alone or inside a word, grouped or
 * separated, in scientific or hexadecimal spelling, in digits of other scripts, with invisible characters between.
 */
export function identifierSpans(text: string, context: TextContext): readonly Span[] {
  const view = plainView(text);
  const spans: Span[] = [];
  const add = (start: number, end: number, token: string): boolean => {
    const prefix = context.prefixOf(token);
    if (prefix === undefined) return false;
    const instead = context.pseudonym?.(prefix, token);
    const span = {
      start: view.at.length === 0 ? start : view.at[start]!,
      end: view.at.length === 0 ? end : view.at[end]!,
    };
    spans.push(instead === undefined ? span : { ...span, instead });
    return true;
  };
  for (const { 0: digits, index } of view.text.matchAll(/\d+/g)) {
    if (digits.length < LEAST_DIGITS || digits.length > 400) continue;
    if (add(index, index + digits.length, digits)) continue;
    for (let start = 0; digits.length > WINDOW && start + WINDOW <= digits.length; start += 1)
      add(index + start, index + start + WINDOW, digits.slice(start, start + WINDOW));
  }
  for (const { 0: token, index } of view.text.matchAll(WITH_DASH)) add(index, index + token.length, token);
  for (const { 0: token, index } of view.text.matchAll(SCIENTIFIC))
    add(index, index + token.length, String(Number(token)));
  for (const { 0: token, index } of view.text.matchAll(HEXADECIMAL))
    add(index, index + token.length, String(Number(token)));
  for (const { 0: token, index } of view.text.matchAll(SEPARATED)) addSeparated(token, index, add);
  return apart(spans);
}

/** Every way to read neighbouring groups of digits as one number. */
function addSeparated(
  token: string,
  index: number,
  add: (start: number, end: number, token: string) => boolean,
): void {
  const groups = [...token.matchAll(/\d+/g)];
  for (let first = 0; first < groups.length; first += 1) {
    let digits = '';
    for (let last = first; last < groups.length && digits.length < 12; last += 1) {
      digits += groups[last]![0];
      if (last === first) continue;
      const start = groups[first]!.index;
      const end = groups[last]!.index + groups[last]![0].length;
      if (digits.length >= WINDOW || (digits.length >= 6 && THOUSANDS.test(token.slice(start, end))))
        add(index + start, index + end, digits);
    }
  }
}

const COMPARISON = String.raw`(?:==?|:|!=|<>|[<>]=?|\bis\b|\bin\b|\bbetween\b|\blike\b|\bof\b)?`;
const VALUE = String.raw`[A-Za-z0-9_.-]*\d{3,}[A-Za-z0-9_-]*`;

/** Values beside the name of an identifier column, whether the dataset has them or not. */
export function namedSpans(text: string, context: TextContext): readonly Span[] {
  const names = context.databases.flatMap((database) => database.names);
  if (names.length === 0) return [];
  const quote = String.raw`[\\"'\`\[\]()]*`;
  const pattern = new RegExp(
    String.raw`(?<!\w)(?:${names.join('|')})(?!\w)${quote}\s*${COMPARISON}\s*${quote}\s*(${VALUE}(?:\s*(?:,|\band\b)\s*["']?${VALUE}["']?)*)`,
    'gi',
  );
  const spans: Span[] = [];
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    spans.push({ start: end - match[1]!.length, end });
  }
  return apart(spans);
}
