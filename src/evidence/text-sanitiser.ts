import { dateSpans } from './date-spans.js';
import { encodedSpans } from './encoded-spans.js';
import { identifierSpans, namedSpans } from './identifier-spans.js';
import type { Rule } from './ruleset.js';
import { tableSpans } from './table-spans.js';
import { apart, literally, matchSpans, type Register, type Span, type TextContext } from './text-context.js';

/** How often each rule hit, by rule id; rules without a hit are absent. */
export type RuleHits = ReadonlyMap<string, number>;

export interface SanitisedText {
  readonly text: string;
  readonly hits: RuleHits;
}

/** Encodings inside encodings are followed so deep. */
const MAX_DEPTH = 3;

/** Applies the rules to texts, one after the other, in their order. Pure: the same text and context, the same result. */
export class TextSanitiser {
  private readonly patterns: ReadonlyMap<string, RegExp | undefined>;

  constructor(
    private readonly rules: readonly Rule[],
    readonly context: TextContext,
  ) {
    const { terms, folders, host } = context;
    this.patterns = new Map([
      ['terms', anyOf(terms, '(?<![\\p{L}\\p{N}])', '(?![\\p{L}\\p{N}])', 'giu')],
      ['folders', anyOf(folders, '(?<![\\w.])', '(?![\\w.-])', 'g')],
      ['host', anyOf(host === undefined ? [] : [host], '(?<![\\w-])', '(?![\\w-])', 'gi')],
    ]);
  }

  sanitise(text: string, register: Register): SanitisedText {
    const hits = new Map<string, number>();
    let current = text;
    for (const rule of this.rules) {
      const spans = this.spansOf(rule, current, register, 0);
      if (spans.length === 0) continue;
      hits.set(rule.id, (hits.get(rule.id) ?? 0) + spans.length);
      current = replaced(current, spans, rule.replacement);
    }
    return { text: current, hits };
  }

  /** Ids of the forbidden rules that still hit. */
  forbiddenIn(text: string, register: Register): readonly string[] {
    return this.rules
      .filter((rule) => rule.forbidden && this.spansOf(rule, text, register, 0).length > 0)
      .map(({ id }) => id);
  }

  private spansOf(rule: Rule, text: string, register: Register, depth: number): readonly Span[] {
    if (rule.onlyAgents && register === 'reviewed') return [];
    switch (rule.kind) {
      case 'pattern':
        return apart(rule.patterns.flatMap((pattern) => matchSpans(text, pattern)));
      case 'terms':
      case 'folders':
      case 'host': {
        const pattern = this.patterns.get(rule.kind);
        return pattern === undefined ? [] : matchSpans(text, pattern);
      }
      case 'encoded':
        return apart(encodedSpans(text, (decoded) => this.isForbidden(decoded, text, depth)));
      case 'tables':
        return tableSpans(
          text,
          register,
          this.context,
          (part) =>
            identifierSpans(part, this.context).length > 0 || dateSpans(part, this.context).length > 0,
        );
      case 'dates':
        return dateSpans(text, this.context);
      case 'identifiers':
        return identifierSpans(text, this.context);
      case 'named':
        return namedSpans(text, this.context);
    }
  }

  private isForbidden(decoded: string, encoded: string, depth: number): boolean {
    if (decoded === encoded || depth >= MAX_DEPTH) return depth >= MAX_DEPTH;
    return this.rules.some((rule) => this.spansOf(rule, decoded, 'prose', depth + 1).length > 0);
  }
}

function anyOf(texts: readonly string[], before: string, after: string, flags: string): RegExp | undefined {
  const parts = texts.filter((text) => text !== '').map(literally);
  return parts.length === 0 ? undefined : new RegExp(`${before}(?:${parts.join('|')})${after}`, flags);
}

function replaced(text: string, spans: readonly Span[], replacement: string): string {
  let result = '';
  let at = 0;
  for (const { start, end, instead } of spans) {
    result += text.slice(at, start) + (instead ?? replacement);
    at = end;
  }
  return result + text.slice(at);
}

/** The sum of counts. */
export function addHits(into: Map<string, number>, hits: RuleHits): void {
  for (const [id, count] of hits) into.set(id, (into.get(id) ?? 0) + count);
}
