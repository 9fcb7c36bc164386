import { execFileSync } from 'node:child_process';
import { mkdir, open, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { literal } from '../duck/sql.js';
import { evaluateOutput } from './evaluate.js';
import { keyed, type ScoringCase, ScoringFixture } from './scoring-fixture.js';

let fixture: ScoringFixture;
let truthPath: string;
beforeAll(async () => {
  fixture = await ScoringFixture.open();
  truthPath = await fixture.write('truth.csv', truth);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const truth = keyed([1, 4], [2, 5]);
const judge = async (path: string, one: Partial<ScoringCase> = {}) =>
  (await fixture.evaluateFiles(one, truthPath, path)).evaluation;

describe('what is no regular file gets a verdict', () => {
  it('a symbolic link, even to a right output', async () => {
    const link = join(fixture.folder, 'link.csv');
    await symlink(truthPath, link);
    expect(await judge(link)).toMatchObject({ errorKind: 'output-not-a-file', reward: 0, rewardRobust: 0 });
  });

  it('a directory', async () => {
    const folder = join(fixture.folder, 'folder.csv');
    await mkdir(folder);
    expect(await judge(folder)).toMatchObject({
      errorKind: 'output-not-a-file',
      error: 'The output is a directory, not a regular file.',
    });
  });

  it('a device', async () => {
    expect((await judge('/dev/zero')).errorKind).toBe('output-not-a-file');
  });

  it('a named pipe without a writer', async () => {
    const pipe = join(fixture.folder, 'pipe.csv');
    execFileSync('mkfifo', [pipe]);
    expect((await judge(pipe)).errorKind).toBe('output-not-a-file');
  });

  it('a socket', async () => {
    const path = join(fixture.folder, 's');
    const server = createServer().listen(path);
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      expect((await judge(path)).errorKind).toBe('output-not-a-file');
    } finally {
      server.close();
    }
  });

  it('a path through a file', async () => {
    expect((await judge(join(truthPath, 'output.csv'))).errorKind).toBe('output-missing');
  });
});

describe('sizes', () => {
  it('a file over the limit is not read', async () => {
    const path = await fixture.write('large.csv', 'k,v\n');
    await truncate(path, 10 * 1024 ** 3);
    const started = performance.now();
    expect(await judge(path)).toMatchObject({ errorKind: 'output-too-large', reward: 0 });
    expect(performance.now() - started).toBeLessThan(1000);
    await rm(path);
  });

  it('a gzip bomb stops at the limit', async () => {
    const path = await fixture.write(
      'bomb.csv.gz',
      gzipSync(Buffer.concat([Buffer.from('k,v\n'), Buffer.alloc(20_000_000, '1,4\n')])),
    );
    const evaluation = await judge(path, { request: { limits: { fileBytes: 1_000_000 } } });
    expect(evaluation).toMatchObject({ errorKind: 'output-too-large' });
  });

  it('a million columns', async () => {
    const names = Array.from({ length: 1_000_000 }, (_unused, i) => `c${i}`);
    const cells = `${'7,'.repeat(1_000_000)}`;
    const output = `${names.join(',')},k,v\n${cells}1,4\n${cells}2,5\n`;
    const path = await fixture.write('wide.csv', output);
    expect(await judge(path)).toMatchObject({ reward: 1, errorKind: null });
    await rm(path);
  });

  it('a field of 20 MB in a column nobody needs', async () => {
    const path = await fixture.write('long.csv', `k,note,v\n1,${'x'.repeat(20_000_000)},4\n2,,5\n`);
    expect(await judge(path)).toMatchObject({ reward: 1, errorKind: null });
  });

  it('a field of 20 MB in a scored column', async () => {
    const path = await fixture.write('long.csv', `k,v\n1,4\n2,${'x'.repeat(20_000_000)}\n`);
    expect(await judge(path)).toMatchObject({
      errorKind: 'output-too-large',
      error: 'Data record 2 is longer than 1048576 bytes.',
    });
  });

  it('a line of 20 MB of blanks', async () => {
    const path = await fixture.write('blank.csv', `k,v\n1,4\n${' '.repeat(20_000_000)}\n`);
    expect((await judge(path)).errorKind).toBe('output-too-large');
  });

  it('scoring that takes too long is given up', async () => {
    const rows = Array.from({ length: 200_000 }, (_unused, i) => `${i},${i}\n`).join('');
    const path = await fixture.write('slow.csv', `k,v\n${rows}`);
    const evaluation = await judge(path, { request: { limits: { seconds: 0.001 } } });
    expect(evaluation).toMatchObject({ errorKind: 'limit-exceeded', reward: 0 });
    expect((await judge(truthPath)).reward).toBe(1);
  });
});

describe('bytes', () => {
  it.each([
    ['an empty file', '', 'output-empty'],
    ['zeros', Buffer.alloc(4096), 'key-column-missing'],
    ['invalid UTF-8', Buffer.from('k,v\n1,4\n2,5\xff\n', 'latin1'), 'output-unreadable'],
    [
      'half a character at the end',
      Buffer.from([...Buffer.from('k,v\n1,4\n2,'), 0xe2, 0x82]),
      'output-unreadable',
    ],
    ['gzip under a plain name', gzipSync('k,v\n1,4\n'), 'output-unreadable'],
    ['an open quote', 'k,v\n1,"4\n2,5\n', 'output-unreadable'],
    ['a surplus field', 'k,v\n1,4\n2,5,6\n', 'output-unreadable'],
  ] as const)('%s', async (_name, bytes, errorKind) => {
    const { evaluation } = await fixture.evaluate({ truth, output: bytes });
    expect(evaluation).toMatchObject({ errorKind, reward: 0, rewardRobust: 0, strictPass: false });
    expect(evaluation.error).toMatch(/^[A-Z].*\.$/);
  });

  it('names in an error are not those of the output', async () => {
    const { evaluation } = await fixture.evaluate({ truth, output: 'secret\u001b[31m,x\n1,2\n' });
    expect(evaluation.error).toBe('The output lacks key column k.');
  });
});

describe('gzip outputs', () => {
  const gz = { truth, outputName: 'output.csv.gz' };
  it('are read, several members too', async () => {
    const members = Buffer.concat([gzipSync('k,v\n1,4\n'), gzipSync('2,5\n')]);
    expect((await fixture.evaluate({ ...gz, output: members })).evaluation.reward).toBe(1);
  });

  it.each([
    ['cut short', gzipSync(truth).subarray(0, 20)],
    ['not gzip', Buffer.from(truth)],
    ['empty', Buffer.alloc(0)],
  ])('that are %s get a verdict', async (_name, output) => {
    const { evaluation } = await fixture.evaluate({ ...gz, output });
    expect(evaluation.errorKind).toMatch(/^output-(unreadable|empty)$/);
  });
});

describe('what a verdict says', () => {
  const errorOf = async (path: string, one: Partial<ScoringCase> = {}) => {
    const { errorKind, error } = await judge(path, one);
    return [errorKind, error];
  };

  it('of a file that is none', async () => {
    const link = join(fixture.folder, 'another-link.csv');
    await symlink(truthPath, link);
    expect(await errorOf(link)).toEqual([
      'output-not-a-file',
      'The output is a symbolic link, not a regular file.',
    ]);
    expect(await errorOf('/dev/null')).toEqual([
      'output-not-a-file',
      'The output is a device, pipe or socket, not a regular file.',
    ]);
    expect(await errorOf(`${truthPath}/x`)).toEqual(['output-missing', 'There is no output file.']);
    expect(await errorOf(`/${'x'.repeat(300)}`)).toEqual([
      'output-unreadable',
      expect.stringMatching(/^The output cannot be opened: ENAMETOOLONG.*\.$/),
    ]);
  });

  it('of sizes, compressed or not', async () => {
    const limits = { fileBytes: 11 };
    const plain = await fixture.write('output.csv', 'k,v\n1,4\n2,5\n');
    expect(await errorOf(plain, { request: { limits } })).toEqual([
      'output-too-large',
      'The output has 12 bytes; at most 11 are scored.',
    ]);
    expect(await errorOf(plain, { request: { limits: { fileBytes: 12 } } })).toEqual([null, null]);
    const bomb = gzipSync('1'.repeat(1000));
    const gzip = await fixture.write('output.csv.gz', bomb);
    expect(await errorOf(gzip, { request: { limits: { fileBytes: 999 } } })).toEqual([
      'output-too-large',
      'The output holds more than 999 bytes when decompressed.',
    ]);
    expect(await errorOf(gzip, { request: { limits: { fileBytes: 1000 } } })).toEqual([
      'key-column-missing',
      'The output lacks key column k.',
    ]);
  });

  it('of broken gzip, absent keys and time', async () => {
    const gzip = await fixture.write('output.csv.gz', 'no gzip');
    expect(await errorOf(gzip)).toEqual([
      'output-unreadable',
      'The gzip data are broken: incorrect header check.',
    ]);
    const keyless = await fixture.write('output.csv', 'a,b\n1,2\n');
    const reference = await fixture.write('truth.csv', 'k,l,v\n1,2,3\n');
    const { evaluation } = await fixture.evaluateFiles({ keys: ['k', 'l'] }, reference, keyless);
    expect(evaluation.error).toBe('The output lacks key column k, l.');
    expect(await errorOf(truthPath, { request: { limits: { seconds: 0 } } })).toEqual([
      'limit-exceeded',
      'Scoring took longer than 0 seconds and was given up.',
    ]);
  });
});

describe('an evaluation', () => {
  it('leaves nothing in the session it was given', async () => {
    const tables = async () => (await fixture.session.rows('from duckdb_tables() where temporary')).length;
    const before = await tables();
    const output = keyed([1, 4], [1, 9], [2, 5]);
    expect((await fixture.evaluate({ truth, output })).evaluation.duplicateKeys).toBe(1);
    expect((await fixture.evaluate({ truth, output: 'k,v\n1,4\n2,"' })).evaluation.errorKind).not.toBeNull();
    expect(await tables()).toBe(before);
  });

  it('that fails tells the kind of error, and nothing that the engine quotes', async () => {
    const failing = (message: string) =>
      new Proxy(fixture.session, {
        get: (session, name) => {
          if (name === 'rows') {
            return (sql: string) =>
              sql.includes('full join') ? Promise.reject(new Error(message)) : session.rows(sql);
          }
          const value: unknown = Reflect.get(session, name);
          return typeof value === 'function' ? value.bind(session) : value;
        },
      });
    const failed = (message: string) => judge(truthPath, { request: { session: failing(message) } });
    expect(await failed('Conversion Error: Could not convert string "secret" to INT32')).toMatchObject({
      errorKind: 'evaluator-failed',
      error: 'The output could not be scored: Conversion Error.',
      truthRows: 2,
      missingKeys: 2,
      nmae: { value: 1, columns: 1, coverage: 0 },
    });
    expect((await failed('secret')).error).toBe('The output could not be scored: unexpected error.');
    for (const message of ['IO Error: No space left on device', 'Out of Memory Error: could not allocate']) {
      expect(await failed(message)).toMatchObject({
        errorKind: 'limit-exceeded',
        error: 'Scoring the output needs more memory or disk than it may use.',
      });
    }
    expect((await failed('An IO Error')).errorKind).toBe('evaluator-failed');
  });

  it('opens a session of its own when it is given none', async () => {
    const request = {
      task: {
        name: 'some-task',
        contract: {
          keyColumns: ['k'],
          requiredColumns: ['k', 'v'],
          valueColumns: ['v'],
          scoredColumns: ['v'],
          tolerance: {},
          rowCoverageThreshold: 1,
          accuracyThreshold: 1,
        },
      },
      dataset: 'mimic-iv-demo',
      outputPath: truthPath,
      referencePath: truthPath,
    };
    for (const bounds of [{}, { threads: 1, memoryBytes: 256 * 1024 ** 2 }]) {
      const { evaluation } = await evaluateOutput({ ...request, ...bounds });
      expect(evaluation).toMatchObject({
        task: 'some-task',
        dataset: 'mimic-iv-demo',
        reward: 1,
        strictPass: true,
      });
    }
    const { evaluation } = await evaluateOutput({ ...request, memoryBytes: 1_000_000 });
    expect(evaluation).toMatchObject({
      errorKind: 'limit-exceeded',
      error: 'Scoring the output needs more memory or disk than it may use.',
    });
  });
});

describe('Parquet outputs', () => {
  const write = async (query: string) => {
    const path = join(fixture.folder, 'output.parquet');
    await fixture.session.run(`copy (${query}) to '${path}' (format parquet)`);
    return path;
  };

  it('are scored as if they had been written as CSV', async () => {
    const path = await write('select * from (values (1::bigint, 4::double), (2, 5)) t(k, v)');
    expect(await judge(path)).toMatchObject({ reward: 1, errorKind: null, outputRows: 2, strictPass: true });
  });

  it('of odd types get a verdict', async () => {
    const path = await write(
      "select 1 as k, {'a': [4]} as v, 5 as file_row_number union all select 2, null, 6",
    );
    expect(await judge(path)).toMatchObject({ reward: 0, errorKind: null, outputRows: 2 });
  });

  it('with times beyond the range of nanoseconds lose these cells', async () => {
    const stamps = keyed([1, '2150-01-02 10:30:00'], [2, '2150-01-03 11:00:00']);
    const path = await write(
      "select * from (values (1, timestamp '2150-01-02 10:30:00'), (2, timestamp '1600-01-01')) t(k, v)",
    );
    const reference = await fixture.write('truth.csv', stamps);
    const { evaluation } = await fixture.evaluateFiles({}, reference, path);
    expect(evaluation).toMatchObject({ errorKind: null, reward: 0.5, rewardRobust: 0.5, outputRows: 2 });
  });

  it('that are broken get a verdict', async () => {
    const path = await write('select 1 as k, 4 as v');
    const handle = await open(path, 'r+');
    await handle.write(Buffer.alloc(40, 0xff), 0, 40, 8);
    await handle.close();
    expect((await judge(path)).errorKind).toMatch(/^output-unreadable$|^evaluator-failed$/);
    await writeFile(path, 'PAR1 no PAR1');
    expect(await judge(path)).toMatchObject({
      errorKind: 'output-unreadable',
      error: 'The output is not a readable Parquet file.',
    });
  });

  it('with too many rows are not read', async () => {
    const path = await write('select 1 as k, 4 as v union all select 2, 5');
    expect(await judge(path, { request: { limits: { rows: 1 } } })).toMatchObject({
      errorKind: 'output-too-large',
      error: 'The output has 2 rows; at most 1 are scored.',
    });
    expect((await judge(path, { request: { limits: { rows: 2 } } })).reward).toBe(1);
  });

  it('have empty text as null, and odd numbers as text', async () => {
    const reference = await fixture.write('truth.csv', 'k,v,w\n1,,1000\n2,b,5\n3,c,6\n');
    const path = await write("from (values (1, '', '1_000'), (2, 'b', '5'), (3, 'c', '6')) t(k, v, w)");
    const { evaluation } = await fixture.evaluateFiles({ values: ['v', 'w'] }, reference, path);
    expect(Object.values(evaluation.columns).map(({ matched }) => matched)).toEqual([3, 2]);
  });

  it('as references hold what quoted fields of a CSV mean', async () => {
    const label = 'a, "b"\r\n\\1\\';
    const reference = join(fixture.folder, 'reference.parquet');
    await fixture.session.run(
      `copy (from (values (1, ${literal(label)}), (2, 'x'))  t(k, v)) to '${reference}' (format parquet)`,
    );
    const output = await fixture.write('output.csv', `k,v\n1,"${label.replaceAll('"', '""')}"\n2,x\n`);
    const { evaluation } = await fixture.evaluateFiles({}, reference, output);
    expect(evaluation).toMatchObject({ errorKind: null, reward: 1 });
  });
});
