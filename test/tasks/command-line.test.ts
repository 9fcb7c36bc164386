import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { benchmarkFolder, packageRoot } from '../../src/support/home.js';
import { m4bench } from '../main-job/cli.js';

/** `tasks …` and `skills …` as a user calls them. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A family of the user's own with a table name in its instruction, on the fifth line. */
async function writeOwnFamily(root: string): Promise<string> {
  await mkdir(join(root, 'tasks'), { recursive: true });
  await mkdir(join(root, 'references'));
  await writeFile(
    join(root, 'family.toml'),
    'title = "Length of stay"\nkind = "duration"\n\n[mimic-iv]\nreference = "stay-days"\ngrain = "one row per ICU stay"\nkey_columns = ["stay_id"]\nrequired_columns = ["stay_id", "los"]\nvalue_columns = ["los"]\n',
  );
  await writeFile(
    join(root, 'tasks', 'own-stay-days.toml'),
    'title = "Days in the ICU"\ndatabase = "mimic-iv"\nmode = "standard"\ndifficulty = "medium"\n',
  );
  const instruction = join(root, 'tasks', 'own-stay-days.md');
  await writeFile(
    instruction,
    '# Days in the ICU\n\nWork out the length of every ICU stay in days.\n\nIt is in icustays already.\n\nWrite `{output_path}` with the columns\n\n`stay_id`, `los`\n',
  );
  await writeFile(
    join(root, 'references', 'stay-days.sql'),
    'select stay_id, los from mimiciv_icu.icustays\n',
  );
  return instruction;
}

describe('m4bench tasks', () => {
  it('lint passes on the shipped content', async () => {
    const { exitCode, stdout } = await m4bench(folder, ['tasks', 'lint']);
    expect(stdout).toBe('No findings.');
    expect(exitCode).toBe(0);
  });

  it('lint names file, line and rule, and ends with exit code 1', async () => {
    const own = join(folder, 'length-of-stay');
    const instruction = await writeOwnFamily(own);
    const { exitCode, stdout } = await m4bench(folder, ['tasks', 'lint', own]);
    expect(stdout).toMatch(`${instruction}:5 instruction-table-name "icustays"`);
    expect(stdout).toMatch(/1 finding\.$/);
    expect(exitCode).toBe(1);
    const json = await m4bench(folder, ['tasks', 'lint', own, '--json']);
    expect(JSON.parse(json.stdout)).toEqual({
      findings: [expect.objectContaining({ file: instruction, line: 5, rule: 'instruction-table-name' })],
    });
  });

  it('list and show give both removal lists', async () => {
    const list = await m4bench(folder, ['tasks', 'list', '--json']);
    const { tasks } = JSON.parse(list.stdout) as {
      tasks: { name: string; removes: { published: string[]; effective: string[] } }[];
    };
    expect(tasks).toHaveLength(28);
    const sofa = tasks.find(({ name }) => name === 'mimic-sofa-24h');
    expect(sofa?.removes).toEqual({
      published: ['mimiciv_derived.sofa', 'mimiciv_derived.first_day_sofa'],
      effective: ['mimiciv_derived.first_day_sofa', 'mimiciv_derived.sepsis3', 'mimiciv_derived.sofa'],
    });
    const show = await m4bench(folder, ['tasks', 'show', 'mimic-sofa-24h']);
    expect(show.stdout).toContain(
      'removed, published list: mimiciv_derived.sofa, mimiciv_derived.first_day_sofa (2)',
    );
    expect(show.stdout).toContain(
      'removed, m4bench-1: mimiciv_derived.first_day_sofa, mimiciv_derived.sepsis3, mimiciv_derived.sofa (3)',
    );
  });

  it('show writes the files of an agent byte for byte', async () => {
    const written = join(folder, 'seen');
    const words = ['tasks', 'show', 'mimic-vasopressor-equivalents', '--condition', 'with-skill'];
    await m4bench(folder, [...words, '--skill-folder', '.claude/skills', '--write', written]);
    for (const file of ['instruction.md', '.claude/skills/vasopressor-equivalents/SKILL.md']) {
      const golden = join(packageRoot(), 'test/tasks/golden/mimic-vasopressor-equivalents.with-skill', file);
      expect(await readFile(join(written, file)), file).toEqual(await readFile(golden));
    }
  });
});

describe('m4bench skills', () => {
  const texts = {
    claude: '.claude/skills',
    codex: '.codex/skills',
    gemini: '.gemini/skills',
    pi: '.pi/skills',
  };
  it.each(Object.entries(texts))('install puts skills where %s finds them', async (agent, skillFolder) => {
    const project = join(folder, `project-${agent}`);
    const words = ['skills', 'install', 'sofa-score', '--agent', agent, '--project', project];
    expect((await m4bench(folder, words)).exitCode).toBe(0);
    const installed = join(project, skillFolder, 'sofa-score', 'SKILL.md');
    const shipped = join(benchmarkFolder(), 'families/sofa/skills/sofa-score/raw/SKILL.md');
    expect(await readFile(installed)).toEqual(await readFile(shipped));
  });

  it('install leaves a changed file alone until it is forced', async () => {
    const project = join(folder, 'project-changed');
    const words = ['skills', 'install', 'sofa-score', '--agent', 'claude', '--project', project];
    await m4bench(folder, words);
    const installed = join(project, '.claude/skills/sofa-score/SKILL.md');
    await appendFile(installed, 'A note of our own.\n');
    const again = await m4bench(folder, words);
    expect(again.exitCode).toBe(1);
    expect(again.stdout).toContain(`not overwritten, because it was changed: ${installed}`);
    expect(await readFile(installed, 'utf8')).toMatch(/A note of our own\.\n$/);
    const forced = await m4bench(folder, [...words, '--force', '--json']);
    expect(forced.exitCode).toBe(0);
    expect(JSON.parse(forced.stdout)).toMatchObject({
      skills: [{ name: 'sofa-score', state: 'overwritten' }],
    });
    expect(await readFile(installed, 'utf8')).not.toContain('A note of our own.');
  });

  it('list gives versions and checksums, lint passes, show gives the text', async () => {
    const list = await m4bench(folder, ['skills', 'list', '--json']);
    const { skills } = JSON.parse(list.stdout) as { skills: { version: string; sha256: string }[] };
    expect(skills).toHaveLength(23);
    for (const { version, sha256 } of skills) {
      expect(version).toMatch(/^\d+\.\d+$/);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    }
    expect((await m4bench(folder, ['skills', 'lint'])).exitCode).toBe(0);
    const show = await m4bench(folder, ['skills', 'show', 'gcs-calculation', '--database', 'eicu']);
    const shipped = join(benchmarkFolder(), 'families/gcs/skills/gcs-calculation/eicu/SKILL.md');
    expect(`${show.stdout}\n`).toBe(await readFile(shipped, 'utf8'));
  });
});
