import type { DatabaseIdentifiers } from './ruleset.js';

/**
 * Prose is what the agent says, code what it writes to be run, where lists of numbers are at home; reviewed is a text of
 * the benchmark, whose tables are thresholds, or a plan.
 */
export type Register = 'prose' | 'code' | 'reviewed';

/** Answers which column a token is a value of, or undefined. */
export type IdentifierTest = (token: string) => string | undefined;

/** What the rules know beside the text. */
export interface TextContext {
  /** Words that the user names, longest first. */
  readonly terms: readonly string[];
  /** Absolute folders of this machine. */
  readonly folders: readonly string[];
  /** Name of this machine, or undefined when it tells nothing. */
  readonly host: string | undefined;
  /** First and last year of the dates of the datasets; undefined where they have none. */
  readonly years: { readonly from: number; readonly to: number } | undefined;
  readonly databases: readonly DatabaseIdentifiers[];
  /** The prefix of a token that identifies somebody. */
  readonly prefixOf: IdentifierTest;
  /** Pseudonym of a value, in private packages; undefined: the value is dropped. */
  readonly pseudonym: ((prefix: string, value: string) => string) | undefined;
}

/** A part of a text that a rule takes out. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** What stands in its place, when not the rule's own replacement. */
  readonly instead?: string;
}

/** Spans of all matches of a pattern. */
export function matchSpans(text: string, pattern: RegExp): readonly Span[] {
  return [...text.matchAll(pattern)]
    .filter((match) => match[0] !== '')
    .map((match) => ({ start: match.index, end: match.index + match[0].length }));
}

/** In order; spans that overlap become one. */
export function apart(spans: readonly Span[]): readonly Span[] {
  const kept: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || span.start >= last.end) kept.push(span);
    else if (span.end > last.end) kept[kept.length - 1] = { ...last, end: span.end };
  }
  return kept;
}

/** A pattern that matches a text literally. */
export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
