import { describe, expect, it } from 'vitest';
import type { Score } from './score.js';
import { failedEvaluation, type ScoredOutput, type Subject, scoredEvaluation } from './verdict.js';

const subject: Subject = {
  task: 'some-task',
  dataset: 'mimic-iv-demo',
  contract: {
    keyColumns: ['k'],
    requiredColumns: ['subject_id', 'k', 'v', 'w'],
    valueColumns: ['v'],
    scoredColumns: ['v', 'w'],
    tolerance: {},
    rowCoverageThreshold: 0.75,
    accuracyThreshold: 0.5,
  },
  orderedColumns: 2,
};

/**
 * 8 reference rows, 6 of whose keys the output has; 1 extra key, 1 repeated row, 3 rows whose key is none. Column v has
 * 5 published and 7 robust matches, column w is absent.
 */
const score = {
  published: { error: null, extraKeys: 1, duplicateRows: 1, comparisons: ['numeric'] },
  robust: { extraKeys: 4, duplicateRows: 2 },
  outputRows: 11,
  uniqueKeys: 7,
  keysInTruth: 6,
  missingKeys: 2,
  columns: [{ matched: 5 }],
  robustMatched: [7],
  hasWrongKeys: false,
  pairing: { columns: [{ truth: { name: 'v' } }] },
} as unknown as Score;

function verdictOf(
  changed: Partial<Score>,
  scored: Partial<ScoredOutput> = {},
  about: Partial<Subject> = {},
) {
  return scoredEvaluation(
    { ...subject, ...about },
    {
      header: ['k', 'v', 'x'],
      score: { ...score, ...changed },
      truthRows: 8,
      orderedErrors: 0.6,
      ...scored,
    },
  );
}

const noKeys = { keyPrecision: 0, keyRecall: 0, keyF1: 0, extraKeys: 0, duplicateKeys: 0, uniqueKeys: 0 };

describe('the verdict on a scored output', () => {
  it('follows from the counts', () => {
    // Published total 8 + 1 + 1 = 10, robust total 8 + 4 + 2 = 14; precision 6/7, recall 6/8.
    const precision = 0.85714286;
    expect(verdictOf({})).toEqual({
      task: 'some-task',
      dataset: 'mimic-iv-demo',
      reward: 0.25,
      rewardRobust: 0.25,
      matchRates: { v: 0.5, w: 0 },
      columns: {
        v: {
          comparison: 'numeric',
          matched: 5,
          total: 10,
          matchRate: 0.5,
          robustMatched: 7,
          robustTotal: 14,
          robustMatchRate: 0.5,
        },
        w: {
          comparison: 'absent',
          matched: 0,
          total: 10,
          matchRate: 0,
          robustMatched: 0,
          robustTotal: 14,
          robustMatchRate: 0,
        },
      },
      checks: [
        { name: 'output exists', passed: true, detail: 'The file is there.' },
        { name: 'output is a valid CSV', passed: true, detail: '11 data rows.' },
        { name: 'required columns present', passed: false, detail: 'Missing: subject_id, w.' },
        { name: 'row coverage', passed: true, detail: '6 of 8 reference keys, needed 0.75.' },
        { name: 'accuracy: v', passed: true, detail: '5 of 10 match, needed 0.5.' },
        { name: 'accuracy: w', passed: false, detail: '0 of 10 match, needed 0.5.' },
      ],
      strictPass: false,
      keyPrecision: precision,
      keyRecall: 0.75,
      keyF1: (2 * precision * 0.75) / (precision + 0.75),
      extraKeys: 1,
      duplicateKeys: 1,
      uniqueKeys: 7,
      missingKeys: 2,
      truthRows: 8,
      outputRows: 11,
      orderedNmae: 0.3,
      nmae: { value: 0.3, columns: 2, coverage: 0.75 },
      mismatchKinds: {},
      confusion: {},
      components: null,
      errorKind: null,
      error: null,
    });
  });

  it('is a strict pass when every check passes', () => {
    const right: Partial<Score> = {
      columns: [{ matched: 5 }, { matched: 10 }] as unknown as Score['columns'],
      pairing: {
        columns: [{ truth: { name: 'w' } }, { truth: { name: 'v' } }],
      } as unknown as Score['pairing'],
      published: { ...score.published, comparisons: ['text', 'temporal'] },
      robustMatched: [14, 7],
    };
    const header = ['w', 'v', 'k', 'subject_id'];
    const passed = verdictOf(right, { header });
    expect(passed).toMatchObject({
      strictPass: true,
      matchRates: { v: 1, w: 0.5 },
      reward: 0.75,
      rewardRobust: 0.75,
    });
    expect(passed.columns).toMatchObject({ v: { comparison: 'temporal' }, w: { comparison: 'text' } });
    expect(passed.checks[2]).toEqual({
      name: 'required columns present',
      passed: true,
      detail: 'All columns are there.',
    });
    expect(verdictOf({ ...right, outputRows: 1 }, { header }).strictPass).toBe(true);
    expect(verdictOf({ ...right, outputRows: 0 }, { header }).checks.map((check) => check.passed)).toEqual([
      true,
      false,
      true,
      true,
      true,
      true,
    ]);
    expect(verdictOf({ ...right, keysInTruth: 5 }, { header }).checks[3]?.passed).toBe(false);
    expect(verdictOf({ ...right, keysInTruth: 5 }, { header }).strictPass).toBe(false);
  });

  it('rounds each match rate and the mean to 8 decimals', () => {
    // 5/9 = 0.5555…, 2/9 = 0.2222…; total 9 without the extra key.
    const published = { ...score.published, extraKeys: 0 };
    const columns = [{ matched: 5 }] as unknown as Score['columns'];
    expect(verdictOf({ published, columns })).toMatchObject({
      matchRates: { v: 0.55555556, w: 0 },
      reward: 0.27777778,
      columns: { v: { matchRate: 5 / 9 } },
    });
    const robust = { extraKeys: 1, duplicateRows: 0 };
    expect(verdictOf({ robust, robustMatched: [2] })).toMatchObject({
      columns: { v: { robustMatchRate: 2 / 9 } },
      rewardRobust: 0.11111111,
    });
  });

  it('keeps the robust side when the published comparison fails', () => {
    const error = { kind: 'key-type', reason: 'A key is none.' } as const;
    const failed = verdictOf({ published: { ...score.published, error } });
    expect(failed).toMatchObject({
      reward: 0,
      rewardRobust: 0.25,
      matchRates: { v: 0, w: 0 },
      checks: [],
      strictPass: false,
      ...noKeys,
      missingKeys: 2,
      outputRows: 11,
      orderedNmae: 0.3,
      errorKind: 'key-type',
      error: 'A key is none.',
    });
    expect(failed.columns.v).toEqual({
      comparison: 'numeric',
      matched: 0,
      total: 0,
      matchRate: 0,
      robustMatched: 7,
      robustTotal: 14,
      robustMatchRate: 0.5,
    });
  });

  it('has no key measures without keys, and none of the reference without rows', () => {
    const none = { keysInTruth: 0, uniqueKeys: 0 };
    expect(verdictOf(none)).toMatchObject({ keyPrecision: 0, keyRecall: 0, keyF1: 0, nmae: { coverage: 0 } });
    expect(verdictOf({ keysInTruth: 0 })).toMatchObject({ keyPrecision: 0, keyRecall: 0, keyF1: 0 });
    const empty = verdictOf({ keysInTruth: 0, uniqueKeys: 2 }, { truthRows: 0 });
    expect(empty).toMatchObject({ keyPrecision: 0, keyRecall: 0, keyF1: 0, nmae: { coverage: 0 } });
    expect(empty.checks[3]).toEqual({
      name: 'row coverage',
      passed: false,
      detail: '0 of 0 reference keys, needed 0.75.',
    });
    const nothing = {
      published: { ...score.published, extraKeys: 0, duplicateRows: 0 },
      robust: { extraKeys: 0, duplicateRows: 0 },
      keysInTruth: 0,
      columns: [{ matched: 0 }] as unknown as Score['columns'],
      robustMatched: [0],
    };
    expect(verdictOf(nothing, { truthRows: 0 })).toMatchObject({
      reward: 0,
      rewardRobust: 0,
      columns: { v: { total: 0, matchRate: 0, robustTotal: 0, robustMatchRate: 0 } },
    });
  });

  it('has an nMAE as published and a corrected one', () => {
    expect(verdictOf({ hasWrongKeys: true })).toMatchObject({ orderedNmae: null, nmae: { value: 0.3 } });
    expect(verdictOf({}, { orderedErrors: null })).toMatchObject({ orderedNmae: null, nmae: { value: 1 } });
    expect(verdictOf({}, { orderedErrors: 0 })).toMatchObject({ orderedNmae: 0, nmae: { value: 0 } });
    for (const orderedErrors of [0, null]) {
      expect(verdictOf({}, { orderedErrors }, { orderedColumns: 0 })).toMatchObject({
        orderedNmae: null,
        nmae: { value: null, columns: 0, coverage: 0.75 },
      });
    }
  });
});

describe('the verdict on an output that cannot be scored', () => {
  it('is nothing but zeros and the reason', () => {
    expect(failedEvaluation(subject, 'output-unreadable', 'It is broken.', 8)).toEqual({
      task: 'some-task',
      dataset: 'mimic-iv-demo',
      reward: 0,
      rewardRobust: 0,
      matchRates: { v: 0, w: 0 },
      columns: {},
      checks: [],
      strictPass: false,
      ...noKeys,
      missingKeys: 8,
      truthRows: 8,
      outputRows: 0,
      orderedNmae: null,
      nmae: { value: 1, columns: 2, coverage: 0 },
      mismatchKinds: {},
      confusion: {},
      components: null,
      errorKind: 'output-unreadable',
      error: 'It is broken.',
    });
  });

  it('has no match rates when a file is absent, and a failed check when the output is', () => {
    const absent = failedEvaluation({ ...subject, orderedColumns: 0 }, 'output-missing', 'No file.');
    expect(absent).toMatchObject({ truthRows: 0, missingKeys: 0, nmae: { value: null, columns: 0 } });
    expect([absent.matchRates, absent.checks]).toEqual([
      {},
      [{ name: 'output exists', passed: false, detail: 'There is no output file.' }],
    ]);
    const lost = failedEvaluation(subject, 'reference-missing', 'No file.');
    expect([lost.matchRates, lost.checks]).toEqual([{}, []]);
  });
});
