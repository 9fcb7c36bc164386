import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BuiltConcept, buildConcepts, conceptManifestPath } from '../../src/concepts/build.js';
import { type Dataset, parquetPath } from '../../src/datasets/dataset.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import { packageRoot } from '../../src/support/home.js';
import { writeConcepts, writeLake } from './lake.js';

let root: string;
let folder: string;
let dataset: Dataset;

const icustays = { 'mimiciv_icu.icustays': 'select range as stay_id from range(10)' } as const;
const patients = { 'mimiciv_hosp.patients': 'select range as subject_id from range(5)' } as const;
/** a reads a base table, b reads a, c another base table, d reads b and c. */
const four = {
  a: { keys: 'stay_id', query: 'select stay_id, stay_id * 2 as value from mimiciv_icu.icustays' },
  b: { keys: 'stay_id', query: 'select stay_id, value + 1 as value from mimiciv_derived.a' },
  c: { keys: 'subject_id', query: 'select subject_id from mimiciv_hosp.patients' },
  d: {
    keys: 'stay_id',
    query:
      'select b.stay_id, b.value from mimiciv_derived.b inner join mimiciv_derived.c on b.stay_id = c.subject_id',
  },
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-engine-'));
  folder = join(root, 'concepts');
  await writeConcepts(folder, four);
  dataset = await writeLake(join(root, 'lake'), { ...icustays, ...patients });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const build = (options: Parameters<typeof buildConcepts>[1] = {}) =>
  buildConcepts(dataset, { folder, threads: 1, ...options });
const built = (concepts: readonly BuiltConcept[]): string =>
  concepts
    .filter((concept) => concept.wasBuilt)
    .map((concept) => concept.table)
    .sort()
    .join(' ');
const valuesOf = async (table: string): Promise<readonly unknown[]> => {
  await using session = await DuckSession.open({ threads: 1 });
  const path = literal(parquetPath(dataset, 'mimiciv_derived', table));
  return (await session.rows(`select value::integer as value from read_parquet(${path})`)).map(
    (row) => row.value,
  );
};

describe('a concept is built again only when it has to be', () => {
  test('never when nothing changed', async () => {
    expect(built(await build())).toBe('a b c d');
    expect(built(await build())).toBe('');
  });

  test('when its text changed; its readers only if its rows changed too', async () => {
    await build();
    await writeConcepts(folder, { a: { ...four.a, note: 'said in other words' } });
    expect(built(await build())).toBe('a');
    await writeConcepts(folder, { a: { ...four.a, query: four.a.query.replace('* 2', '* 3') } });
    expect(built(await build())).toBe('a b d');
    expect(await valuesOf('d')).toEqual([1, 4, 7, 10, 13]); // 3 n + 1 for n below 5
  });

  test('when a table that it reads has other rows', async () => {
    await build();
    dataset = await writeLake(dataset.folder, {
      ...icustays,
      'mimiciv_hosp.patients': 'select range as subject_id from range(4)',
    });
    expect(built(await build())).toBe('c d');
    expect(await valuesOf('d')).toEqual([1, 3, 5, 7]); // 2 n + 1
  });

  test('when the engine is another one', async () => {
    await build();
    const path = conceptManifestPath(dataset, 'c');
    const manifest = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    await writeFile(path, JSON.stringify({ ...manifest, engineVersion: 'v1.4.1' }));
    // its rows are the same, so d stays
    expect(built(await build())).toBe('c');
  });

  test('when its file is gone or cut off, or its manifest is no manifest', async () => {
    await build();
    await rm(parquetPath(dataset, 'mimiciv_derived', 'a'));
    expect(built(await build())).toBe('a');
    await truncate(parquetPath(dataset, 'mimiciv_derived', 'b'), 10);
    expect(built(await build())).toBe('b');
    await writeFile(conceptManifestPath(dataset, 'c'), '{"schemaVersion": 1');
    expect(built(await build())).toBe('c');
  });

  test('when asked to, and then with all that it reads', async () => {
    expect(built(await build({ tables: ['b'] }))).toBe('a b');
    expect(built(await build({ tables: ['b'], force: true }))).toBe('a b');
    expect(built(await build())).toBe('c d');
  });
});

describe('failure', () => {
  test('names the concept and its file; finished tables stay and are not built again', async () => {
    await writeConcepts(folder, {
      b: { ...four.b, query: `select error('no such unit') as stay_id from mimiciv_derived.a` },
    });
    const failure = await build({ lanes: 1 }).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'CONCEPT_FAILED' });
    expect(String(failure)).toContain('Concept b could not be built');
    expect(String(failure)).toContain('no such unit');
    expect((failure as { remedy: string }).remedy).toContain(join(folder, 'measurement', 'b.sql'));
    expect(existsSync(parquetPath(dataset, 'mimiciv_derived', 'a'))).toBe(true);
    expect(existsSync(parquetPath(dataset, 'mimiciv_derived', 'b'))).toBe(false);
    await writeConcepts(folder, four);
    expect(built(await build())).not.toContain('a');
    expect(await valuesOf('d')).toEqual([1, 3, 5, 7, 9]);
  });

  test('a missing table, an unknown concept and another kind of dataset are plain errors', async () => {
    const incomplete = { ...dataset, tables: dataset.tables.filter(({ table }) => table !== 'patients') };
    await expect(buildConcepts(incomplete, { folder })).rejects.toMatchObject({ code: 'RELATION_MISSING' });
    await expect(build({ tables: ['z'] })).rejects.toMatchObject({ code: 'CONCEPT_UNKNOWN' });
    await expect(buildConcepts({ ...dataset, kind: 'eicu' })).rejects.toMatchObject({
      code: 'CONCEPTS_NOT_APPLICABLE',
    });
  });

  test('a build that is killed leaves whole tables only, and the next one goes on from there', async () => {
    await writeConcepts(join(root, 'slow'), {
      first: { keys: 'stay_id', query: 'select stay_id from mimiciv_icu.icustays' },
      // minutes of work: it is killed long before
      second: {
        keys: 'n',
        query:
          'select range + first.stay_id as n, hash(range) as h from mimiciv_derived.first, range(1000000) order by h',
      },
    });
    const lake = join(root, 'slow-lake');
    const script = join(packageRoot(), 'test', 'concepts', 'build-slowly.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', script, lake, join(root, 'slow')], {
      cwd: packageRoot(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const finished = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    for await (const line of child.stdout) if (String(line).includes('2/2 second')) break;
    const derived = join(lake, 'mimiciv_derived');
    while (!(await readdir(derived)).some((name) => name.startsWith('second.parquet.'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.kill('SIGKILL');
    expect(await finished).toBe('SIGKILL');

    const left = await readdir(derived);
    expect(left).toContain('first.json');
    expect(left).toContain('first.parquet');
    expect(left).not.toContain('second.json');
    expect(left).not.toContain('second.parquet');

    const slow = await writeLake(lake, {
      'mimiciv_icu.icustays': 'select range as stay_id from range(1000)',
    });
    await writeConcepts(join(root, 'slow'), {
      second: { keys: 'stay_id', query: 'select stay_id from mimiciv_derived.first' },
    });
    expect(built(await buildConcepts(slow, { folder: join(root, 'slow') }))).toBe('second');
    expect((await readdir(derived)).sort()).toEqual([
      'first.json',
      'first.parquet',
      'second.json',
      'second.parquet',
    ]);
  });
});

describe('lanes', () => {
  /** `start x` and `end x` in the order in which they happened. */
  const eventsOf = async (lanes: number): Promise<readonly string[]> => {
    const slow = 'select sum(hash(range) % 7)::bigint as value from range(2000000)';
    await writeConcepts(join(root, 'wide'), {
      left: { keys: 'stay_id', query: `select stay_id, (${slow}) as value from mimiciv_icu.icustays` },
      right: { keys: 'stay_id', query: `select stay_id, (${slow}) as value from mimiciv_icu.icustays` },
      top: {
        keys: 'stay_id',
        query: 'select stay_id from mimiciv_derived.left inner join mimiciv_derived.right using (stay_id)',
      },
    });
    const events: string[] = [];
    await buildConcepts(dataset, {
      folder: join(root, 'wide'),
      lanes,
      force: true,
      threads: 1,
      progress: {
        update: (text) => events.push(`start ${text.split(' ')[1]}`),
        done: (text) => events.push(`end ${text.trim().split(/[ :]/)[1]}`),
        warn: () => {},
      },
    });
    return events;
  };

  test('two concepts are built side by side where the graph allows, and what reads them waits', async () => {
    const events = await eventsOf(2);
    expect(events.slice(0, 2)).toEqual(['start left', 'start right']);
    expect(events.slice(-2)).toEqual(['start top', 'end top']);
  });

  test('one lane builds one after the other', async () => {
    expect(await eventsOf(1)).toEqual([
      'start left',
      'end left',
      'start right',
      'end right',
      'start top',
      'end top',
    ]);
  });
});

test('a memory limit that forces spilling changes neither rows nor bytes', async () => {
  await writeConcepts(join(root, 'large'), {
    large: {
      keys: 'a',
      query: `select hash(range) % 1000003 as a, hash(range, 1) as b, hash(range, 2) / 1e19 as c,
          sum(cast(hash(range, 3) / 1e19 as decimal(38, 10)))::double as d, count(*) as n
        from range(600000), mimiciv_hosp.patients where subject_id = 1 group by all`,
    },
  });
  const run = async (memoryBytes: number, threads: number) => {
    const [concept] = await buildConcepts(dataset, {
      folder: join(root, 'large'),
      force: true,
      memoryBytes,
      threads,
    });
    return [concept!.manifest.rows, concept!.manifest.contentHash, concept!.manifest.fileSha256];
  };
  const roomy = await run(2 * 1024 ** 3, 2);
  expect(roomy[0]).toBe(600_000);
  // groups and sort need more than 64 MiB: without a folder to spill to this ends out of memory
  expect(await run(48 * 1024 ** 2, 1)).toEqual(roomy);
});
