/** One violation of a content rule. */
export interface Finding {
  /** Absolute path. */
  readonly file: string;
  /** 1-based; 1 when the rule is about the whole file. */
  readonly line: number;
  /** Stable name of the rule, for example `instruction-item-id`. */
  readonly rule: string;
  /** What is wrong and what to do, in one sentence. */
  readonly message: string;
}

/** 1-based line of a character position. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

/** A pattern that must not occur in a text, and why. */
export interface ForbiddenText {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly message: string;
}

/** One finding for each occurrence of a forbidden text. */
export function forbiddenTexts(
  text: string,
  file: string,
  forbidden: readonly ForbiddenText[],
): readonly Finding[] {
  return forbidden.flatMap(({ rule, pattern, message }) =>
    [...text.matchAll(new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`))].map((match) => ({
      file,
      line: lineAt(text, match.index),
      rule,
      message: `"${match[0].trim().split('\n')[0]}": ${message}`,
    })),
  );
}

/** Text with every run of white space as one blank, for comparisons that ignore layout. */
export function collapsed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
