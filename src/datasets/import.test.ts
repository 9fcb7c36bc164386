import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { M4BenchError } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import { type Home, homeAt } from '../support/home.js';
import {
  chooseDataset,
  type DatasetTable,
  datasetsFor,
  listDatasets,
  openDataset,
  parquetPath,
} from './dataset.js';
import { importDataset } from './import.js';
import { importRowGroupSize } from './import-table.js';
import type { Layout } from './import-tables.js';
import { loadSourceSchema } from './source-schema.js';

let root: string;
let home: Home;
let release: string;

/** A whole eICU release of header lines; tests replace single files. */
async function writeRelease(folder: string): Promise<void> {
  const schema = await loadSourceSchema('eicu');
  await mkdir(folder, { recursive: true });
  for (const table of schema.tables) {
    const header = table.columns.map((column) => column.name).join(',');
    await writeFile(join(folder, `${table.name}.csv.gz`), gzipSync(`${header}\n`));
  }
}

const allergyHeader =
  'allergyid,patientunitstayid,allergyoffset,allergyenteredoffset,allergynotetype,specialtytype,usertype,rxincluded,writtenineicu,drugname,allergytype,allergyname,drughiclseqno';
const hospitalHeader = 'hospitalid,numbedscategory,teachingstatus,region';
/** A hospital row needs no more than this to be right. */
const hospitalRow = '56,<100,f,Midwest';

async function put(file: string, content: string | Uint8Array): Promise<void> {
  const isCompressed = file.endsWith('.gz') && typeof content === 'string';
  await mkdir(dirname(join(release, file)), { recursive: true });
  await writeFile(join(release, file), isCompressed ? gzipSync(content) : content);
}

const load = (options: { readonly replace?: boolean } = {}) =>
  importDataset(home, { name: 'eicu', from: root, verify: false, threads: 2, ...options });

async function failureOf(run: Promise<unknown>): Promise<M4BenchError> {
  const thrown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof M4BenchError)) throw new Error(`Expected an M4BenchError, got ${String(thrown)}.`);
  return thrown;
}

async function rowsOf(table: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  await using session = await DuckSession.open({ threads: 1 });
  const path = parquetPath(await openDataset(home, 'eicu'), 'eicu_crd', table);
  return await session.rows(`select * from read_parquet(${literal(path)})`);
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-import-'));
  home = homeAt(join(root, 'home'));
  release = join(root, 'files', 'eicu-crd', '2.0');
  await writeRelease(release);
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('what an import keeps', () => {
  test('quoted commas, doubled quotes and line breaks are kept exactly, and the five null strings are NULL', async () => {
    await put(
      'allergy.csv.gz',
      `${allergyHeader}\n` +
        '1,7,-5,0,"a ""quoted"" word","line one\nline two, with comma",NA,"N/A",___,NULL,"",#x, 9\n' +
        '2,7,0,0, na ,null,\\n,é,"\r\n",None,-,"""",\n',
    );
    await load();
    expect(await rowsOf('allergy')).toEqual([
      {
        allergyid: '1',
        patientunitstayid: '7',
        allergyoffset: '-5',
        allergyenteredoffset: '0',
        allergynotetype: 'a "quoted" word',
        specialtytype: 'line one\nline two, with comma',
        usertype: null,
        rxincluded: null,
        writtenineicu: null,
        drugname: null,
        allergytype: null,
        allergyname: '#x',
        drughiclseqno: '9',
      },
      {
        allergyid: '2',
        patientunitstayid: '7',
        allergyoffset: '0',
        allergyenteredoffset: '0',
        allergynotetype: ' na ',
        specialtytype: 'null',
        usertype: '\\n',
        rxincluded: 'é',
        writtenineicu: '\r\n',
        drugname: 'None',
        allergytype: '-',
        allergyname: '"',
        drughiclseqno: null,
      },
    ]);
  });

  test('columns are bound by name, whatever their order and case, also in plain CSV with a byte order mark', async () => {
    await rm(join(release, 'hospital.csv.gz'));
    await put(
      'Hospital.csv',
      '\uFEFFREGION,TeachingStatus,numbedscategory,HOSPITALID\r\nWest,t,100 - 249,007\r\n',
    );
    await load();
    expect(await rowsOf('hospital')).toEqual([
      { hospitalid: '7', numbedscategory: '100 - 249', teachingstatus: true, region: 'West' },
    ]);
  });

  test('Parquet in the same layout imports with the declared types and the same null strings', async () => {
    await rm(join(release, 'hospital.csv.gz'));
    await using session = await DuckSession.open({ threads: 1 });
    await session.run(
      `copy (select 'South' as Region, true as teachingstatus, 'NA' as numbedscategory, 3.0::double as hospitalid)
       to ${literal(join(release, 'hospital.parquet'))} (format parquet)`,
    );
    await load();
    expect(await rowsOf('hospital')).toEqual([
      { hospitalid: '3', numbedscategory: null, teachingstatus: true, region: 'South' },
    ]);
  });

  test('the content hash does not depend on the form of the file or the order of its columns', async () => {
    await put('hospital.csv.gz', `${hospitalHeader}\n${hospitalRow}\n57,,t,\n`);
    const first = await load();
    await rm(join(release, 'hospital.csv.gz'));
    await put(
      'hospital.csv',
      'region,hospitalid,teachingstatus,numbedscategory\n,57,true,NULL\nMidwest,56,false,<100\n',
    );
    const second = await load({ replace: true });
    expect(second.contentHash).toBe(first.contentHash);
    await put('hospital.csv', `${hospitalHeader}\n${hospitalRow}\n57,,f,\n`);
    expect((await load({ replace: true })).contentHash).not.toBe(first.contentHash);
  });
});

/** Content of `hospital.csv.gz`, and the code and the words its one error must hold. */
const damages: readonly [
  title: string,
  content: string | Uint8Array,
  code: string,
  words: readonly string[],
][] = [
  [
    'an unknown column',
    `${hospitalHeader},colour\n`,
    'IMPORT_COLUMN_UNKNOWN',
    ['line 1', 'column 5', 'colour'],
  ],
  [
    'a missing column',
    'hospitalid,numbedscategory,region\n',
    'IMPORT_COLUMN_MISSING',
    ['line 1', 'teachingstatus'],
  ],
  [
    'a column given twice',
    `${hospitalHeader},REGION\n`,
    'IMPORT_COLUMN_TWICE',
    ['line 1', 'column 5', 'REGION'],
  ],
  [
    'semicolons',
    `${hospitalHeader}\n${hospitalRow}\n`.replaceAll(',', ';'),
    'IMPORT_DELIMITER',
    ['line 1', 'semicolon'],
  ],
  ['tabs', `${hospitalHeader}\n`.replaceAll(',', '\t'), 'IMPORT_DELIMITER', ['line 1', 'tab']],
  ['an empty file', '', 'IMPORT_FILE_EMPTY', ['line 1']],
  ['text that is no gzip', Buffer.from(`${hospitalHeader}\n`), 'IMPORT_GZIP_BROKEN', ['line 1']],
  ['no bytes at all', Buffer.alloc(0), 'IMPORT_GZIP_BROKEN', ['line 1', 'end of file']],
  [
    'a word where a number belongs',
    `${hospitalHeader}\n${hospitalRow}\n"5\n6",,t,\n`.replace('"5\n6"', 'x6'),
    'IMPORT_VALUE_INVALID',
    ['line 3', 'column hospitalid', '"x6"', 'BIGINT'],
  ],
  [
    'a fraction where a whole number belongs',
    `${hospitalHeader}\n1,"two\nlines",t,\n2.5,,t,\n`,
    'IMPORT_VALUE_INVALID',
    ['line 4', 'column hospitalid', '"2.5"'],
  ],
  [
    'a number beyond 64 bits',
    `${hospitalHeader}\n9223372036854775808,,t,\n`,
    'IMPORT_VALUE_INVALID',
    ['line 2', 'column hospitalid'],
  ],
  [
    'a wrong truth value',
    `${hospitalHeader}\n1,,maybe,\n`,
    'IMPORT_VALUE_INVALID',
    ['line 2', 'column teachingstatus'],
  ],
  [
    'a row with a field too few',
    `${hospitalHeader}\n${hospitalRow}\n1,a,t\n`,
    'IMPORT_ROW_RAGGED',
    ['line 3', '3 fields'],
  ],
  [
    'a row with a field too many',
    `${hospitalHeader}\n1,a,t,b,c\n`,
    'IMPORT_ROW_RAGGED',
    ['line 2', '5 fields'],
  ],
  [
    'a quotation that never ends',
    `${hospitalHeader}\n${hospitalRow}\n1,"a,t,b\n2,c,t,d\n`,
    'IMPORT_QUOTE_INVALID',
    ['line 3', 'column numbedscategory'],
  ],
  [
    'text after a quotation',
    `${hospitalHeader}\n1,"a"b,t,c\n`,
    'IMPORT_QUOTE_INVALID',
    ['line 2', 'column numbedscategory'],
  ],
  [
    'text that is not UTF-8',
    gzipSync(
      Buffer.concat([Buffer.from(`${hospitalHeader}\n1,`), Buffer.from([0xff]), Buffer.from(',t,c\n')]),
    ),
    'IMPORT_ENCODING',
    ['line 2', 'column numbedscategory'],
  ],
];

describe('what an import refuses, naming file, line and column', () => {
  test.each(damages)('%s', async (_title, content, code, words) => {
    await put('hospital.csv.gz', content);
    const failure = await failureOf(load());
    expect(failure.code).toBe(code);
    for (const word of ['hospital.csv.gz', ...words]) expect(failure.message).toContain(word);
    expect(failure.remedy).not.toBe('');
    expect(await listDatasets(home)).toEqual([]);
  });

  const manyRows = `${hospitalHeader}\n${Array.from({ length: 50_000 }, (_, row) => `${row},${sha256(String(row))},t,West\n`).join('')}`;
  test.each([
    ['cut off in the middle', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1), 'end of file'],
    ['cut off in its last four bytes', (bytes: Buffer) => bytes.subarray(0, -4), 'end of file'],
    [
      'altered in its checksum',
      (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === bytes.length - 6 ? byte ^ 1 : byte))),
      'incorrect data check',
    ],
  ])('a gzip stream %s, which the engine alone would take for whole', async (_title, damage, reason) => {
    await put('hospital.csv.gz', damage(gzipSync(manyRows)));
    const failure = await failureOf(load());
    expect(failure.code).toBe('IMPORT_GZIP_BROKEN');
    expect(failure.message).toMatch(/hospital\.csv\.gz, at or after line \d+/);
    expect(failure.message).toContain(reason);
  });

  test('a DOUBLE that is no finite number', async () => {
    const schema = await loadSourceSchema('eicu');
    const lab = schema.tables.find((table) => table.name === 'lab')!;
    const header = lab.columns.map((column) => column.name).join(',');
    await put('lab.csv.gz', `${header}\n1,2,3,4,sodium,140,140,,,5\n1,2,3,4,sodium,nan,,,,5\n`);
    expect((await failureOf(load())).message).toContain(
      'lab.csv.gz, line 3, column labresult: "nan" is not a DOUBLE',
    );
  });

  test('a value in Parquet that does not fit, by row and column', async () => {
    await rm(join(release, 'hospital.csv.gz'));
    await using session = await DuckSession.open({ threads: 1 });
    await session.run(
      `copy (select * from (values ('1', 'x', 't', 'y'), ('two', 'x', 't', 'y')) v(hospitalid, numbedscategory, teachingstatus, region))
       to ${literal(join(release, 'hospital.parquet'))} (format parquet)`,
    );
    const failure = await failureOf(load());
    expect(failure.code).toBe('IMPORT_VALUE_INVALID');
    expect(failure.message).toContain('hospital.parquet, row 2, column hospitalid: "two" is not a BIGINT');
  });

  test('missing tables, all of them in one error', async () => {
    await rm(join(release, 'hospital.csv.gz'));
    await rm(join(release, 'lab.csv.gz'));
    const failure = await failureOf(load());
    expect(failure.code).toBe('IMPORT_TABLE_MISSING');
    expect(failure.message).toContain('hospital.csv.gz, lab.csv.gz');
  });

  test('a folder without a release, and two releases side by side', async () => {
    expect((await failureOf(importDataset(home, { name: 'mimic-iv', from: root }))).code).toBe(
      'IMPORT_FOLDER_EMPTY',
    );
    await writeRelease(join(root, 'files', 'eicu-crd', 'copy'));
    expect((await failureOf(load())).code).toBe('IMPORT_FOLDER_AMBIGUOUS');
  });
});

describe('verification', () => {
  test('wrong row counts stop the import and name the file, or mark the dataset unverified', async () => {
    const failure = await failureOf(importDataset(home, { name: 'eicu', from: root }));
    expect(failure.code).toBe('IMPORT_MISMATCH');
    expect(failure.message).toContain('admissiondrug.csv.gz: 0 rows, release 2.0 has 874,920');
    const dataset = await load();
    expect(dataset.verified).toBe(false);
    expect(dataset.unverifiedReasons).toHaveLength(31);
    expect(dataset.notice).toContain('UNVERIFIED');
  });

  test('a file that differs from SHA256SUMS.txt is named before anything is imported; LICENSE.txt does not matter', async () => {
    const wrong = 'a'.repeat(64);
    await put('SHA256SUMS.txt', `${wrong} LICENSE.txt\n${wrong} lab.csv.gz\n`);
    const failure = await failureOf(importDataset(home, { name: 'eicu', from: root }));
    expect(failure.code).toBe('IMPORT_MISMATCH');
    expect(failure.message).toContain('lab.csv.gz: SHA-256 is');
    expect(failure.message).not.toContain('LICENSE');
    expect(await readdir(home.datasets)).toEqual([]);
  });

  test('the embedded checksums of the open demo are compared as well', async () => {
    const failure = await failureOf(importDataset(home, { name: 'eicu-demo', from: root }));
    expect(failure.message).toContain('release demo-2.0.1 has');
  });
});

describe('whole or not at all', () => {
  test('a failed import leaves no dataset, keeps its finished tables, and goes on from them', async () => {
    await put('hospital.csv.gz', `${hospitalHeader}\nx,,t,\n`);
    await failureOf(load());
    expect(await listDatasets(home)).toEqual([]);
    const staging = join(home.datasets, 'eicu.importing.tmp', 'eicu_crd');
    const before = await readFile(join(staging, 'patient.parquet'));
    const marked = Buffer.concat([before.subarray(0, -4), Buffer.from('PAR1')]);
    expect(marked.equals(before)).toBe(true);
    const record = JSON.parse(await readFile(join(staging, 'patient.import.json'), 'utf8'));
    record.table.contentHash = 'kept from the first try';
    await writeFile(join(staging, 'patient.import.json'), JSON.stringify(record));
    await put('hospital.csv.gz', `${hospitalHeader}\n${hospitalRow}\n`);
    const dataset = await load();
    const kept = dataset.tables.find((table) => table.table === 'patient');
    expect(kept?.contentHash).toBe('kept from the first try');
    expect(await readdir(home.datasets)).toEqual(['eicu']);
    expect(
      (await readdir(join(home.datasets, 'eicu', 'eicu_crd'))).filter((name) => !name.endsWith('.parquet')),
    ).toEqual([]);
  });

  test('a changed file is imported again although its table is waiting', async () => {
    await put('hospital.csv.gz', `${hospitalHeader}\n${hospitalRow}\n`);
    await put('lab.csv.gz', 'labid\n');
    await failureOf(load());
    const schema = await loadSourceSchema('eicu');
    const header = schema.tables.find((table) => table.name === 'lab')!.columns.map((column) => column.name);
    await put('lab.csv.gz', `${header.join(',')}\n`);
    await put('hospital.csv.gz', `${hospitalHeader}\n${hospitalRow}\n57,,t,\n`);
    const dataset = await load();
    expect(dataset.tables.find((table) => table.table === 'hospital')?.rows).toBe(2);
  });

  test('an existing dataset is refused unless it is to be replaced', async () => {
    await load();
    expect((await failureOf(load())).code).toBe('DATASET_EXISTS');
    await put('hospital.csv.gz', `${hospitalHeader}\n${hospitalRow}\n`);
    const replaced = await load({ replace: true });
    expect(replaced.tables.find((table) => table.table === 'hospital')?.rows).toBe(1);
    expect(await readdir(home.datasets)).toEqual(['eicu']);
  });
});

describe('a large event table', () => {
  const rows = importRowGroupSize + 5000;
  const table = 'intakeoutput';

  beforeEach(async () => {
    const schema = await loadSourceSchema('eicu');
    const columns = schema.tables.find(({ name }) => name === table)!.columns.map(({ name }) => name);
    const lines = Array.from({ length: rows }, (_, n) =>
      columns
        .map((name) => (name === 'cellpath' ? `path ${n % 10}` : name === 'celllabel' ? 'x' : n))
        .join(','),
    );
    await rm(join(release, `${table}.csv.gz`));
    await put(`${table}.csv`, `${columns.join(',')}\n${lines.join('\n')}\n`);
  });

  const loadAs = async (layout: Layout): Promise<DatasetTable> => {
    const options = { name: 'eicu', from: root, verify: false, threads: 2, replace: true, layout } as const;
    return (await importDataset(home, options)).tables.find((entry) => entry.table === table)!;
  };
  const compressionsIn = async (path: string): Promise<readonly unknown[]> => {
    await using session = await DuckSession.open({ threads: 1 });
    const found = await session.rows(`select distinct compression from parquet_metadata(${literal(path)})`);
    return found.map(({ compression }) => compression);
  };

  const firstIdsIn = async (path: string): Promise<readonly unknown[]> => {
    await using session = await DuckSession.open({ threads: 1 });
    const found = await session.rows(
      `select intakeoutputid as id from read_parquet(${literal(path)}) limit 2`,
    );
    return found.map(({ id }) => id);
  };

  test('is sorted and stored small in the default layout, and has the same rows in the order of the file as read', async () => {
    const byItem = await loadAs('by-item');
    expect(byItem).toMatchObject({ rows, sortedBy: ['cellpath', 'patientunitstayid', 'intakeoutputoffset'] });
    const path = parquetPath(await openDataset(home, 'eicu'), 'eicu_crd', table);
    expect(await compressionsIn(path)).toEqual(['ZSTD']);
    expect(await firstIdsIn(path)).toEqual(['0', '10']);
    const asRead = await loadAs('as-read');
    expect(asRead).toMatchObject({ rows, sortedBy: [], contentHash: byItem.contentHash });
    expect(await compressionsIn(path)).toEqual(['ZSTD']);
    expect(await firstIdsIn(path)).toEqual(['0', '1']);
  });

  test('that waits for its layout is read again where the rows are to stay as read', async () => {
    const fresh = await loadAs('as-read');
    await rm(home.datasets, { recursive: true });
    await put('hospital.csv.gz', `${hospitalHeader}\nx,,t,\n`);
    await failureOf(loadAs('by-item'));
    const waiting = join(home.datasets, 'eicu.importing.tmp', 'eicu_crd', `${table}.parquet`);
    expect(await compressionsIn(waiting)).toEqual(['LZ4_RAW']);
    await put('hospital.csv.gz', `${hospitalHeader}\n${hospitalRow}\n`);
    expect((await loadAs('as-read')).fileSha256).toBe(fresh.fileSha256);
  });
});

describe('opening datasets', () => {
  test('a missing, a broken and an incomplete dataset each give their own error', async () => {
    expect((await failureOf(openDataset(home, 'eicu'))).code).toBe('DATASET_NOT_FOUND');
    expect((await failureOf(openDataset(home, '../eicu'))).code).toBe('DATASET_NAME_INVALID');
    await load();
    await rm(join(home.datasets, 'eicu', 'eicu_crd', 'lab.parquet'));
    expect((await failureOf(openDataset(home, 'eicu'))).code).toBe('DATASET_INCOMPLETE');
    await writeFile(join(home.datasets, 'eicu', 'dataset.json'), '{"name": "eicu"}');
    expect((await failureOf(openDataset(home, 'eicu'))).code).toBe('DATASET_INVALID');
  });

  test('the fullest dataset of a kind comes first', async () => {
    await importDataset(home, { name: 'eicu-demo', from: root, verify: false });
    expect((await chooseDataset(home, 'eicu')).name).toBe('eicu-demo');
    await load();
    expect((await datasetsFor(home, 'eicu')).map((dataset) => dataset.name)).toEqual(['eicu', 'eicu-demo']);
    expect((await failureOf(chooseDataset(home, 'mimic-iv'))).code).toBe('DATASET_NOT_FOUND');
    expect((await failureOf(chooseDataset(home, 'mimic-iv', 'eicu'))).code).toBe('DATASET_KIND_WRONG');
  });
});
