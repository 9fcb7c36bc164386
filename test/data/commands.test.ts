import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDataset, parquetPath } from '../../src/datasets/dataset.js';
import { synthesizeDataset } from '../../src/datasets/synthesize.js';
import { homeAt } from '../../src/support/home.js';
import { m4bench } from '../main-job/cli.js';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'm4bench-data-commands-'));
  await synthesizeDataset(homeAt(home), { kind: 'eicu', stays: 6, seed: 'c', threads: 1 });
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** A file of one measure: the share of women, which differs by nothing from itself, and a published figure. */
async function measures(published: string): Promise<string> {
  const file = join(home, 'measures.toml');
  const entry = `{ name = "woman", published = { share = { value = ${published}, within = 0.01 } } }`;
  await writeFile(
    file,
    `title = "t"\n[[series]]\ngroup = "g"\nreason = "r"\ndistance = "ks"\nbound = 0.1\nsql = "select 1 as value from eicu_crd.patient"\nmeasures = [${entry}]\n`,
  );
  return file;
}

describe('m4bench data', () => {
  test('compare ends with exit code 1 on a broken bound, only with --check', async () => {
    const words = ['data', 'compare', 'eicu-synthetic', 'eicu-synthetic', '--json', '--measures'];
    const sound = await m4bench(home, [...words, await measures('1.0'), '--check']);
    expect(sound.exitCode, sound.stderr).toBe(0);
    expect(JSON.parse(sound.stdout)).toMatchObject({ measures: [{ value: 0, isWithin: true }] });
    const broken = await measures('0.5');
    expect((await m4bench(home, [...words, broken])).exitCode).toBe(0);
    expect((await m4bench(home, [...words, broken, '--check'])).exitCode).toBe(1);
  }, 120_000);

  test('import leaves the rows as read when asked to, and refuses a layout that it does not know', async () => {
    const from = join(home, 'datasets', 'eicu-synthetic', 'eicu_crd');
    const words = [
      'data',
      'import',
      'copy',
      '--kind',
      'eicu',
      '--from',
      from,
      '--no-verify',
      '--json',
      '--layout',
    ];
    const unknown = await m4bench(home, [...words, 'sorted']);
    expect(unknown.exitCode).toBe(2);
    expect(unknown.stderr).toContain('by-item, as-read');
    const imported = await m4bench(home, [...words, 'as-read']);
    expect(imported.exitCode, imported.stderr).toBe(0);
    expect(JSON.parse(imported.stdout)).toMatchObject({ options: { layout: 'as-read' } });
  }, 120_000);

  test('verify ends with exit code 1 when a file was changed', async () => {
    expect((await m4bench(home, ['data', 'verify', 'eicu-synthetic'])).exitCode).toBe(0);
    const dataset = await openDataset(homeAt(home), 'eicu-synthetic');
    await appendFile(parquetPath(dataset, 'eicu_crd', 'hospital'), 'x');
    const changed = await m4bench(home, ['data', 'verify', 'eicu-synthetic']);
    expect(changed.exitCode).toBe(1);
    expect(changed.stdout).toContain('NOT SOUND');
  }, 120_000);

  test('download of a credentialed release without a user name says what is missing', async () => {
    const { exitCode, stderr } = await m4bench(home, ['data', 'download', 'mimic-iv']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--user');
  }, 60_000);
});
