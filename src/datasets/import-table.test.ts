import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { M4BenchError } from '../support/errors.js';
import { importRowGroupSize, importTable } from './import-table.js';
import { layOut, paysToLayOut } from './layout.js';
import type { SourceFile, SourceForm } from './release-folder.js';
import { loadSourceSchema, type SourceTable } from './source-schema.js';

let folder: string;
let session: DuckSession;
let outputevents: SourceTable;
let nullStrings: readonly string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-table-'));
  session = await DuckSession.open({ threads: 2, spillFolder: folder });
  const schema = await loadSourceSchema('mimic-iv');
  outputevents = schema.tables.find((table) => table.name === 'outputevents')!;
  nullStrings = schema.nullStrings;
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const header = 'subject_id,hadm_id,stay_id,caregiver_id,charttime,storetime,itemid,value,valueuom';
const stored = (): string => join(folder, 'outputevents.parquet');

async function source(content: string | undefined, form: SourceForm = '.csv'): Promise<SourceFile> {
  const path = join(folder, `source${form}`);
  if (content !== undefined) await writeFile(path, content);
  const { size: bytes } = await stat(path);
  return { table: outputevents, path, file: `icu/outputevents${form}`, form, bytes };
}

const load = async (file: SourceFile, isVouchedFor = false) =>
  importTable(session, file, stored(), { nullStrings, isVouchedFor });

const failureOf = async (file: SourceFile): Promise<M4BenchError> => {
  const thrown = await load(file).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof M4BenchError)) throw new Error(`Expected an M4BenchError, got ${String(thrown)}.`);
  return thrown;
};

const columnOf = async (column: string): Promise<readonly unknown[]> =>
  (await session.rows(`select ${column}::varchar as v from read_parquet(${literal(stored())})`)).map(
    (row) => row.v,
  );

describe('times of day have no zone', () => {
  test.each([
    '2150-01-02 10:00:00+02',
    '2150-01-02 10:00:00-05:00',
    '2150-01-02 10:00:00Z',
    '2150-01-02T10:00:00.5+00',
    '2150-01-02 10:00 UTC',
    // As long as the release's own form.
    '2150-1-02 10:00:00Z',
    '2150-01-02 10:00:0Z',
    '2150-1-2 10:00:0+02',
    '2150-01-02+02:00:00',
  ])('%s in CSV is an error that names line and column', async (time) => {
    const failure = await failureOf(
      await source(
        `${header}\n1,2,3,,2150-01-01 00:00:00,2150-01-01 00:00:00,226559,5,mL\n1,2,3,,${time},2150-01-01 00:00:00,226559,5,mL\n`,
      ),
    );
    expect(failure.code).toBe('IMPORT_VALUE_INVALID');
    expect(failure.message).toContain('line 3, column charttime');
    expect(failure.message).toContain('is not a TIMESTAMP');
  });

  test.each([
    [`'2150-01-02 10:00:00+02'`, 'row 1, column charttime: "2150-01-02 10:00:00+02" is not a TIMESTAMP'],
    [`timestamptz '2150-01-02 10:00:00+02'`, 'column charttime: its values have a time zone'],
  ])('%s in Parquet is an error', async (value, words) => {
    await session.run(
      `copy (select 1 as subject_id, 2 as hadm_id, 3 as stay_id, null::bigint as caregiver_id, ${value} as charttime,
         timestamp '2150-01-01' as storetime, 226559 as itemid, 5.0::double as value, 'mL' as valueuom)
       to ${literal(join(folder, 'source.parquet'))} (format parquet)`,
    );
    expect((await failureOf(await source(undefined, '.parquet'))).message).toContain(words);
  });

  test.each([' 150-01-02 10:00:00', '-150-01-02 10:00:00'])('%s has no year of a release', async (time) => {
    const rows = `${header}\n1,2,3,,${time},2150-01-01 00:00:00,226559,5,mL\n`;
    expect((await failureOf(await source(rows))).message).toContain('line 2, column charttime');
  });

  test('a date alone, a T, seconds left out, fractions of a second and the end of a day are times', async () => {
    const times = ['2150-01-02', '2150-01-02T10:00', '2150-01-02 10:00:07.25', '', '2150-12-31 24:00:00'];
    const rows = times.map((time) => `1,2,3,,${time},2150-01-01 00:00:00,226559,5,mL\n`).join('');
    await load(await source(`${header}\n${rows}`));
    expect(await columnOf('charttime')).toEqual([
      '2150-01-02 00:00:00',
      '2150-01-02 10:00:00',
      '2150-01-02 10:00:07.25',
      null,
      '2151-01-01 00:00:00',
    ]);
  });
});

describe('whole numbers', () => {
  test('are exact up to 64 bits, also where a double would round them', async () => {
    const ids = ['9007199254740993', '9223372036854775807', '-9223372036854775808', '7', '8.0'];
    const rows = ids.map((id) => `${id},2,3,,2150-01-01 00:00:00,2150-01-01 00:00:00,226559,5,mL\n`).join('');
    await load(await source(`${header}\n${rows}`));
    expect(await columnOf('subject_id')).toEqual([
      '9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
      '7',
      '8',
    ]);
  });

  test.each(['2.5', '0.000001', '9007199254740993.5'])('%s is none', async (id) => {
    const failure = await failureOf(
      await source(`${header}\n${id},2,3,,2150-01-01 00:00:00,2150-01-01 00:00:00,226559,5,mL\n`),
    );
    expect(failure.message).toContain('line 2, column subject_id');
  });
});

describe('measurements are finite', () => {
  // Only the footer of the stored file shows them to the quick reading, so each stands where a footer could hide it.
  test.each(['nan', 'NaN', '-nan', 'inf', '-inf', 'Infinity', '1e400'])('%s is an error', async (value) => {
    const row = (text: string): string =>
      `1,2,3,,2150-01-01 00:00:00,2150-01-01 00:00:00,226559,${text},mL\n`;
    const alone = await failureOf(await source(`${header}\n${row(value)}`));
    expect(alone.code).toBe('IMPORT_VALUE_INVALID');
    expect(alone.message).toContain('line 2, column value');
    const amongNulls = await failureOf(await source(`${header}\n${row('')}${row(value)}${row('')}`));
    expect(amongNulls.message).toContain('line 3, column value');
    const amongOthers = `${row('5').repeat(importRowGroupSize)}${row('-7.25')}${row(value)}${row('0')}`;
    const last = await failureOf(await source(`${header}\n${amongOthers}`));
    expect(last.message).toContain(`line ${importRowGroupSize + 3}, column value`);
  });

  test('the largest, the smallest and none at all are kept', async () => {
    const values = ['1.7976931348623157e308', '-1.7976931348623157e308', '5e-324', '-0.0', ''];
    const rows = values.map((value) => `1,2,3,,2150-01-01 00:00:00,2150-01-01 00:00:00,226559,${value},mL\n`);
    await load(await source(`${header}\n${rows.join('')}`));
    expect((await columnOf('value')).map((value) => (value === null ? null : Number(value)))).toEqual([
      Number.MAX_VALUE,
      -Number.MAX_VALUE,
      Number.MIN_VALUE,
      -0,
      null,
    ]);
    await load(await source(`${header}\n${rows[4]}`));
    expect(await columnOf('value')).toEqual([null]);
  });
});

test('a file vouched for by its checksum is read without these checks and gives the same rows', async () => {
  const rows = Array.from(
    { length: 500 },
    (_, n) =>
      `${n},${n % 7 === 0 ? '' : n},3,NA,2150-01-0${1 + (n % 9)} 0${n % 10}:00:00,,${226559 + (n % 3)},${n / 4},"m, L"\n`,
  );
  const file = await source(`${header}\n${rows.join('')}`);
  const checked = await load(file);
  const trusted = await load(file, true);
  expect(trusted).toEqual(checked);
  expect(checked.rows).toBe(500);
  expect(await columnOf('value')).toEqual(
    rows.map((_, n) => `${(n / 4).toString()}${n % 4 === 0 ? '.0' : ''}`),
  );
});

describe('the layout of large event tables', () => {
  test('sorts by item, stay and time, keeps the order of equals, and loses nothing', async () => {
    const rows = 2 * importRowGroupSize + 17;
    const path = stored();
    await session.run(
      `copy (select n as subject_id, n as hadm_id, n % 5 as stay_id, null::bigint as caregiver_id,
           timestamp '2150-01-01' + to_hours(n % 3) as charttime, null::timestamp as storetime,
           226559 + n % 4 as itemid, n::double as value, 'mL' as valueuom from range(${rows}) t(n))
       to ${literal(path)} (format parquet)`,
    );
    const read = await importTable(
      session,
      { table: outputevents, path, file: 'x', form: '.parquet', bytes: 1 },
      join(folder, 'laid-out.parquet'),
      { nullStrings, isVouchedFor: false },
    );
    const sorted = join(folder, 'laid-out.parquet');
    // Places as read: the parallel writer of the engine was once seen to swap whole row groups of a busy machine.
    await session.run(
      `create or replace temp table places as
       select subject_id, file_row_number as place from read_parquet(${literal(sorted)}, file_row_number = true)`,
    );
    const written = await layOut(session, outputevents, sorted, read);
    expect(written).toMatchObject({ rows, contentHash: read.contentHash });
    const { unsorted } = await session.row(
      `select count(*)::int as unsorted from (
         select (itemid, stay_id, charttime, place) as key,
           lag((itemid, stay_id, charttime, place)) over (order by file_row_number) as before
         from read_parquet(${literal(sorted)}, file_row_number = true) join places using (subject_id))
       where before > key`,
    );
    expect(unsorted).toBe(0);
    // A quarter of the rows has item 226559: of three row groups only the first holds it.
    const groups = await session.rows(
      `select row_group_id::int as id from parquet_metadata(${literal(sorted)})
       where path_in_schema = 'itemid' and stats_min_value::bigint <= 226559 order by 1`,
    );
    expect(groups.map((group) => group.id)).toEqual([0]);
  });

  test('is left out where a single row group leaves nothing to skip, and for tables without an order', () => {
    expect(paysToLayOut(outputevents, importRowGroupSize)).toBe(false);
    expect(paysToLayOut(outputevents, importRowGroupSize + 1)).toBe(true);
    const { sortedBy: _, ...plain } = outputevents;
    expect(paysToLayOut(plain, 10 * importRowGroupSize)).toBe(false);
  });
});
