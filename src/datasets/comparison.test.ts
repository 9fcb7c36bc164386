import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeParquet } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import type { ParquetRelation } from '../duck/views.js';
import { compareRelations } from './comparison.js';
import { type ComparisonMeasure, loadComparisonMeasures } from './comparison-measures.js';

let root: string;
let first: readonly ParquetRelation[];
let second: readonly ParquetRelation[];

/** One table per side: numbers and categories with the same names. */
async function side(name: string, rows: string): Promise<readonly ParquetRelation[]> {
  await using session = await DuckSession.open({ threads: 1 });
  const path = join(root, `${name}.parquet`);
  await writeParquet(session, `select * from (values ${rows}) as rows(number, kind)`, path);
  return [{ schema: 'mimiciv_icu', table: 'events', path }];
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-comparison-'));
  first = await side('first', "(1, 'a'), (2, 'a'), (3, 'a'), (4, 'b')");
  second = await side('second', "(3, 'a'), (4, 'b'), (5, 'b'), (6, 'b')");
});
afterAll(() => rm(root, { recursive: true, force: true }));

const measure = (distance: 'ks' | 'psi', sql: string, more: Partial<ComparisonMeasure> = {}) => ({
  group: 'group',
  name: 'name',
  distance,
  bound: 0.5,
  sql,
  published: {},
  ...more,
});

async function compared(entry: ComparisonMeasure) {
  const { measures, figures } = await compareRelations([entry], first, second, { threads: 1 });
  return { ...measures[0]!, figures };
}

describe('distances', () => {
  test('Kolmogorov-Smirnov is the largest gap of the distribution functions: 1, 2, 3, 4 against 3, 4, 5, 6 is 0.5', async () => {
    const result = await compared(measure('ks', 'select number as value from mimiciv_icu.events'));
    expect(result.value).toBeCloseTo(0.5, 12);
    expect(result.isWithin).toBe(true);
  });

  test('of a yes-or-no value it is the difference of the shares: 3 of 4 against 1 of 4', async () => {
    const sql = "select cast(kind = 'a' as int) as value from mimiciv_icu.events";
    expect((await compared(measure('ks', sql))).value).toBeCloseTo(0.5, 12);
  });

  test('the stability index of 3/4, 1/4 against 1/4, 3/4 is ln 3, beyond a bound of 0.5', async () => {
    const result = await compared(measure('psi', 'select kind as category from mimiciv_icu.events'));
    expect(result.value).toBeCloseTo(Math.log(3), 12);
    expect(result.isWithin).toBe(false);
  });

  test('a category of one side alone counts with a share of 0.001 on the other', async () => {
    const sql = "select kind as category from mimiciv_icu.events where kind = 'b' or number < 3";
    // first: a 2/3, b 1/3; second: b alone
    const expected = (2 / 3 - 0.001) * Math.log(2 / 3 / 0.001) + (1 / 3 - 1) * Math.log(1 / 3);
    expect((await compared(measure('psi', sql))).value).toBeCloseTo(expected, 12);
  });

  test('a side without values has no distance and is beyond every bound; none on both sides is equal', async () => {
    const oneSided = await compared(
      measure('ks', 'select number as value from mimiciv_icu.events where number < 3'),
    );
    expect(oneSided).toMatchObject({ value: null, second: null, isWithin: false });
    const none = await compared(measure('ks', 'select null as value from mimiciv_icu.events'));
    expect(none).toMatchObject({ value: null, first: null, second: null, isWithin: true });
  });
});

describe('summaries', () => {
  test('quantiles are values that occur: of 1 to 20 they are 1, 5, 10, 15 and 19, the mean is 10.5', async () => {
    const { first: summary } = await compared(
      measure('ks', 'select unnest(range(1, 21)) as value from mimiciv_icu.events where number = 4'),
    );
    expect(summary).toEqual({ n: 20, mean: 10.5, quantiles: [1, 5, 10, 15, 19] });
  });

  test('a published figure is held against the first dataset', async () => {
    const { figures } = await compared(
      measure('ks', 'select number as value from mimiciv_icu.events', {
        published: { mean: { value: 4, within: 1 }, median: { value: 2, within: 0.5 } },
      }),
    );
    expect(figures).toEqual([
      {
        name: 'name',
        statistic: 'mean',
        published: 4,
        first: 2.5,
        second: 4.5,
        within: 1,
        isWithin: false,
      },
      {
        name: 'name',
        statistic: 'median',
        published: 2,
        first: 2,
        second: 4,
        within: 0.5,
        isWithin: true,
      },
    ]);
  });
});

describe('the file of measures', () => {
  test('every measure that is shipped has a reason, a bound and a complete query', async () => {
    for (const kind of ['mimic-iv', 'eicu'] as const) {
      const measures = await loadComparisonMeasures(kind);
      expect(measures.length).toBeGreaterThan(40);
      expect(measures.filter(({ sql }) => /[{}]/.test(sql))).toEqual([]);
    }
  });

  test.each([
    ['a misspelled field', 'distance = "ks"\ndistanse = "ks"', /distanse/],
    ['a query with a gap', 'distance = "ks"', /\{table\}/],
  ])('%s is one clear error', async (_what, line, message) => {
    const file = join(root, 'measures.toml');
    await writeFile(
      file,
      `title = "t"\n[[series]]\ngroup = "g"\nreason = "r"\nbound = 0.1\n${line}\nsql = "select 1 as value from {table}"\nmeasures = [{ name = "n" }]\n`,
    );
    await expect(loadComparisonMeasures('eicu', file)).rejects.toMatchObject({
      code: 'COMPARISON_INVALID',
      message: expect.stringMatching(message),
    });
  });

  test('a query that the database refuses names its measure', async () => {
    await expect(compared(measure('ks', 'select value from nowhere'))).rejects.toMatchObject({
      code: 'COMPARISON_FAILED',
      message: expect.stringMatching(/^group, name:/),
    });
  });
});
