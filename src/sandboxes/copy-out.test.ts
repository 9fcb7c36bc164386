import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CopyOutLimits, copyOutOf } from './copy-out.js';

const ROOMY: CopyOutLimits = { maxFileBytes: 1_000_000, maxTotalBytes: 10_000_000 };
const isRoot = process.getuid?.() === 0;

let folder: string;
let work: string;
let into: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-copy-'));
  work = join(folder, 'work');
  into = join(folder, 'into');
  mkdirSync(work);
  writeFileSync(join(folder, 'secret'), 'secret');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const refusedReasons = async (limits: CopyOutLimits = ROOMY): Promise<Readonly<Record<string, string>>> => {
  const report = await copyOutOf(work, into, limits);
  return Object.fromEntries(report.refused.map(({ path, reason }) => [path, reason]));
};

describe('copying out of a work folder', () => {
  it('brings regular files of any depth, byte for byte, and no empty folders', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
    mkdirSync(join(work, 'a/b'), { recursive: true });
    mkdirSync(join(work, 'empty'));
    writeFileSync(join(work, 'a/b/raw'), bytes);
    writeFileSync(join(work, 'output.csv'), '');
    writeFileSync(join(work, 'déjà vu 漢.txt'), 'x');
    const report = await copyOutOf(work, into, ROOMY);
    expect(report).toEqual({
      files: [
        { path: 'a/b/raw', bytes: 256 },
        { path: 'déjà vu 漢.txt', bytes: 1 },
        { path: 'output.csv', bytes: 0 },
      ],
      refused: [],
    });
    expect(readFileSync(join(into, 'a/b/raw'))).toEqual(bytes);
    expect(readdirSync(into).sort()).toEqual(['a', 'déjà vu 漢.txt', 'output.csv']);
  });

  it('drops modes that could harm', async () => {
    writeFileSync(join(work, 'run.sh'), '#!/bin/sh\n');
    chmodSync(join(work, 'run.sh'), 0o4777);
    await copyOutOf(work, into, ROOMY);
    expect(execFileSync('stat', ['-c', '%a', join(into, 'run.sh')], { encoding: 'utf8' })).toBe('644\n');
  });

  it('takes only what is named, a folder with all it holds, and passes over what is absent', async () => {
    mkdirSync(join(work, 'notes'));
    for (const name of ['output.csv', 'other.txt', 'notes/one', 'notes/two'])
      writeFileSync(join(work, name), 'x');
    const report = await copyOutOf(work, into, { ...ROOMY, only: ['output.csv', 'notes', 'missing.csv'] });
    expect(report.files.map(({ path }) => path)).toEqual(['output.csv', 'notes/one', 'notes/two']);
    expect(report.refused).toEqual([]);
  });

  it('follows no link: to a file, a folder, upwards, dangling, or half-way along a named path', async () => {
    symlinkSync(join(folder, 'secret'), join(work, 'output.csv'));
    symlinkSync(folder, join(work, 'folder'));
    symlinkSync('..', join(work, 'up'));
    symlinkSync('nowhere', join(work, 'dangling'));
    expect(await refusedReasons()).toEqual({
      'output.csv': 'symbolic link',
      folder: 'symbolic link',
      up: 'symbolic link',
      dangling: 'symbolic link',
    });
    const only = ['output.csv', 'folder/secret', 'up/secret', 'dangling'];
    const report = await copyOutOf(work, into, { ...ROOMY, only });
    expect(report.files).toEqual([]);
    expect(report.refused.map(({ path }) => path)).toEqual(only);
    expect(readdirSync(into)).toEqual([]);
  });

  it('refuses names that leave the folder', async () => {
    const only = ['../secret', '/etc/passwd', 'a/../../secret', '', '.', './output.csv', 'a//b', 'a/'];
    const report = await copyOutOf(work, into, { ...ROOMY, only });
    expect(report.files).toEqual([]);
    expect(report.refused).toHaveLength(only.length);
  });

  it('refuses hard links, also to files within the folder', async () => {
    linkSync(join(folder, 'secret'), join(work, 'output.csv'));
    writeFileSync(join(work, 'a'), 'x');
    linkSync(join(work, 'a'), join(work, 'b'));
    expect(await refusedReasons()).toEqual({ 'output.csv': 'hard link', a: 'hard link', b: 'hard link' });
    const named = await copyOutOf(work, into, { ...ROOMY, only: ['output.csv'] });
    expect(named.files).toEqual([]);
  });

  it('does not wait for a pipe, talk to a socket or read a device', async () => {
    execFileSync('mkfifo', [join(work, 'pipe')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(work, 'socket'), resolve));
    try {
      if (isRoot) execFileSync('mknod', [join(work, 'zero'), 'c', '1', '5']);
      const expected = { pipe: 'named pipe', socket: 'socket', ...(isRoot ? { zero: 'device' } : {}) };
      expect(await refusedReasons()).toEqual(expected);
      const named = await copyOutOf(work, into, { ...ROOMY, only: ['pipe', 'socket'] });
      expect(named.refused).toEqual([
        { path: 'pipe', reason: 'named pipe' },
        { path: 'socket', reason: 'socket or device' },
      ]);
    } finally {
      server.close();
    }
  });

  it('keeps within the sizes, one by one and together', async () => {
    for (const name of ['a', 'b', 'c']) writeFileSync(join(work, name), 'x'.repeat(400));
    writeFileSync(join(work, 'large'), 'x'.repeat(1001));
    const report = await copyOutOf(work, into, { maxFileBytes: 1000, maxTotalBytes: 900 });
    expect(report.files.map(({ path }) => path)).toEqual(['a', 'b']);
    expect(report.refused).toEqual([
      { path: 'c', reason: 'files together larger than 900 bytes' },
      { path: 'large', reason: 'larger than 1000 bytes' },
    ]);
  });

  it('refuses a sparse file that claims gigabytes', async () => {
    writeFileSync(join(work, 'output.csv'), '');
    truncateSync(join(work, 'output.csv'), 8 * 1024 ** 3);
    expect(await refusedReasons({ maxFileBytes: 16 * 1024 ** 3, maxTotalBytes: 16 * 1024 ** 3 })).toEqual({
      'output.csv': 'sparse file',
    });
    expect(await refusedReasons()).toEqual({ 'output.csv': 'larger than 1000000 bytes' });
  });

  it('refuses names with control or invisible characters and bytes that are no text, and reports them harmlessly', async () => {
    for (const name of ['new\nline', '\u001b[2Jescape', 'right\u202eleft', 'zero\u200bwidth'])
      writeFileSync(join(work, name), 'x');
    writeFileSync(Buffer.concat([Buffer.from(`${work}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'x');
    const report = await copyOutOf(work, into, ROOMY);
    expect(report.files).toEqual([]);
    expect(report.refused.map(({ path }) => path).sort()).toEqual([
      '\\u{1b}[2Jescape',
      'f\ufffd\ufffd',
      'new\\u{a}line',
      'right\\u{202e}left',
      'zero\\u{200b}width',
    ]);
    expect(readdirSync(into)).toEqual([]);
  });

  it('ends at a depth and at a number of entries', async () => {
    mkdirSync(join(work, Array.from({ length: 60 }, () => 'd').join('/')), { recursive: true });
    const reasons = Object.values(await refusedReasons());
    expect(reasons).toEqual(['deeper than 40 folders']);
  });

  it.skipIf(isRoot)('reports what cannot be read', async () => {
    mkdirSync(join(work, 'closed'));
    writeFileSync(join(work, 'output.csv'), 'x', { mode: 0o000 });
    chmodSync(join(work, 'closed'), 0o000);
    expect(await refusedReasons()).toEqual({ closed: 'not readable', 'output.csv': 'not readable' });
    chmodSync(join(work, 'closed'), 0o700);
  });
});
