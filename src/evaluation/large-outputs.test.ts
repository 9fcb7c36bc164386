import { appendFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { ScoringFixture } from './scoring-fixture.js';

/** Outputs beyond 16 MiB are read in place instead of being copied into the session first. */
const rows = 440_000;
const contract = { keys: ['stay_id', 'charttime'], values: ['score', 'dose', 'label'] };

let fixture: ScoringFixture;
let reference: string;
beforeAll(async () => {
  fixture = await ScoringFixture.open(2);
  reference = join(fixture.folder, 'reference.parquet');
  await fixture.session.run(`copy (
    select 30000000 + i as stay_id, timestamp '2150-01-01' + to_minutes(i) as charttime,
      (i % 5)::integer as score, case when i % 10 = 0 then null else i / 4.0 end as dose,
      ['HFNC', 'None', 'a, "b"'][i % 3 + 1] as label
    from range(${rows}) numbers(i)) to '${reference}' (format parquet)`);
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Writes an output from a query over the reference and checks that it is large enough to be read in place. */
async function outputOf(name: string, query: string, appended = ''): Promise<string> {
  const path = join(fixture.folder, name);
  await fixture.session.run(
    `copy (${query.replaceAll('reference', `read_parquet('${reference}')`)}) to '${path}' (format csv, header)`,
  );
  await appendFile(path, appended);
  expect((await stat(path)).size).toBeGreaterThan(16 * 1024 ** 2);
  return path;
}

const countsOf = async (path: string) => {
  const { evaluation } = await fixture.evaluateFiles(contract, reference, path);
  expect(evaluation.error).toBeNull();
  const { columns, extraKeys, duplicateKeys, missingKeys } = evaluation;
  const matched = Object.values(columns).map((column) => [column.matched, column.robustMatched]);
  return { matched, total: columns.score?.total, extraKeys, duplicateKeys, missingKeys };
};

describe('a large output', () => {
  it('read in place scores like any other', async () => {
    const plain = `select * replace (case when label like 'a%' then 'a' else label end as label) from reference`;
    // The labels of rows 2, 5, 8 … 439,997 are wrong: 146,666.
    expect(await countsOf(await outputOf('plain.csv', plain))).toEqual({
      matched: [
        [rows, rows],
        [rows, rows],
        [293_334, 293_334],
      ],
      total: rows,
      extraKeys: 0,
      duplicateKeys: 0,
      missingKeys: 0,
    });
  });

  it('with quoted fields goes through the normal form', async () => {
    const path = await outputOf('quoted.csv', 'select * from reference');
    expect(await countsOf(path)).toEqual({
      matched: [
        [rows, rows],
        [rows, rows],
        [rows, rows],
      ],
      total: rows,
      extraKeys: 0,
      duplicateKeys: 0,
      missingKeys: 0,
    });
  });

  it('with repeated, contradictory, extra and missing rows and a stray token is read anew as needed', async () => {
    const query = `select stay_id, charttime, score, dose, 'x' as label from reference where stay_id >= 30000004`;
    const appended = [
      // Rows 4 and 5 again: equal, and with another score.
      '30000004,2150-01-01 00:04:00,4,1.0,x',
      '30000005,2150-01-01 00:05:00,3,1.25,x',
      // The same extra key twice.
      '40000000,2150-01-01 00:00:00,1,1.0,x',
      '40000000,2150-01-01 00:00:00,1,1.0,x',
      // A token among the numbers of an extra row: no pair sees it.
      '50000000,2150-01-01 00:00:00,n/a,1.0,x',
    ];
    const path = await outputOf('repeated.csv', query, `${appended.join('\n')}\n`);
    const found = rows - 4;
    expect(await countsOf(path)).toEqual({
      matched: [
        [found, found - 1],
        [found, found],
        [0, 0],
      ],
      total: rows + 2 + 3,
      extraKeys: 2,
      duplicateKeys: 3,
      missingKeys: 4,
    });
  });

  it('with a stray token where the reference has a value falls to text, and one cell is lost per cell', async () => {
    const query = `select * replace (case when stay_id = 30000007 then 'n/a' else score::varchar end as score, 'x' as label) from reference`;
    const { matched } = await countsOf(await outputOf('token.csv', query));
    expect(matched.slice(0, 2)).toEqual([
      [rows - 1, rows - 1],
      [rows, rows],
    ]);
  });

  it('is scored within 192 MiB of engine memory', async () => {
    await using small = await DuckSession.open({ memoryBytes: 192 * 1024 ** 2, threads: 2 });
    const path = join(fixture.folder, 'quoted.csv');
    const { evaluation } = await fixture.evaluateFiles(
      { ...contract, request: { session: small } },
      reference,
      path,
    );
    expect(evaluation).toMatchObject({ reward: 1, errorKind: null });
  });
});
