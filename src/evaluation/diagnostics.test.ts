import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noMismatches } from './mismatch-kinds.js';
import { csv, keyed, ScoringFixture } from './scoring-fixture.js';

let fixture: ScoringFixture;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

type Value = string | number | null;
const table = (values: readonly Value[]) => keyed(...values.map((value, i) => [i + 1, value] as const));

async function kindsOf(truth: readonly Value[], output: readonly Value[]) {
  const { evaluation } = await fixture.evaluate({ truth: table(truth), output: table(output) });
  const { v } = evaluation.mismatchKinds;
  const counted = Object.values(v ?? {}).reduce((sum, rows) => sum + rows, 0);
  expect(counted + (evaluation.columns.v?.robustMatched ?? 0)).toBe(truth.length);
  return v;
}

describe('mismatch kinds', () => {
  it('are all zero for a right output', async () => {
    expect(await kindsOf([4, null], [4, null])).toEqual(noMismatches);
  });

  it('tell missing rows, nulls, unexpected values and unreadable cells apart', async () => {
    expect(await kindsOf([4, 5, null, 7, 8], [4, null, 6, 'x'])).toEqual({
      ...noMismatches,
      rowMissing: 1,
      valueMissing: 1,
      valueUnexpected: 1,
      unparsable: 1,
    });
  });

  it('tell sign, rounding, too low and too high apart', async () => {
    expect(await kindsOf([4, 5.6789, 5.6789, 8, 8], [-4, 5.68, 5, 7, 9])).toEqual({
      ...noMismatches,
      sign: 1,
      rounding: 2,
      tooLow: 1,
      tooHigh: 1,
    });
  });

  it('find the offset that most wrong numbers share', async () => {
    expect(await kindsOf([10, 20, 30, 40, 50, 60, 70], [11, 21, 31, 41, 51, 65, 70])).toMatchObject({
      constantOffset: 5,
      tooHigh: 1,
    });
  });

  it('find the factor that most wrong numbers share', async () => {
    expect(await kindsOf([10, 20, 30, 40, 50, 60], [1000, 2000, 3000, 4000, 5000, 61])).toMatchObject({
      constantFactor: 5,
      tooHigh: 1,
    });
  });

  it('find the shift that most wrong date-times share', async () => {
    const day = (hour: number) => `2150-01-0${hour} 0${hour}:00:00`;
    const hours = [1, 2, 3, 4, 5, 6];
    const shifted = [
      ...hours.slice(0, 5).map((hour) => `2150-01-0${hour} 0${hour + 1}:00:00`),
      '2149-01-01 00:00:00',
    ];
    expect(await kindsOf(hours.map(day), shifted)).toMatchObject({ timeShift: 5, tooLow: 1 });
  });

  it('tell spelling of labels from other labels', async () => {
    expect(
      await kindsOf(['Invasive Vent', 'HFNC', 'None'], ['invasivevent', 'Tracheostomy', 'None']),
    ).toEqual({
      ...noMismatches,
      labelSpelling: 1,
      different: 1,
    });
  });
});

describe('confusion', () => {
  it('counts reference value by output value for few whole numbers', async () => {
    const { evaluation } = await fixture.evaluate({
      truth: table([0, 0, 1, 1, 2, null]),
      output: table([0, 1, 1, 7, null]),
    });
    expect(evaluation.confusion.v).toEqual([
      { truth: '0', output: '0', rows: 1 },
      { truth: '0', output: '1', rows: 1 },
      { truth: '1', output: '1', rows: 1 },
      { truth: '1', output: '(other)', rows: 1 },
      { truth: '2', output: '(null)', rows: 1 },
      { truth: '(null)', output: '(no row)', rows: 1 },
    ]);
  });

  it('is the diagonal when every row matches', async () => {
    const { evaluation } = await fixture.evaluate({
      truth: table(['a', 'b', 'a']),
      output: table(['a', 'b', 'a']),
    });
    expect(evaluation.confusion.v).toEqual([
      { truth: 'a', output: 'a', rows: 2 },
      { truth: 'b', output: 'b', rows: 1 },
    ]);
  });

  it('is left out for decimals, date-times and many values', async () => {
    const many = Array.from({ length: 13 }, (_unused, i) => i);
    for (const values of [many, [1.5, 2], ['2150-01-02 10:30:00']]) {
      const { evaluation } = await fixture.evaluate({ truth: table(values), output: table([]) });
      expect(evaluation.confusion).toEqual({});
    }
  });
});

describe('components', () => {
  it('count where other columns are wrong together with the first scored one', async () => {
    const header = ['k', 'total', 'renal', 'cns'];
    const { evaluation } = await fixture.evaluate({
      truth: csv(header, [
        [1, 3, 1, 2],
        [2, 4, 2, 2],
        [3, 5, 3, 2],
        [4, 6, 3, 3],
      ]),
      output: csv(header, [
        [1, 2, 0, 2],
        [2, 3, 1, 2],
        [3, 5, 3, 0],
      ]),
      values: ['total', 'renal', 'cns'],
    });
    expect(evaluation.components).toEqual({ column: 'total', rows: 2, wrongWith: { renal: 2, cns: 0 } });
  });
});

describe('examples', () => {
  it('hold the first five wrong rows of each column in reference order, apart from the evaluation', async () => {
    const values = [10, 11, 12, 13, 14, 15, 16];
    const { evaluation, examples } = await fixture.evaluate({
      truth: table(values),
      output: table([10, 9001, 9002, 9003, 9004, 9005]),
    });
    expect(examples.columns.v).toEqual([
      { keys: ['2'], truth: '11', output: '9001' },
      { keys: ['3'], truth: '12', output: '9002' },
      { keys: ['4'], truth: '13', output: '9003' },
      { keys: ['5'], truth: '14', output: '9004' },
      { keys: ['6'], truth: '15', output: '9005' },
    ]);
    expect(JSON.stringify(evaluation)).not.toMatch(/900/);
  });

  it('show a missing row as null', async () => {
    const { examples } = await fixture.evaluate({ truth: table(['a']), output: table([]) });
    expect(examples.columns.v).toEqual([{ keys: ['1'], truth: 'a', output: null }]);
  });

  it('are left out with scores only', async () => {
    const request = { scoresOnly: true };
    const { evaluation, examples } = await fixture.evaluate({
      truth: table([1]),
      output: table([2]),
      request,
    });
    expect(evaluation).toMatchObject({ mismatchKinds: {}, confusion: {}, components: null, reward: 0 });
    expect(examples).toEqual({ columns: {} });
  });
});
