import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDataset } from '../../src/datasets/dataset.js';
import { type DownloadOptions, downloadRelease } from '../../src/datasets/download.js';
import { importDataset } from '../../src/datasets/import.js';
import { fetchRemoteFile, type Transfer } from '../../src/datasets/remote-file.js';
import { loadSourceSchema } from '../../src/datasets/source-schema.js';
import { M4BenchError } from '../../src/support/errors.js';
import { sha256 } from '../../src/support/hashing.js';
import { homeAt } from '../../src/support/home.js';
import { type Fault, PhysioNetServer } from './physionet-server.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-download-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const quick: Transfer = { stallMilliseconds: 300, pauseMilliseconds: 5, tries: 3 };

async function failureOf(run: Promise<unknown>): Promise<M4BenchError> {
  const thrown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof M4BenchError)) throw new Error(`Expected an M4BenchError, got ${String(thrown)}.`);
  return thrown;
}

describe('one file', () => {
  const content = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 251));
  const name = 'demo/1.0/lab.csv.gz';

  /** Serves the file with these faults, fetches it, and tells what was asked for and what came. */
  async function fetchWith(
    faults: readonly Fault[],
    options: { readonly part?: Buffer; readonly transfer?: Transfer } = {},
  ) {
    await using server = await PhysioNetServer.start({
      files: new Map([[name, content]]),
      faults: new Map([[name, faults]]),
    });
    const path = join(root, 'lab.csv.gz');
    if (options.part !== undefined) await writeFile(`${path}.part`, options.part);
    const run = fetchRemoteFile(
      { file: 'lab.csv.gz', url: new URL(name, server.address), path, sha256: sha256(content) },
      options.transfer ?? quick,
    );
    const failure = await run.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const files = (await readdir(root)).sort();
    const isWhole = files.includes('lab.csv.gz') && (await readFile(path)).equals(content);
    return { failure, files, isWhole, ranges: server.rangesOf(name) };
  }

  test('comes whole, and leaves no part file', async () => {
    expect(await fetchWith([])).toEqual({
      failure: undefined,
      files: ['lab.csv.gz'],
      isWhole: true,
      ranges: [undefined],
    });
  });

  test('goes on where a dropped connection ended, again and again', async () => {
    const drop: Fault = { kind: 'drop', afterBytes: 40_000 };
    const { isWhole, ranges } = await fetchWith([drop, drop, drop, drop]);
    expect(isWhole).toBe(true);
    expect(ranges.length).toBeGreaterThanOrEqual(5);
    expect(ranges[0]).toBeUndefined();
    // A connection that is cut may lose bytes on the way, so each start is at most 40,000 further than the last one.
    const starts = ranges.slice(1).map((range) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1]));
    for (const [index, start] of starts.entries()) {
      expect(start).toBeGreaterThan(index === 0 ? 0 : starts[index - 1]!);
      expect(start).toBeLessThanOrEqual(40_000 * (index + 1));
    }
  });

  test('goes on from a part file that an earlier process left', async () => {
    const { isWhole, ranges } = await fetchWith([], { part: content.subarray(0, 150_000) });
    expect(isWhole).toBe(true);
    expect(ranges).toEqual(['bytes=150000-']);
  });

  test('starts over cleanly where the server answers 200 to a range', async () => {
    const { isWhole, ranges } = await fetchWith([{ kind: 'no ranges' }], { part: Buffer.alloc(150_000, 1) });
    expect(isWhole).toBe(true);
    expect(ranges).toEqual(['bytes=150000-']);
  });

  test('starts over where the server sends another range', async () => {
    const { isWhole, ranges } = await fetchWith([{ kind: 'wrong range' }], { part: content.subarray(0, 9) });
    expect(isWhole).toBe(true);
    expect(ranges).toEqual(['bytes=9-', undefined]);
  });

  test('416 with a whole part file is the end', async () => {
    const { isWhole, ranges } = await fetchWith([], { part: content });
    expect(isWhole).toBe(true);
    expect(ranges).toEqual(['bytes=200000-']);
  });

  test('416 with a part file that is too long starts over', async () => {
    const { isWhole, ranges } = await fetchWith([], { part: Buffer.concat([content, content]) });
    expect(isWhole).toBe(true);
    expect(ranges).toEqual(['bytes=400000-', undefined]);
  });

  test('a stall is noticed and the rest fetched', async () => {
    const started = performance.now();
    const { isWhole, ranges } = await fetchWith([{ kind: 'stall', afterBytes: 1000 }]);
    expect(isWhole).toBe(true);
    expect(ranges).toEqual([undefined, 'bytes=1000-']);
    expect(performance.now() - started).toBeGreaterThan(300);
  });

  test('wrong bytes in the part file are found out and fetched anew', async () => {
    const { isWhole, ranges } = await fetchWith([], { part: Buffer.alloc(1000, 1) });
    expect(isWhole).toBe(true);
    expect(ranges).toEqual(['bytes=1000-', undefined]);
  });

  test('a server that keeps sending wrong bytes is given up, nothing is left', async () => {
    const { failure, files } = await fetchWith([{ kind: 'wrong bytes' }, { kind: 'wrong bytes' }]);
    expect(failure).toMatchObject({ code: 'DOWNLOAD_WRONG_BYTES', party: 'environment' });
    expect((failure as M4BenchError).message).toContain('lab.csv.gz');
    expect(files).toEqual([]);
  });

  test.each([
    [429, '0'],
    [503, undefined],
    [500, 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ])('%i is waited out', async (status, retryAfter) => {
    const fault: Fault = { kind: 'status', status, ...(retryAfter === undefined ? {} : { retryAfter }) };
    expect((await fetchWith([fault, fault])).isWhole).toBe(true);
  });

  test('429 is waited out for as long as the server asks', async () => {
    const started = performance.now();
    expect((await fetchWith([{ kind: 'status', status: 429, retryAfter: '1' }])).isWhole).toBe(true);
    expect(performance.now() - started).toBeGreaterThan(990);
  });

  test('a server that never recovers is given up after so many tries, and what came is kept', async () => {
    const down: Fault = { kind: 'status', status: 503 };
    const { failure, files, ranges } = await fetchWith([{ kind: 'drop', afterBytes: 50 }, down, down, down]);
    expect(failure).toMatchObject({ code: 'DOWNLOAD_FAILED' });
    expect((failure as M4BenchError).message).toContain('503');
    expect(files).toEqual(['lab.csv.gz.part']);
    expect(ranges).toHaveLength(3);
  });

  test.each([
    [401, 'DOWNLOAD_LOGIN_WRONG'],
    [403, 'DOWNLOAD_NOT_ALLOWED'],
    [404, 'DOWNLOAD_NOT_FOUND'],
  ])('%i ends at once with %s', async (status, code) => {
    const { failure, ranges } = await fetchWith([{ kind: 'status', status }]);
    expect(failure).toMatchObject({ code });
    expect(ranges).toHaveLength(1);
  });

  test('stopping by the user keeps the part', async () => {
    const abort = new AbortController();
    const { failure, files } = await fetchWith([{ kind: 'stall', afterBytes: 1000 }], {
      transfer: { ...quick, stallMilliseconds: 60_000, signal: abort.signal, onBytes: () => abort.abort() },
    });
    expect(failure).toMatchObject({ code: 'INTERRUPTED' });
    expect(files).toEqual(['lab.csv.gz.part']);
  });
});

/** A whole eICU release of header lines. */
async function eicuRelease(
  path: string,
  options: { readonly hasList: boolean },
): Promise<Map<string, Buffer>> {
  const schema = await loadSourceSchema('eicu');
  const files = new Map<string, Buffer>();
  for (const table of schema.tables) {
    const header = table.columns.map((column) => column.name).join(',');
    // PhysioNet spells these two in camel case.
    const spelled = table.name.replace(/^(admission|infusion)drug$/, '$1Drug');
    files.set(`${path}/${spelled}.csv.gz`, gzipSync(`${header}\n`));
  }
  files.set(`${path}/LICENSE.txt`, Buffer.from('Licence text'));
  files.set(`${path}/sqlite/eicu.sqlite3.gz`, Buffer.from('not wanted'));
  if (options.hasList) {
    const lines = [...files].map(([file, bytes]) => `${sha256(bytes)} ${file.slice(path.length + 1)}\n`);
    files.set(`${path}/SHA256SUMS.txt`, Buffer.from(lines.join('')));
  }
  return files;
}

describe('a credentialed release', () => {
  const path = 'eicu-crd/2.0';
  const login = { user: 'someone', password: 'pass:wörd' };
  const credentialed = { below: path, user: 'someone', password: 'pass' };

  async function serverWith(hasList: boolean, password = 'secret-7'): Promise<PhysioNetServer> {
    return PhysioNetServer.start({
      files: await eicuRelease(path, { hasList }),
      credentialed: { ...credentialed, password },
      unsigned: ['unsigned'],
    });
  }
  const download = (server: PhysioNetServer, options: Partial<DownloadOptions> = {}) =>
    downloadRelease(homeAt(join(root, 'home')), {
      name: 'eicu',
      mirror: server.address,
      login: async () => ({ user: 'someone', password: 'secret-7' }),
      transfer: quick,
      ...options,
    });

  test.each([true, false])('arrives whole and imports (published checksums: %s)', async (hasList) => {
    await using server = await serverWith(hasList);
    const done = await download(server);
    expect(done).toMatchObject({
      folder: join(root, 'home', 'downloads', 'eicu-crd-2.0'),
      files: hasList ? 33 : 31,
      kept: 0,
    });
    expect(done.licence).toContain('data use agreement');
    const names = await readdir(done.folder);
    expect(names).toContain('admissionDrug.csv.gz');
    expect(names).not.toContain('sqlite');
    expect(names.filter((name) => name.endsWith('.part'))).toEqual([]);
    if (!hasList) return;
    expect(await readFile(join(done.folder, 'LICENSE.txt'), 'utf8')).toBe('Licence text');
    const home = homeAt(join(root, 'home'));
    await importDataset(home, { name: 'eicu', from: done.folder, verify: false });
    const dataset = await openDataset(home, 'eicu');
    expect(dataset.unverifiedReasons.filter((reason) => reason.includes('SHA-256'))).toEqual([]);
    expect(await readFile(join(dataset.folder, 'LICENSE.txt'), 'utf8')).toBe('Licence text');
  });

  test('a second time only looks: every file is kept, a damaged one is fetched again', async () => {
    await using server = await serverWith(true);
    const { folder } = await download(server);
    await writeFile(join(folder, 'lab.csv.gz'), 'damaged');
    const before = server.seen.length;
    expect((await download(server)).kept).toBe(32);
    const fetched = server.seen.slice(before).filter((request) => request.method === 'GET');
    expect(fetched.map((request) => request.path)).toEqual([`${path}/SHA256SUMS.txt`, `${path}/lab.csv.gz`]);
  });

  test('a wrong password and an unsigned agreement each have their own error, without the password in it', async () => {
    await using server = await serverWith(true, 'pass');
    const wrong = await failureOf(download(server, { login: async () => login }));
    expect(wrong.code).toBe('DOWNLOAD_LOGIN_WRONG');
    const unsigned = await failureOf(
      download(server, { login: async () => ({ ...login, user: 'unsigned' }) }),
    );
    expect(unsigned.code).toBe('DOWNLOAD_NOT_ALLOWED');
    expect(unsigned.remedy).toContain('data use agreement');
    for (const text of [wrong, unsigned].map(
      (failure) => `${failure.message}${failure.remedy}${failure.stack}`,
    )) {
      expect(text).not.toContain(login.password);
      expect(text).not.toContain(Buffer.from(`someone:${login.password}`).toString('base64'));
    }
  });

  test('neither the user name nor the password is written anywhere', async () => {
    await using server = await serverWith(true);
    const { folder } = await download(server);
    for (const name of await readdir(folder)) {
      const content = await readFile(join(folder, name));
      expect([name, content.includes('secret-7'), content.includes('someone')]).toEqual([name, false, false]);
    }
  });

  test('the password is sent to no server that is reached in the open, and asked for only then', async () => {
    const failure = await failureOf(
      downloadRelease(homeAt(root), {
        name: 'eicu',
        mirror: 'http://physionet.invalid/files/',
        login: () => Promise.reject(new Error('must not be asked')),
      }),
    );
    expect(failure.code).toBe('DOWNLOAD_UNSAFE');
  });

  test('without a login it is refused before anything is asked of the server', async () => {
    await using server = await serverWith(true);
    const { login: _, ...anonymous } = { name: 'eicu', mirror: server.address, login };
    expect((await failureOf(downloadRelease(homeAt(root), anonymous))).code).toBe('DOWNLOAD_LOGIN_MISSING');
    expect(server.seen).toEqual([]);
  });
});

describe('an open demo', () => {
  const path = 'mimic-iv-demo/2.2';

  test('is compared with the embedded checksums, whatever list the server has; no login is sent', async () => {
    const schema = await loadSourceSchema('mimic-iv');
    const files = new Map<string, Buffer>();
    for (const file of Object.keys(schema.checksums['demo-2.2']!))
      files.set(`${path}/${file}`, Buffer.from(`forged ${file}`));
    const lines = [...files].map(([file, bytes]) => `${sha256(bytes)} ${file.slice(path.length + 1)}\n`);
    files.set(`${path}/SHA256SUMS.txt`, Buffer.from(lines.join('')));
    await using server = await PhysioNetServer.start({ files });
    const failure = await failureOf(
      downloadRelease(homeAt(root), {
        name: 'mimic-iv-demo',
        mirror: server.address,
        transfer: quick,
        parallel: 1,
      }),
    );
    expect(failure.code).toBe('DOWNLOAD_WRONG_BYTES');
    expect(server.seen.every((request) => request.authorization === undefined)).toBe(true);
  });
});

describe('wrong use', () => {
  test.each([
    [{ name: 'mimic-iii' }, 'DATASET_KIND_UNKNOWN'],
    [{ name: 'eicu-synthetic' }, 'DATASET_KIND_UNKNOWN'],
    [{ name: 'mimic-iv', release: '1.0' }, 'RELEASE_UNKNOWN'],
    [{ name: 'mimic-iv', release: 'demo-2.2' }, 'RELEASE_UNKNOWN'],
    [{ name: 'mimic-iv-demo', release: '3.1' }, 'RELEASE_UNKNOWN'],
    [{ name: 'eicu-demo', mirror: 'not an address' }, 'MIRROR_INVALID'],
    [{ name: 'eicu-demo', mirror: 'https://user:word@mirror.example/' }, 'MIRROR_INVALID'],
    [{ name: 'eicu-demo', mirror: 'file:///files/' }, 'MIRROR_INVALID'],
  ])('%j is refused with %s', async (options, code) => {
    const failure = await failureOf(downloadRelease(homeAt(root), options));
    expect(failure.code).toBe(code);
    expect(failure.message).not.toContain('word@');
  });

  test('a list that leads out of the folder is refused, nothing is written outside', async () => {
    const files = new Map([
      ['eicu-crd/2.0/SHA256SUMS.txt', Buffer.from(`${'a'.repeat(64)} ../../escape.csv.gz\n`)],
    ]);
    await using server = await PhysioNetServer.start({ files });
    await mkdir(join(root, 'home'));
    const failure = await failureOf(
      downloadRelease(homeAt(join(root, 'home')), {
        name: 'eicu',
        mirror: server.address,
        login: async () => ({ user: 'a', password: 'b' }),
        transfer: quick,
      }),
    );
    expect(failure.code).toBe('DOWNLOAD_LIST_INVALID');
    expect(await readdir(root)).toEqual(['home']);
  });
});
