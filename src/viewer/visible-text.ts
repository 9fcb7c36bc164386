/** A piece of text: plain, or one character that a reader could not see or that changes what is seen. */
export interface TextSegment {
  readonly text: string;
  /** Its code point and, for the better known, its name; absent for plain text. */
  readonly mark?: string;
}

/**
 * Control characters (but tab and line feed), format characters (zero-width, byte order mark, soft hyphen, language
 * tags), everything that turns the reading direction, line and paragraph separators, lone surrogates.
 */
const UNSEEN = /[^\P{Cc}\n\t]|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/gu;

const NAMES: Readonly<Record<number, string>> = {
  0: 'null',
  7: 'bell',
  8: 'backspace',
  13: 'carriage return',
  27: 'escape',
  127: 'delete',
  173: 'soft hyphen',
  8203: 'zero-width space',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'end of embedding',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first-strong isolate',
  8297: 'end of isolate',
  65279: 'byte order mark',
};

/** Splits text that may come from an agent so that nothing in it stays unseen. Windows line ends are line ends. */
export function textSegments(text: string): readonly TextSegment[] {
  const plain = text.replaceAll('\r\n', '\n');
  const segments: TextSegment[] = [];
  let from = 0;
  for (const match of plain.matchAll(UNSEEN)) {
    if (match.index > from) segments.push({ text: plain.slice(from, match.index) });
    segments.push(marked(match[0].codePointAt(0)!));
    from = match.index + match[0].length;
  }
  if (from < plain.length) segments.push({ text: plain.slice(from) });
  return segments;
}

function marked(code: number): TextSegment {
  const point = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const name = NAMES[code];
  // Control characters have pictures of their own.
  const text = code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : point;
  return { text, mark: name === undefined ? point : `${point} ${name}` };
}

/** The same as one string: marks in angle brackets. For places that take only text, such as titles. */
export function visibleText(text: string): string {
  return textSegments(text)
    .map((segment) => (segment.mark === undefined ? segment.text : `⟨${segment.mark}⟩`))
    .join('');
}
