import { symlink } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, keyed, ScoringFixture } from './scoring-fixture.js';

let fixture: ScoringFixture;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const truth = keyed([1, 4], [2, 5], [3, 6], [4, 7]);

describe('key precision, recall and F1', () => {
  it('follow from the rounded precision and the reference rows', async () => {
    // Keys 1, 2, 8: precision 2/3 rounded to 8 decimals, recall 2/4.
    const { evaluation } = await fixture.evaluate({ truth, output: keyed([1, 4], [2, 5], [8, 1]) });
    const precision = 0.66666667;
    expect(evaluation).toMatchObject({
      uniqueKeys: 3,
      extraKeys: 1,
      missingKeys: 2,
      truthRows: 4,
      outputRows: 3,
    });
    expect(evaluation.keyPrecision).toBe(precision);
    expect(evaluation.keyRecall).toBe(0.5);
    expect(evaluation.keyF1).toBe((2 * precision * 0.5) / (precision + 0.5));
  });

  it('are 0 without any output row', async () => {
    const { evaluation } = await fixture.evaluate({ truth, output: 'k,v\n' });
    expect([evaluation.keyPrecision, evaluation.keyRecall, evaluation.keyF1]).toEqual([0, 0, 0]);
  });
});

describe('checks', () => {
  it('pass for a right output: four and one per scored column', async () => {
    const { evaluation } = await fixture.evaluate({ truth, output: truth });
    expect(evaluation.checks.map(({ name, passed }) => [name, passed])).toEqual([
      ['output exists', true],
      ['output is a valid CSV', true],
      ['required columns present', true],
      ['row coverage', true],
      ['accuracy: v', true],
    ]);
    expect(evaluation).toMatchObject({ strictPass: true, reward: 1, rewardRobust: 1, errorKind: null });
  });

  it('pass two of the first four for a header without rows', async () => {
    const { evaluation } = await fixture.evaluate({ truth, output: 'k,v\n' });
    expect(evaluation.checks.map(({ passed }) => passed)).toEqual([true, false, true, false, false]);
    expect(evaluation).toMatchObject({ errorKind: null, reward: 0 });
  });

  it('do not lower the reward when a required identifier is absent', async () => {
    const { evaluation } = await fixture.evaluate({
      truth,
      output: truth,
      required: ['subject_id', 'k', 'v'],
    });
    expect(evaluation).toMatchObject({ reward: 1, strictPass: false });
    expect(evaluation.checks[2]).toMatchObject({ passed: false, detail: 'Missing: subject_id.' });
  });

  it('compare coverage and unrounded match rates with their thresholds', async () => {
    const output = keyed([1, 4], [2, 5], [3, 6]);
    const atThreshold = await fixture.evaluate({ truth, output, coverage: 0.75, accuracy: 0.75 });
    const above = await fixture.evaluate({ truth, output, coverage: 0.76, accuracy: 0.76 });
    expect(atThreshold.evaluation.strictPass).toBe(true);
    expect(above.evaluation.checks.map(({ passed }) => passed)).toEqual([true, true, true, false, false]);
  });

  it('record only the first one when there is no output', async () => {
    const path = await fixture.write('truth.csv', truth);
    const { evaluation } = await fixture.evaluateFiles({}, path, `${path}.absent`);
    expect(evaluation.checks).toEqual([
      { name: 'output exists', passed: false, detail: 'There is no output file.' },
    ]);
    expect(evaluation).toMatchObject({
      errorKind: 'output-missing',
      matchRates: {},
      reward: 0,
      strictPass: false,
    });
  });
});

describe('the reference', () => {
  it('must exist', async () => {
    const path = await fixture.write('output.csv', truth);
    const { evaluation } = await fixture.evaluateFiles({}, `${path}.absent`, path);
    expect(evaluation).toMatchObject({
      errorKind: 'reference-missing',
      error: 'The reference file does not exist.',
      matchRates: {},
      reward: 0,
    });
  });

  it('must have the needed columns', async () => {
    const { evaluation } = await fixture.evaluate({ truth: csv(['k', 'x'], [[1, 2]]), output: truth });
    expect(evaluation).toMatchObject({
      errorKind: 'reference-invalid',
      error: 'The reference lacks column v.',
    });
    const values = { values: ['v', 'w'], truth: csv(['k', 'x'], [[1, 2]]), output: truth };
    expect((await fixture.evaluate(values)).evaluation.error).toBe('The reference lacks column v, w.');
  });

  it('must not repeat keys, sorted or not', async () => {
    for (const repeated of [keyed([1, 4], [1, 5]), keyed([2, 4], [1, 5], [2, 6])]) {
      const { evaluation } = await fixture.evaluate({ truth: repeated, output: truth });
      expect(evaluation).toMatchObject({
        errorKind: 'reference-invalid',
        error: 'The reference has 1 rows whose key an earlier row has.',
      });
    }
  });

  const composite = ['k', 'l', 'v'];
  const judged = async (truth: string | Uint8Array, output: string, keys: readonly string[] = ['k']) =>
    (await fixture.evaluate({ truth, output, keys, values: ['v'] })).evaluation;

  it('must not repeat keys of several columns, sorted or not', async () => {
    const rows = [
      [1, 'a', 4],
      [1, 'b', 5],
      [2, 'a', 6],
    ];
    const unique = csv(composite, rows);
    for (const truth of [unique, csv(composite, rows.toReversed())]) {
      expect(await judged(truth, unique, ['k', 'l'])).toMatchObject({ errorKind: null, reward: 1 });
    }
    const repeated = {
      errorKind: 'reference-invalid',
      error: 'The reference has 1 rows whose key an earlier row has.',
    };
    for (const extra of [
      [1, 'a', 9],
      [2, 'a', 9],
    ]) {
      expect(await judged(csv(composite, [...rows, extra]), unique, ['k', 'l'])).toMatchObject(repeated);
    }
    expect(await judged(csv(composite, [...rows, ...rows]), unique, ['k', 'l'])).toMatchObject({
      error: 'The reference has 3 rows whose key an earlier row has.',
    });
  });

  it('must not repeat text keys, nor null ones', async () => {
    expect((await judged(keyed(['b', 4], ['a', 5]), keyed(['a', 5], ['b', 4]))).reward).toBe(1);
    for (const truth of [keyed(['a', 4], ['a', 5]), keyed([null, 4], ['a', 5], [null, 6])]) {
      expect((await judged(truth, keyed(['a', 4]))).errorKind).toBe('reference-invalid');
    }
  });

  it('is not scored when it cannot be read', async () => {
    expect(await judged('k,v\n1,"4\n', truth)).toMatchObject({
      errorKind: 'reference-invalid',
      error: 'The reference cannot be read. A quoted field that begins in record 1 is never closed.',
      matchRates: { v: 0 },
    });
    const folder = await fixture.evaluateFiles({}, fixture.folder, fixture.folder);
    expect(folder.evaluation).toMatchObject({
      errorKind: 'reference-invalid',
      error: 'The reference cannot be read. It is a directory, not a regular file.',
    });
    const path = await fixture.write('broken.parquet', 'PAR1 no PAR1');
    const { evaluation } = await fixture.evaluateFiles({}, path, path);
    expect(evaluation.errorKind).toBe('reference-invalid');
    expect(evaluation.error).toMatch(/^The reference cannot be read\. [A-Z][A-Za-z ]+Error\.$/);
    const through = await fixture.evaluateFiles({}, `${path}/x.csv`, path);
    expect(through.evaluation.errorKind).toBe('reference-invalid');
    expect(through.evaluation.error).toMatch(/^The reference cannot be opened: ENOTDIR.*\.$/);
  });

  it('may be gzip, Parquet or behind a link', async () => {
    const output = await fixture.write('output.csv', truth);
    const gzip = await fixture.write('truth.csv.gz', gzipSync(truth));
    const parquet = `${output}.parquet`;
    await fixture.session.run(`copy (from read_csv('${output}')) to '${parquet}' (format parquet)`);
    const link = `${output}.link.csv`;
    await symlink(output, link);
    for (const reference of [gzip, parquet, link]) {
      const { evaluation } = await fixture.evaluateFiles({}, reference, output);
      expect(evaluation).toMatchObject({ errorKind: null, reward: 1, truthRows: 4 });
    }
  });

  it('may be larger than an output may be', async () => {
    const request = { limits: { fileBytes: 30 } };
    const output = keyed([1, 4]);
    expect(
      (
        await fixture.evaluate({
          truth: keyed(...Array.from({ length: 50 }, (_u, i) => [i, 4] as const)),
          output,
          request,
        })
      ).evaluation,
    ).toMatchObject({ errorKind: null, reward: 0.02 });
  });

  it('without rows gives a reward of 0', async () => {
    expect(await judged('k,v\n', 'k,v\n')).toMatchObject({
      errorKind: null,
      reward: 0,
      truthRows: 0,
      outputRows: 0,
    });
  });

  it('may be unsorted', async () => {
    const { evaluation } = await fixture.evaluate({
      truth: keyed([2, 5], [1, 4]),
      output: keyed([1, 4], [2, 5]),
    });
    expect(evaluation.reward).toBe(1);
  });
});
