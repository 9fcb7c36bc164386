import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { sha256 } from '../support/hashing.js';
import { type Home, homeAt } from '../support/home.js';
import { type Dataset, openDataset, parquetPath } from './dataset.js';
import { importDataset } from './import.js';

let folder: string;
let home: Home;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-own-schema-'));
  home = homeAt(join(folder, 'home'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const description = `kind = "ward"
title = "Ward book"
release = "7"
class = "open"
null_strings = ["", "NA"]

[[tables]]
schema = "ward"
name = "stays"
key = ["stay"]
rows = 2
columns = { stay = "BIGINT", weight = "DOUBLE", admitted = "TIMESTAMP", note = "VARCHAR" }
`;
const stays = 'note,STAY,weight,admitted\n"a, b",1,70.5,2150-01-01 10:00:00\nNA,2,NA,2150-01-02\n';

async function load(schema = description, files: Readonly<Record<string, string>> = { 'stays.csv': stays }) {
  const schemaFile = join(folder, 'ward.toml');
  await writeFile(schemaFile, schema);
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  return await importDataset(home, { name: 'our-ward', from: folder, schemaFile, threads: 1 });
}

async function rowsOf(dataset: Dataset): Promise<readonly unknown[]> {
  await using session = await DuckSession.open({ threads: 1 });
  return await session.rows(`select * from read_parquet(${literal(parquetPath(dataset, 'ward', 'stays'))})`);
}

describe('a dataset that the user describes', () => {
  test('has the described types, null strings and facts; stated row counts that agree verify it', async () => {
    const dataset = await load();
    expect(dataset).toMatchObject({
      name: 'our-ward',
      kind: 'ward',
      class: 'open',
      release: '7',
      verified: true,
      verifiedBy: ['row counts'],
      notice: 'Ward book, release 7.',
    });
    expect(await rowsOf(dataset)).toEqual([
      { stay: '1', weight: 70.5, admitted: '2150-01-01 10:00:00', note: 'a, b' },
      { stay: '2', weight: null, admitted: '2150-01-02 00:00:00', note: null },
    ]);
    expect(await readFile(join(dataset.folder, 'schema.toml'), 'utf8')).toBe(description);
    expect(await openDataset(home, 'our-ward')).toEqual(dataset);
  });

  test('is unverified where nothing is stated, and verified by SHA256SUMS.txt', async () => {
    const unstated = description.replace('rows = 2\n', '');
    const first = await load(unstated);
    expect(first.verified).toBe(false);
    expect(first.unverifiedReasons.join()).toContain('ward.stays');
    await rm(first.folder, { recursive: true });
    const second = await load(unstated, { 'SHA256SUMS.txt': `${sha256(stays)}  stays.csv\n` });
    expect(second.verified).toBe(true);
  });

  test('may say where the file of a table lies', async () => {
    const elsewhere = description.replace('key = ', 'file = "export-2026.csv"\nkey = ');
    expect(await rowsOf(await load(elsewhere, { 'export-2026.csv': stays }))).toHaveLength(2);
  });

  test('reads values with care even where a checksum vouches for the bytes', async () => {
    const fraction = stays.replace(',1,', ',1.5,');
    await expect(
      load(description, { 'stays.csv': fraction, 'SHA256SUMS.txt': `${sha256(fraction)}  stays.csv\n` }),
    ).rejects.toMatchObject({ code: 'IMPORT_VALUE_INVALID', message: expect.stringContaining('stay') });
  });

  test.each([
    ['another number of rows', description.replace('rows = 2', 'rows = 3'), 'IMPORT_MISMATCH', '2 rows'],
    [
      'a repeated key',
      description.replace('["stay"]', '["stay"]').replace('rows = 2\n', ''),
      'IMPORT_MISMATCH',
      '1 keys (stay) in 2 rows',
    ],
    [
      'a missing file',
      description.replace('name = "stays"', 'name = "beds"'),
      'IMPORT_TABLE_MISSING',
      'beds.csv.gz',
    ],
    [
      'an unknown type',
      description.replace('"DOUBLE"', '"FLOAT"'),
      'OWN_SCHEMA_INVALID',
      'tables[0].columns.weight: must be one of BIGINT',
    ],
    [
      'an unknown field',
      description.replace('key =', 'keys ='),
      'OWN_SCHEMA_INVALID',
      'tables[0].keys is not known',
    ],
    [
      'a key that is no column',
      description.replace('["stay"]', '["bed"]'),
      'OWN_SCHEMA_INVALID',
      'bed is no column of ward.stays',
    ],
    ['a kind of the benchmark', description.replace('"ward"', '"eicu"'), 'OWN_SCHEMA_INVALID', 'field kind'],
    [
      'a column that the file lacks',
      description.replace('note =', 'remark ='),
      'IMPORT_COLUMN_UNKNOWN',
      '"note"',
    ],
  ])('is refused for %s, with file and field', async (what, schema, code, message) => {
    const repeated = stays.replace('NA,2', 'NA,1');
    const failure = load(schema, { 'stays.csv': what === 'a repeated key' ? repeated : stays });
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    await expect(openDataset(home, 'our-ward')).rejects.toMatchObject({ code: 'DATASET_NOT_FOUND' });
  });

  test('does not take the name of a published release', async () => {
    await writeFile(join(folder, 'ward.toml'), description);
    const schemaFile = join(folder, 'ward.toml');
    await expect(importDataset(home, { name: 'mimic-iv', from: folder, schemaFile })).rejects.toMatchObject({
      code: 'DATASET_NAME_INVALID',
    });
  });
});
