import { describe, expect, it } from 'vitest';
import type { Evaluation } from '../evaluation/evaluation.js';
import { noMismatches } from '../evaluation/mismatch-kinds.js';
import { hostileText } from './hostile.fixture.js';
import { evaluationHtml } from './pages/evaluation.js';
import { wentWrong } from './went-wrong.js';

const evaluation: Evaluation = {
  task: 'mimic-meld-24h',
  dataset: 'mimic-iv-demo',
  reward: 0.325,
  rewardRobust: 0.5,
  matchRates: { meld: 0.325 },
  columns: {
    meld: {
      comparison: 'numeric',
      matched: 39,
      total: 120,
      matchRate: 0.325,
      robustMatched: 60,
      robustTotal: 120,
      robustMatchRate: 0.5,
    },
  },
  checks: [{ name: 'row coverage', passed: false, detail: hostileText }],
  strictPass: false,
  keyPrecision: 1,
  keyRecall: 0.5,
  keyF1: 2 / 3,
  extraKeys: 2,
  missingKeys: 60,
  duplicateKeys: 0,
  uniqueKeys: 62,
  truthRows: 120,
  outputRows: 62,
  orderedNmae: 0.04,
  nmae: { value: 0.04, columns: 1, coverage: 0.5 },
  mismatchKinds: { meld: { ...noMismatches, rowMissing: 60, tooHigh: 16, tooLow: 5 } },
  confusion: {},
  components: null,
  errorKind: null,
  error: null,
};

describe('a verdict as a page', () => {
  it('says in sentences where the output went wrong: missing rows once, then columns', () => {
    expect(wentWrong(evaluation)).toEqual([
      '60 of 120 reference rows are missing from the output.',
      '2 keys in the output are not in the reference.',
      'meld: 16 too high; 5 too low.',
    ]);
  });

  it('says nothing where all is right', () => {
    const right = { ...evaluation, missingKeys: 0, extraKeys: 0, mismatchKinds: { meld: noMismatches } };
    expect(wentWrong(right)).toEqual([]);
  });

  it('is one file without a script that loads nothing and shows hostile text as text', () => {
    const html = evaluationHtml({ evaluation, subject: hostileText, style: 'main{color:red}' });
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(html).not.toMatch(/<(script|link|img|iframe|svg on)/i);
    expect(html).toContain('<dd data-number="reward">0.325</dd>');
    expect(html).toContain('<dd data-number="keyF1">0.667</dd>');
    expect(html).toContain('&lt;script>');
  });
});
