import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/support/home.js';
import { type CliCall, m4bench } from '../main-job/cli.js';

/** The commands as a user types them, on generated data and without isolation. */
let root: string;
let home: string;

const call = async (...words: string[]): Promise<CliCall> => m4bench(home, words);

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-evidence-cli-'));
  home = join(root, 'home');
  expect((await call('data', 'synthesize', 'mimic-iv', '--stays', '20', '--seed', 'evidence')).exitCode).toBe(
    0,
  );
  const query = join(packageRoot(), 'benchmark', 'quickstart', '{task}', 'naive.sql');
  const words = ['campaign', 'run', 'night', '--agent', 'sql', '--sql', query, '--sandbox', 'process'];
  const made = await call(...words, '--task', 'mimic-meld-24h-raw', '--dataset', 'mimic-iv-synthetic');
  expect(made.stderr).not.toContain('error');
  expect(made.exitCode).toBe(0);
});
afterAll(() => rm(root, { recursive: true, force: true }));

test('key, sign, pack, verify, import, analyze and export follow one another', async () => {
  const key = join(root, 'me.pem');
  expect((await call('evidence', 'key', key)).exitCode).toBe(0);
  expect((await call('evidence', 'sign', 'night', '--key', key)).exitCode).toBe(0);
  const archive = join(root, 'night.tar.zst');
  const packed = await call('evidence', 'pack', 'night', '--out', archive, '--json');
  expect(packed.stderr).not.toContain('error');
  expect(JSON.parse(packed.stdout)).toMatchObject({
    mode: 'public',
    runs: { planned: 2, packaged: 2, missing: [] },
  });

  const verified = await call('evidence', 'verify', archive, '--public-key', `${key}.pub`, '--json');
  expect(JSON.parse(verified.stdout)).toMatchObject({
    good: true,
    problems: [],
    campaign: 'night',
    scores: 2,
  });
  expect(verified.exitCode).toBe(0);

  // The plan names the query by a path of this machine; it is published without.
  expect(
    (await readFile(join(home, 'campaigns', 'night', 'campaign.json'), 'utf8')).includes(packageRoot()),
  ).toBe(true);

  const imported = await call('evidence', 'import', archive, '--name', 'theirs');
  expect(imported.stdout).toContain('campaign theirs: 2 runs, read-only');
  const [own, theirs] = await Promise.all(
    ['night', 'theirs'].map(async (name) =>
      JSON.parse((await call('analyze', name, '--no-figures', '--json')).stdout),
    ),
  );
  expect(theirs.tables['skill-effect']).toEqual(own.tables['skill-effect']);
  expect(theirs.tables['skill-effect'].rows.length).toBeGreaterThan(0);
  const plan = await readFile(join(home, 'campaigns', 'theirs', 'campaign.json'), 'utf8');
  expect(plan).not.toContain(packageRoot());
  expect(plan).toContain('setupHash');

  const logs = join(root, 'logs');
  expect((await call('export', 'inspect', 'theirs', '--out', logs)).exitCode).toBe(0);
  expect(await readdir(logs)).toHaveLength(2);
}, 180_000);

test('verify ends with 1 and names the archive, and bad use ends with 2', async () => {
  const archive = join(root, 'night.tar.zst');
  const bytes = await readFile(archive);
  bytes[bytes.length >> 1]! ^= 0x10;
  const damaged = join(root, 'damaged.tar.zst');
  await writeFile(damaged, bytes);
  await writeFile(`${damaged}.sha256`, await readFile(`${archive}.sha256`, 'utf8'));
  const verified = await call('evidence', 'verify', damaged);
  expect(verified.exitCode).toBe(1);
  expect(verified.stdout).toContain('ARCHIVE_DIFFERS damaged.tar.zst');
  expect(verified.stdout).toContain('NOT good');
  const missing = await call('evidence', 'verify', join(root, 'nowhere.tar.zst'));
  expect(missing.exitCode).toBe(2);
  expect(missing.stderr).toContain('EVIDENCE_UNREADABLE');
  expect((await call('evidence', 'pack', 'unknown')).exitCode).toBe(2);
}, 120_000);
