import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDataset, parquetPath } from '../../src/datasets/dataset.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import { homeAt, packageRoot } from '../../src/support/home.js';

/** The examples of the TypeScript API, run one after the other in one home. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-examples-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const example = async (name: string, ...words: readonly string[]): Promise<string> => {
  const file = join(packageRoot(), 'examples', name);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', file, join(folder, 'home'), ...words],
    { cwd: packageRoot() },
  );
  return stdout;
};

describe('the examples', () => {
  test('prepare.ts makes data and shows what an agent is given', async () => {
    const shown = await example('prepare.ts');
    expect(shown).toContain('20 rows in the reference');
    expect(shown).toContain('# MELD-Na score on the first ICU day');
    expect(shown.trimEnd().split('\n').at(-1)).toBe('.codex/skills/meld-score/SKILL.md');
  }, 300_000);

  test('campaign.ts plays two cells', async () => {
    const lines = (await example('campaign.ts')).trimEnd().split('\n');
    const [, ...rows] = lines.slice(0, -1);
    expect(rows).toHaveLength(2);
    // The agent that copies the reference has a reward of 1 in its one run.
    for (const row of rows) expect(row).toMatch(/^mimic-meld-24h +(no|with)-skill +1 +0 +1 /);
    expect(lines.at(-1)).toMatch(/^\(in every row: .*agent reference, .*protocol m4bench-1, /);
  }, 300_000);

  test('score-a-file.ts scores a file', async () => {
    await using session = await DuckSession.open({ threads: 1 });
    const dataset = await openDataset(homeAt(join(folder, 'home')), 'mimic-iv-synthetic');
    const stays = literal(parquetPath(dataset, 'mimiciv_icu', 'icustays'));
    const output = join(folder, 'output.csv');
    await session.run(
      `copy (select subject_id, hadm_id, stay_id, 99 as meld from read_parquet(${stays})) to ${literal(output)} (format csv, header)`,
    );
    expect(await example('score-a-file.ts', 'mimic-meld-24h', output)).toBe(
      'reward 0, strict pass false\nmeld: 0\n',
    );
    await writeFile(output, (await readFile(output, 'utf8')).split('\n')[0]!);
    expect(await example('score-a-file.ts', 'mimic-meld-24h', output)).toContain('strict pass false');
  }, 300_000);
});
