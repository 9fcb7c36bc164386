/** Length of the runs of words that are compared: long enough that two authors rarely share one by chance. */
const N = 8;

/**
 * Words, numbers, quoted texts and signs of a text in order, lower-cased, without comments. Good for SQL and for
 * program text that holds SQL; this compares texts and does not understand them.
 */
export function wordsOf(text: string): readonly string[] {
  const withoutComments = text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  return (
    withoutComments.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_]*|\d+(?:\.\d+)?|'[^'\n]*'|[^\s\p{L}\p{N}]/gu) ??
    []
  );
}

function gramsOf(words: readonly string[]): ReadonlySet<string> {
  const grams = new Set<string>();
  for (let at = 0; at + N <= words.length; at += 1) grams.add(words.slice(at, at + N).join(' '));
  return grams;
}

/** How much of a query another text repeats. */
export interface Overlap {
  /** `shared / total`, 0 where there is nothing to share. */
  readonly share: number;
  readonly shared: number;
  /** 8-grams of the query that are not in what was given. */
  readonly total: number;
}

/**
 * Share of the 8-grams of a reference query that an author wrote, of those that the author was not given (skills and
 * instructions may quote parts of it).
 */
export function overlapOf(
  reference: string,
  written: readonly string[],
  given: readonly string[] = [],
): Overlap {
  const known = gramsOf(given.flatMap(wordsOf));
  const wanted = [...gramsOf(wordsOf(reference))].filter((gram) => !known.has(gram));
  const grams = gramsOf(written.flatMap(wordsOf));
  const shared = wanted.filter((gram) => grams.has(gram)).length;
  return { share: wanted.length === 0 ? 0 : shared / wanted.length, shared, total: wanted.length };
}
