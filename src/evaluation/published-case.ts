import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EvaluationErrorKind } from './evaluation.js';
import { type ScoringCase, ScoringFixture } from './scoring-fixture.js';

/** The tables of pinned and measured cases of the published scorer, row by row; m/t is matched/total. */
export interface PublishedCase extends ScoringCase {
  readonly name: string;
  /** `m/t` per scored column, or the kind of error. */
  readonly expected: string | readonly string[] | { readonly error: EvaluationErrorKind };
  readonly extra?: number;
  readonly duplicates?: number;
  readonly precision?: number;
  readonly missing?: number;
}

/** The session of one test file, opened and closed around its tests. */
export function useFixture(): { readonly current: ScoringFixture } {
  const holder: { current: ScoringFixture } = { current: undefined as unknown as ScoringFixture };
  beforeAll(async () => {
    holder.current = await ScoringFixture.open();
  });
  afterAll(() => holder.current[Symbol.asyncDispose]());
  return holder;
}

/** One test per case. */
export function published(
  fixture: { readonly current: ScoringFixture },
  cases: readonly PublishedCase[],
): void {
  for (const { name, expected, ...one } of cases) {
    it(name, async () => {
      const { evaluation } = await fixture.current.evaluate({ request: { scoresOnly: true }, ...one });
      if (typeof expected === 'object' && 'error' in expected) {
        expect(evaluation).toMatchObject({
          errorKind: expected.error,
          reward: 0,
          keyPrecision: 0,
          checks: [],
        });
        expect(Object.values(evaluation.matchRates).every((rate) => rate === 0)).toBe(true);
        expect(evaluation.error).toMatch(/\.$/);
        return;
      }
      expect(evaluation.error).toBeNull();
      const counts = Object.values(evaluation.columns).map(({ matched, total }) => `${matched}/${total}`);
      expect(counts).toEqual([expected].flat());
      if (one.extra !== undefined) expect(evaluation.extraKeys).toBe(one.extra);
      if (one.duplicates !== undefined) expect(evaluation.duplicateKeys).toBe(one.duplicates);
      if (one.precision !== undefined) expect(evaluation.keyPrecision).toBe(one.precision);
      if (one.missing !== undefined) expect(evaluation.missingKeys).toBe(one.missing);
    });
  }
}
