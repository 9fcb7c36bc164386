import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, ScoringFixture } from './scoring-fixture.js';

let fixture: ScoringFixture;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

type Cell = string | number | null;
type Rows = readonly (readonly Cell[])[];
const header = ['stay_id', 'charttime', 'score', 'dose', 'seen_at', 'label'];
const keys = header.slice(0, 2);
const values = header.slice(2);
const numRuns = 25;

const stampAt = (minutes: number) =>
  new Date(Date.UTC(2150, 0, 1, 0, minutes)).toISOString().slice(0, 19).replace('T', ' ');
const stamp = fc.integer({ min: 0, max: 500_000 }).map(stampAt);
const orNull = <T extends Cell>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: fc.constant(null) });

/** A reference: unique keys, a whole number, a decimal, a time and a label per row, nulls among them. */
const reference: fc.Arbitrary<Rows> = fc.uniqueArray(
  fc.tuple(
    fc.integer({ min: 30_000_000, max: 30_000_020 }),
    stamp,
    orNull(fc.integer({ min: 0, max: 4 })),
    orNull(fc.integer({ min: 0, max: 10_000 }).map((n) => n / 100)),
    orNull(stamp),
    orNull(fc.constantFrom('HFNC', 'None', 'a, b', 'say "x"', ' ')),
  ),
  { minLength: 2, maxLength: 12, selector: ([stay, time]) => `${stay} ${time}` },
);

const quoted = (rows: Rows): Rows =>
  rows.map((row) =>
    row.map((cell) =>
      typeof cell === 'string' && /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
    ),
  );
const fileOf = (rows: Rows, names: readonly string[] = header) => csv(names, quoted(rows));

async function score(truth: Rows, output: string) {
  const request = { scoresOnly: true };
  const { evaluation } = await fixture.evaluate({ truth: fileOf(truth), output, keys, values, request });
  expect(evaluation.error).toBeNull();
  return evaluation;
}

describe('for every reference', () => {
  it('the reference against itself has reward 1', async () => {
    await fc.assert(
      fc.asyncProperty(reference, async (truth) => {
        const evaluation = await score(truth, fileOf(truth));
        expect([evaluation.reward, evaluation.rewardRobust, evaluation.strictPass]).toEqual([1, 1, true]);
      }),
      { numRuns },
    );
  });

  it('the order of rows and columns does not matter', async () => {
    const shuffled = fc.tuple(reference, fc.infiniteStream(fc.nat()), fc.nat());
    await fc.assert(
      fc.asyncProperty(shuffled, async ([truth, order, seed]) => {
        // A wrong value every third row, so that there is something to lose.
        const output = truth.map((row, i) => (i % 3 === 0 ? row.with(2, 9) : row));
        const rank = new Map(output.map((row) => [row, order.next().value]));
        const reordered = output.toSorted((a, b) => Number(rank.get(a)) - Number(rank.get(b)));
        const turn = seed % header.length;
        const rotate = <T>(list: readonly T[]) => [...list.slice(turn), ...list.slice(0, turn)];
        const plain = await score(truth, fileOf(output));
        const moved = await score(truth, fileOf(reordered.map(rotate), rotate(header)));
        expect(moved).toEqual(plain);
      }),
      { numRuns },
    );
  });

  it('dropping k of n rows lowers every match rate by exactly k/n', async () => {
    await fc.assert(
      fc.asyncProperty(reference, fc.nat(), async (truth, seed) => {
        const dropped = seed % truth.length;
        const { columns } = await score(truth, fileOf(truth.slice(dropped)));
        for (const column of Object.values(columns)) {
          expect([column.matched, column.total]).toEqual([truth.length - dropped, truth.length]);
          expect(column.matchRate).toBe((truth.length - dropped) / truth.length);
        }
      }),
      { numRuns },
    );
  });

  it('adding extra keys only lowers, by one unit of the denominator each', async () => {
    await fc.assert(
      fc.asyncProperty(reference, fc.integer({ min: 1, max: 5 }), async (truth, extra) => {
        const added = Array.from({ length: extra }, (_unused, i) => [
          40_000_000 + i,
          stampAt(i),
          1,
          1,
          null,
          'x',
        ]);
        const { columns, extraKeys, reward } = await score(truth, fileOf([...truth, ...added]));
        expect(extraKeys).toBe(extra);
        expect(reward).toBeLessThan(1);
        for (const column of Object.values(columns)) {
          expect([column.matched, column.total]).toEqual([truth.length, truth.length + extra]);
        }
      }),
      { numRuns },
    );
  });

  it('repeating k rows adds k units to the denominator', async () => {
    await fc.assert(
      fc.asyncProperty(reference, fc.nat(), async (truth, seed) => {
        const repeated = 1 + (seed % truth.length);
        const evaluation = await score(truth, fileOf([...truth, ...truth.slice(0, repeated)]));
        expect(evaluation.duplicateKeys).toBe(repeated);
        for (const column of Object.values(evaluation.columns)) {
          expect([column.matched, column.total]).toEqual([truth.length, truth.length + repeated]);
          expect([column.robustMatched, column.robustTotal]).toEqual([truth.length, truth.length + repeated]);
        }
      }),
      { numRuns },
    );
  });

  it('a wrong row never raises the reward', async () => {
    await fc.assert(
      fc.asyncProperty(reference, reference, async (truth, other) => {
        const output = truth.map(
          (row, i) => other[i]?.map((cell, c) => (c < 2 ? (row[c] ?? null) : cell)) ?? row,
        );
        const before = await score(truth, fileOf(output));
        const after = await score(truth, fileOf([...output, [50_000_000, stampAt(1), 1, 2, null, 'x']]));
        expect(after.reward).toBeLessThanOrEqual(before.reward);
        expect(after.rewardRobust).toBeLessThanOrEqual(before.rewardRobust);
      }),
      { numRuns },
    );
  });
});

describe('tolerance', () => {
  it('at equality passes where the doubles are exact, beyond it does not', async () => {
    const eighths = fc.integer({ min: -800, max: 800 }).map((n) => n / 8);
    await fc.assert(
      fc.asyncProperty(eighths, fc.integer({ min: 1, max: 64 }), fc.boolean(), async (value, eighth, up) => {
        const tolerance = eighth / 8;
        const sign = up ? 1 : -1;
        const { evaluation } = await fixture.evaluate({
          truth: csv(
            ['k', 'v'],
            [
              [1, value],
              [2, value],
            ],
          ),
          output: csv(
            ['k', 'v'],
            [
              [1, value + sign * tolerance],
              [2, value + sign * (tolerance + 0.125)],
            ],
          ),
          tolerance: { v: tolerance },
        });
        expect([evaluation.columns.v?.matched, evaluation.columns.v?.robustMatched]).toEqual([1, 1]);
      }),
      { numRuns: 50 },
    );
  });
});

const shared = process.env.M4BENCH_TEST_DATA ?? '../shared';
const folders = [
  [join(shared, 'oracle/mimic-iv-demo/references'), 'stay_id'],
  [join(shared, 'oracle/eicu-demo/references'), 'patientunitstayid'],
] as const;
/** Keys of the demo references that are not one row per stay. */
const otherKeys: Readonly<Record<string, readonly string[]>> = {
  charlson: ['hadm_id'],
  'creatinine-baseline': ['hadm_id'],
  'suspicion-infection': ['subject_id', 'ab_id'],
  'urine-output-rate': ['stay_id', 'charttime'],
  'vasopressor-equivalents': ['stay_id', 'starttime'],
  ventilation: ['stay_id', 'ventilation_seq'],
};

describe.skipIf(!folders.every(([folder]) => existsSync(folder)))(
  `the demo references (set M4BENCH_TEST_DATA to the folder that holds oracle/)`,
  () => {
    for (const [folder, stayKey] of folders) {
      const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.csv.gz')) : [];
      it.each(files)(`${stayKey}: %s against itself has reward 1, as CSV and as Parquet`, async (file) => {
        const path = join(folder, file);
        const own = otherKeys[file.replace('.csv.gz', '')] ?? [stayKey];
        const described = await fixture.session.rows(`describe select * from '${path}'`);
        const others = described.map((row) => String(row.column_name)).filter((name) => !own.includes(name));
        const parquet = join(fixture.folder, `${file}.parquet`);
        await fixture.session.run(`copy (from '${path}') to '${parquet}' (format parquet)`);
        for (const [output, truth] of [
          [path, path],
          [path, parquet],
          [parquet, path],
        ] as const) {
          const { evaluation } = await fixture.evaluateFiles({ keys: own, values: others }, truth, output);
          expect(evaluation).toMatchObject({ reward: 1, rewardRobust: 1, strictPass: true, errorKind: null });
        }
      });
    }
  },
);
