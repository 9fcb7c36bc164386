import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confusionOf, rightConfusion } from './confusion.js';
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

  const tens = (count: number) => Array.from({ length: count }, (_unused, i) => 10 * (i + 1));

  it('need five wrong values and half of them for a shared offset', async () => {
    expect(await kindsOf(tens(4), [11, 21, 31, 41])).toMatchObject({ constantOffset: 0, tooHigh: 4 });
    expect(await kindsOf(tens(5), [11, 21, 31, 41, 51])).toMatchObject({ constantOffset: 5, tooHigh: 0 });
    const half = [11, 21, 31, 41, 51, 62, 74, 86, 98, 112];
    expect(await kindsOf(tens(10), half)).toMatchObject({ constantOffset: 5, tooHigh: 5 });
    expect(await kindsOf(tens(11), [...half, 125])).toMatchObject({ constantOffset: 0, tooHigh: 11 });
  });

  it('prefer the offset where offset and factor explain as much', async () => {
    const five = (value: number) => Array.from({ length: 5 }, () => value);
    expect(await kindsOf(five(10), five(11))).toMatchObject({ constantOffset: 5, constantFactor: 0 });
  });

  it('do not look for a shift where words stand instead of date-times', async () => {
    const stamps = [1, 2, 3, 4, 5].map((hour) => `2150-01-01 0${hour}:00:00`);
    expect(await kindsOf(stamps, ['a', 'b', 'c', 'd', 'e'])).toMatchObject({ unparsable: 5, timeShift: 0 });
    const scattered = ['00:30', '02:31', '01:00', '04:01', '09:09'].map((clock) => `2150-01-01 ${clock}:00`);
    expect(await kindsOf(stamps, scattered)).toMatchObject({ timeShift: 0, tooLow: 2, tooHigh: 3 });
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
    const withNulls = table(['b', null, 'a', null, 'b']);
    expect((await fixture.evaluate({ truth: withNulls, output: withNulls })).evaluation.confusion.v).toEqual([
      { truth: 'a', output: 'a', rows: 1 },
      { truth: 'b', output: 'b', rows: 2 },
      { truth: '(null)', output: '(null)', rows: 2 },
    ]);
  });

  const confusionFor = async (
    truth: readonly Value[],
    output: readonly Value[],
    tolerance?: Readonly<Record<string, number>>,
  ) => {
    const one = {
      truth: table(truth),
      output: table(output),
      ...(tolerance === undefined ? {} : { tolerance }),
    };
    const { v } = (await fixture.evaluate(one)).evaluation.confusion;
    return v?.map((count) => `${count.truth} ${count.output} ${count.rows}`);
  };

  it('says which labels are on missing rows when nothing else is wrong', async () => {
    expect(await confusionFor(['a', 'b', 'a'], ['a'])).toEqual(['a a 1', 'a (no row) 1', 'b (no row) 1']);
  });

  it('counts values within the tolerance as the label that they match, and labels that are other words', async () => {
    expect(await confusionFor([1, 2, 3, null], [1.25, 3, 4, 3], { v: 0.5 })).toEqual([
      '1 1 1',
      '2 3 1',
      '3 (other) 1',
      '(null) 3 1',
    ]);
    expect(await confusionFor(['a', 'b', null, "it's"], ['b', 'B', 'a', null])).toEqual([
      'a b 1',
      'b (other) 1',
      "it's (null) 1",
      '(null) a 1',
    ]);
  });

  it('shows booleans as 1 and 0', async () => {
    expect(await confusionFor(['True', 'False', 'True'], ['true', 'true', 0])).toEqual([
      '0 1 1',
      '1 0 1',
      '1 1 1',
    ]);
  });

  it('takes 12 labels and nulls, in the order of the reference', async () => {
    const twelve = Array.from({ length: 12 }, (_unused, i) => i);
    expect(await confusionFor([...twelve, null], [...twelve.with(3, 2), null])).toEqual([
      ...[0, 1, 2].map((label) => `${label} ${label} 1`),
      '3 2 1',
      ...[4, 5, 6, 7, 8, 9, 10, 11].map((label) => `${label} ${label} 1`),
      '(null) (null) 1',
    ]);
  });

  it('is left out for decimals, date-times and many values', async () => {
    const many = Array.from({ length: 13 }, (_unused, i) => i);
    const instants = ['2150-01-02 10:30:00', '2150-01-02 10:30:00'];
    for (const values of [many, [...many, null], [1.5, 2], ['inf', 2], instants, [null, null]]) {
      for (const output of [table([]), table(values)]) {
        const { evaluation } = await fixture.evaluate({ truth: table(values), output });
        expect(evaluation.confusion).toEqual({});
      }
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

  const three = ['k', 'total', 'renal', 'dose'];
  const rows = (...values: readonly (readonly number[])[]) =>
    csv(
      three,
      values.map((row, i) => [i + 1, ...row]),
    );
  const componentsOf = async (output: string, values = three.slice(1)) =>
    (await fixture.evaluate({ truth: rows([3, 1, 0.5], [4, 2, 1.5]), output, values })).evaluation.components;

  it('are zero for columns that are right, and all zero when the first one is', async () => {
    expect(await componentsOf(rows([0, 0, 0.5], [0, 2, 1.5]))).toEqual({
      column: 'total',
      rows: 2,
      wrongWith: { renal: 1, dose: 0 },
    });
    expect(await componentsOf(rows([3, 0, 9], [4, 0, 9]))).toEqual({
      column: 'total',
      rows: 0,
      wrongWith: { renal: 0, dose: 0 },
    });
  });

  it('need two columns that the output has', async () => {
    expect(await componentsOf(rows([0, 0, 0], [0, 0, 0]), ['total'])).toBeNull();
    expect(await componentsOf(csv(['k', 'total'], [[1, 9]]))).toBeNull();
    expect(await componentsOf(csv(['k'], [[1]]))).toBeNull();
    expect(await componentsOf(csv(['k', 'dose', 'total'], [[1, 9, 9]]))).toEqual({
      column: 'total',
      rows: 1,
      wrongWith: { dose: 1 },
    });
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

  it('show missing rows when nothing else is wrong', async () => {
    const { examples, evaluation } = await fixture.evaluate({
      truth: table([1.5, 2.5, 3.5]),
      output: table([1.5]),
    });
    expect(examples).toEqual({
      columns: {
        v: [
          { keys: ['2'], truth: '2.5', output: null },
          { keys: ['3'], truth: '3.5', output: null },
        ],
      },
    });
    expect(evaluation.mismatchKinds.v).toEqual({ ...noMismatches, rowMissing: 2 });
  });

  it('are of wrong columns only, with every key, cut to 200 characters', async () => {
    const header = ['k', 'l', 'v', 'w', 'x'];
    const [a, b] = ['a'.repeat(250), 'b'.repeat(250)];
    const { examples } = await fixture.evaluate({
      truth: csv(header, [
        [1, 'p', a, 1.5, 2],
        [1, 'q', 'c', 1.5, null],
      ]),
      output: csv(header, [
        [1, 'p', b, 1.5, 2],
        [1, 'q', 'c', 1.5, 3],
      ]),
      keys: ['k', 'l'],
      values: ['v', 'w', 'x'],
    });
    expect(examples).toEqual({
      columns: {
        v: [{ keys: ['1', 'p'], truth: 'a'.repeat(200), output: 'b'.repeat(200) }],
        x: [{ keys: ['1', 'q'], truth: null, output: '3' }],
      },
    });
  });

  it('are none for a right output', async () => {
    const { examples } = await fixture.evaluate({ truth: table([1.5, 'a']), output: table([1.5, 'a']) });
    expect(examples).toEqual({ columns: {} });
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

describe('counts of label codes', () => {
  const labels = { values: ['1::double', '2::double'], shown: ['1', '2'], rows: [3, 4], nullRows: 0 };

  it('become names in the order of the codes', () => {
    // 16 times the reference's label plus the output's; 13 other, 14 null, 15 no row.
    const counts = new Map([
      [16 * 2 + 15, 1],
      [16 * 14 + 14, 2],
      [16 * 1 + 13, 3],
      [16 * 1 + 1, 4],
      [16 * 2 + 14, 5],
    ]);
    expect(confusionOf(labels, counts)).toEqual([
      { truth: '1', output: '1', rows: 4 },
      { truth: '1', output: '(other)', rows: 3 },
      { truth: '2', output: '(null)', rows: 5 },
      { truth: '2', output: '(no row)', rows: 1 },
      { truth: '(null)', output: '(null)', rows: 2 },
    ]);
  });

  it('are the diagonal when all rows match', () => {
    const diagonal = [
      { truth: '1', output: '1', rows: 3 },
      { truth: '2', output: '2', rows: 4 },
    ];
    expect(rightConfusion(labels)).toEqual(diagonal);
    expect(rightConfusion({ ...labels, nullRows: 5 })).toEqual([
      ...diagonal,
      { truth: '(null)', output: '(null)', rows: 5 },
    ]);
  });
});
