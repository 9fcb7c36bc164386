import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentHash, contentHashAlgorithm, describeQuery, writeParquet } from './parquet.js';
import { DuckSession } from './session.js';
import { literal } from './sql.js';

let folder: string;
let session: DuckSession;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-parquet-'));
  session = await DuckSession.open({ threads: 2 });
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const hashOfRows = async (query: string): Promise<string> => {
  const columns = await describeQuery(session, query);
  return (await contentHash(session, `(${query})`, columns)).contentHash;
};

describe('content hash', () => {
  test('the row hash of the engine is the one that this algorithm name stands for', async () => {
    // Values of DuckDB 1.5.6. If this fails after an upgrade, give the algorithm another name.
    expect(contentHashAlgorithm).toBe('duckdb-hash-sum-xor');
    const row = await session.row(
      `select hash(1::bigint)::varchar as whole, hash(1.5::double)::varchar as real,
         hash(1.5::decimal(18, 3))::varchar as exact, hash(null::bigint)::varchar as missing,
         hash('abc')::varchar as short, hash('abcdefghijklmnop')::varchar as long,
         hash(timestamp '2150-01-01 00:00:00')::varchar as time, hash(date '2150-01-01')::varchar as day,
         hash(1::bigint, 'abc')::varchar as pair`,
    );
    expect(row).toEqual({
      whole: '4717996019076358352',
      real: '1706605666616485939',
      exact: '13055447531776758341',
      missing: '13787848793156543929',
      short: '1924864467101078684',
      long: '282108676135603331',
      time: '8169831610937219369',
      day: '14888234534587596042',
      pair: '6669003834345756223',
    });
  });

  test('is blind to row order and sees everything else', async () => {
    const rows = `select * from (values (1, 'a', 0.5), (2, 'b', null), (2, 'b', null)) as rows(id, label, value)`;
    const hash = await hashOfRows(rows);
    expect(await hashOfRows(`${rows} order by id desc`)).toBe(hash);
    for (const other of [
      `select * from (values (1, 'a', 0.5), (2, 'b', null)) as rows(id, label, value)`,
      `select * from (values (1, 'a', 0.5), (2, 'b', null), (2, 'b', 0)) as rows(id, label, value)`,
      // The same values, but swapped between rows and between columns.
      `select * from (values (1, 'b', 0.5), (2, 'a', null), (2, 'b', null)) as rows(id, label, value)`,
      `select * from (values (1, 'a', 0.5), (2, 'b', null), (2, 'b', null)) as rows(id, label, amount)`,
      `select id::bigint as id, label, value from (${rows})`,
      `select id, value, label from (${rows})`,
      `select id, nullif(label, 'a') as label, value from (${rows})`,
    ]) {
      expect(await hashOfRows(other)).not.toBe(hash);
    }
    expect(await hashOfRows(`select ''::varchar as label`)).not.toBe(
      await hashOfRows(`select null::varchar as label`),
    );
  });
});

describe('writing Parquet', () => {
  test('rows are in a total order: leading columns first, then all others, missing values last', async () => {
    const path = join(folder, 'order.parquet');
    const written = await writeParquet(
      session,
      `select * from (values (2, 1, 'x'), (null, 0, 'y'), (1, 9, 'z'), (2, 1, 'a'), (2, 0, null)) as rows(extra, key, label)`,
      path,
      { orderBy: ['key'] },
    );
    const stored = await session.rows(`select * from read_parquet(${literal(path)})`);
    expect(stored.map((row) => [row.extra, row.key, row.label])).toEqual([
      [2, 0, null],
      [null, 0, 'y'],
      [2, 1, 'a'],
      [2, 1, 'x'],
      [1, 9, 'z'],
    ]);
    expect(written.rows).toBe(5);
    expect(written.columns.map((column) => column.name)).toEqual(['extra', 'key', 'label']);
  });

  test('input order does not reach the bytes, also when every column is a key', async () => {
    const path = join(folder, 'bytes.parquet');
    const bytesOf = async (order: string): Promise<Buffer> => {
      await writeParquet(
        session,
        `select i % 7 as a, i % 5 as b from range(1000) t(i) order by ${order}`,
        path,
        {
          orderBy: ['a', 'b'],
        },
      );
      return readFile(path);
    };
    expect((await bytesOf('i desc')).equals(await bytesOf('hash(i)'))).toBe(true);
  });

  test('a query that fails half-way leaves neither a file nor a temporary one', async () => {
    const path = join(folder, 'failing', 'table.parquet');
    const query = `select case when i = 400000 then error('stop') else i end as i from range(500000) t(i)`;
    await expect(writeParquet(session, query, path, { orderBy: ['i'] })).rejects.toThrow('stop');
    const left = await session.rows(`select file from glob(${literal(join(folder, 'failing', '*'))})`);
    expect(left).toEqual([]);
  });
});
