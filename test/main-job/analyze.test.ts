import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { m4bench, testData } from './cli.js';

const data = testData();
if (data === undefined)
  console.warn('The published runs are not present (M4BENCH_TEST_DATA): their analysis is skipped.');

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'm4bench-analyze-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe.skipIf(data === undefined)('analyze --import published', () => {
  const source = (): readonly string[] => [
    '--import',
    'published',
    join(data!, 'data', 'published-runs'),
    '--rng',
    'published',
  ];

  test('prints the headline of the paper and writes tables and figures', async () => {
    const out = join(home, 'paper');
    const call = await m4bench(home, ['analyze', ...source(), '--out', out, '--json']);
    expect(call.stderr).toBe('');
    expect(call.exitCode).toBe(0);
    const { tables } = JSON.parse(call.stdout) as {
      tables: Record<string, { printed: Record<string, string>[] }>;
    };
    const text = JSON.stringify(tables['table03-native-skill-effect']!.printed);
    // Table 3 of the paper: 0.703 without and 0.839 with skill, delta 0.136 [0.085, 0.191], 26 of 28 tasks.
    for (const printed of ['0.703', '0.839', '0.136 [0.085, 0.191]', '26/28'])
      expect(text).toContain(printed);
    for (const file of [
      'report.md',
      'tables/table03-native-skill-effect.tex',
      'figures/figure02-skill-delta-forest.svg',
    ]) {
      expect(existsSync(join(out, file)), file).toBe(true);
    }
  });

  test('shows how far the headline depends on the choices', async () => {
    const call = await m4bench(home, ['analyze', ...source(), '--sensitivity', '--no-figures']);
    expect(call.exitCode).toBe(0);
    // Declared value columns alone give 0.156 instead of 0.136.
    expect(call.stdout).toContain('0.156');
  });
});

describe('analyze, wrong use', () => {
  test.each([
    [['analyze', 'nothing-here'], 'CAMPAIGN_NOT_FOUND'],
    [['analyze'], 'NO_CAMPAIGN'],
    [['analyze', '--import', 'unknown'], 'IMPORT_UNKNOWN'],
    [['analyze', 'one', '--compare'], 'COMPARE_TWO'],
  ])('%j is one clear error', async (words, code) => {
    const call = await m4bench(home, words);
    expect(call.exitCode).toBe(2);
    expect(call.stderr).toContain(`error ${code}`);
    expect(call.stderr.trim().split('\n')).toHaveLength(2);
  });
});
