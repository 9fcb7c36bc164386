import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadTasks } from '../tasks/load-tasks.js';
import type { Task } from '../tasks/task.js';
import { distinctSpecs, type ExpandedTier, type ExpandOptions, expandProfile } from './expand.js';
import { loadProfile, profileNames, publishedModels, rolesOf } from './profile.js';
import { readTaskSets, type TaskSets, tasksOf } from './task-sets.js';

let tasks: readonly Task[];
let sets: TaskSets;
beforeAll(async () => {
  tasks = await loadTasks();
  sets = await readTaskSets();
});

async function expand(
  profile: string,
  agent: string,
  more: Partial<ExpandOptions> = {},
): Promise<readonly ExpandedTier[]> {
  const models = (await publishedModels(agent))!;
  return expandProfile({ profile: await loadProfile(profile), tasks, sets, agent, models, ...more });
}

const count = (tiers: readonly ExpandedTier[]): number =>
  tiers.reduce((sum, { specs }) => sum + specs.length, 0);
const cellsIn = (tier: ExpandedTier): number =>
  new Set(tier.specs.map(({ task, condition, schema, model }) => `${task} ${condition} ${schema} ${model}`))
    .size;

describe('task sets', () => {
  test.each([
    ['ALL', 28],
    ['STANDARD', 11],
    ['RAW', 17],
    ['EXPERT', 9],
    ['COMPOSITIONAL', 1],
    ['CROSS-DB', 2],
    ['TRANSFORMED', 26],
    ['SENTINEL', 8],
    ['CONTROL', 10],
    ['CONTAM', 3],
    ['CLAUDE-SQL', 4],
    ['HIGH', 11],
    ['HURT', 4],
    ['FLAT', 12],
    ['HARDEST', 9],
    ['LITE', 6],
  ])('%s has %i tasks', (name, size) => {
    expect(tasksOf([name], tasks, sets)).toHaveLength(size);
  });

  test('ALL follows families, then tasks; sets keep that order unless they list their own', () => {
    const all = tasksOf(['ALL'], tasks, sets);
    expect(all.slice(0, 6)).toEqual([
      'mimic-apsiii-24h',
      'mimic-apsiii-24h-raw',
      'mimic-charlson-raw',
      'mimic-creatinine-baseline',
      'mimic-creatinine-baseline-raw',
      'eicu-gcs',
    ]);
    expect(all.at(-1)).toBe('mimic-ventilation-raw');
    // The nine experts of the specification, by name; Sepsis-3 is among them already.
    expect(tasksOf(['HARDEST'], tasks, sets)).toEqual([
      'eicu-oasis',
      'mimic-apsiii-24h-raw',
      'mimic-kdigo-48h-raw',
      'mimic-sapsii-24h-raw',
      'mimic-sepsis3-raw',
      'mimic-sofa-24h-raw',
      'mimic-suspicion-infection-raw',
      'mimic-urine-output-rate-raw',
      'mimic-ventilation-raw',
    ]);
    expect(tasksOf(['FLAT'], tasks, sets)).toEqual([
      'mimic-apsiii-24h',
      'mimic-apsiii-24h-raw',
      'mimic-charlson-raw',
      'eicu-gcs',
      'mimic-gcs-24h-raw',
      'mimic-meld-24h',
      'mimic-sapsii-24h',
      'mimic-sapsii-24h-raw',
      'mimic-sirs-24h-raw',
      'mimic-sofa-24h',
      'mimic-sofa-24h-raw',
      'mimic-ventilation-raw',
    ]);
  });

  test('an unknown member and a circle are refused', () => {
    expect(() => tasksOf(['SENTINAL'], tasks, sets)).toThrow(/no task or task set "SENTINAL"/);
    const circle = { A: { ...sets.HIGH!, tasks: ['B'] }, B: { ...sets.HIGH!, tasks: ['A'] } };
    expect(() => tasksOf(['A'], tasks, circle)).toThrow(/A > B > A/);
  });
});

/** The table of `campaigns.md`, all transformed databases present, five trials. */
const totals = {
  'rerun-v1.1': { codex: 760, claude: 784, gemini: 760, 'pi-ollama': 380 },
  powered: { codex: 769, claude: 769, gemini: 769, 'pi-ollama': 537 },
  'provider-comparison': { codex: 190, claude: 190, gemini: 190, 'pi-ollama': 110 },
  'operational-spec': { codex: 80, claude: 40, gemini: 80, 'pi-ollama': 40 },
  'schema-skill': { codex: 260, claude: 260, gemini: 260, 'pi-ollama': 260 },
  'validity-followup': { codex: 340, claude: 300, gemini: 340, 'pi-ollama': 300 },
} as const;

describe('the published profiles', () => {
  const rows = Object.entries(totals).flatMap(([profile, agents]) =>
    Object.entries(agents).map(([agent, runs]) => [profile, agent, runs] as const),
  );
  test.each(rows)('%s for %s lists %i runs', async (profile, agent, runs) => {
    expect(count(await expand(profile, agent))).toBe(runs);
  });

  test('the tiers of the primary campaign: 112, 20 and 20 cells; Claude has a fifth', async () => {
    const codex = await expand('rerun-v1.1', 'codex');
    expect(codex.map((tier) => [tier.label, cellsIn(tier), tier.specs.length])).toEqual([
      [1, 112, 560],
      [2, 20, 100],
      [3, 20, 100],
    ]);
    const claude = await expand('rerun-v1.1', 'claude');
    expect(claude.map((tier) => [tier.label, tier.specs.length])).toEqual([
      [1, 560],
      [2, 100],
      [3, 100],
      [5, 24],
    ]);
    // All 24 are in tier 2 as well.
    expect(distinctSpecs(claude)).toHaveLength(760);
  });

  test('the exploratory tiers, and their limits on trials', async () => {
    const sizes = async (trials: number): Promise<readonly number[]> =>
      (await expand('powered', 'codex', { trials })).map(({ specs }) => specs.length);
    expect(await sizes(5)).toEqual([220, 80, 144, 20, 260, 45]);
    // Tier 3 never takes more than three trials, and fewer when the campaign has fewer.
    expect(await sizes(2)).toEqual([88, 32, 96, 8, 104, 18]);
    const claude = await expand('rerun-v1.1', 'claude', { trials: 1 });
    // Tier 5 always takes three.
    expect(claude.map(({ specs }) => specs.length)).toEqual([112, 20, 20, 24]);
    expect(distinctSpecs(claude)).toHaveLength(112 + 20 + 20 + 16);
  });

  test("the paper's campaigns: 560 primary, 760 with controls, 340 follow-up, 560 replication, 260 probe", async () => {
    expect(count(await expand('rerun-v1.1', 'codex', { onlyTiers: [1] }))).toBe(560);
    expect(count(await expand('rerun-v1.1', 'codex'))).toBe(760);
    expect(count(await expand('validity-followup', 'codex'))).toBe(340);
    expect(count(await expand('rerun-v1.1', 'claude', { onlyTiers: [1] }))).toBe(560);
    expect(count(await expand('powered', 'codex', { onlyTiers: [5] }))).toBe(260);
    // The local arm used a model that its plan does not name.
    const local = await expand('provider-comparison', 'pi-ollama', {
      models: rolesOf({ primary: ['gpt-oss:20b'] }),
    });
    expect(count(local)).toBe(110);
    expect(new Set(local.flatMap(({ specs }) => specs.map(({ model }) => model)))).toEqual(
      new Set(['gpt-oss:20b']),
    );
  });

  test('a tier is listed by task, condition, schema, model and trial', async () => {
    const [, probe] = await expand('provider-comparison', 'claude', { trials: 1 });
    expect(probe!.specs.map(({ task, schema, model }) => `${task} ${schema} ${model}`)).toEqual([
      'mimic-sofa-24h-raw obfuscated sonnet',
      'mimic-sofa-24h-raw restructured sonnet',
      'mimic-kdigo-48h-raw obfuscated sonnet',
      'mimic-kdigo-48h-raw restructured sonnet',
      'mimic-oasis-24h-raw obfuscated sonnet',
      'mimic-oasis-24h-raw restructured sonnet',
    ]);
  });

  test('each role of a model plan is the published one', async () => {
    expect(await publishedModels('codex')).toEqual({
      primary: ['gpt-5.5', 'gpt-5.4-mini'],
      hurt: ['gpt-5.5', 'gpt-5.4-mini'],
      operational_spec: ['gpt-5.5', 'gpt-5.4-mini'],
      contamination: ['gpt-5.4-mini'],
      schema_skill: ['gpt-5.4-mini'],
      noise: ['gpt-5.5'],
    });
    expect(await publishedModels('claude')).toMatchObject({
      operational_spec: ['sonnet'],
      contamination: ['sonnet'],
      noise: ['opus'],
    });
    expect(await publishedModels('gemini')).toMatchObject({
      contamination: ['gemini-3-flash-preview'],
      noise: ['gemini-3.1-pro-preview'],
    });
    expect(await publishedModels('unheard-of')).toBeUndefined();
  });
});

describe('profiles of users, and restrictions', () => {
  test('every shipped profile can be read and has tasks for every tier', async () => {
    for (const name of await profileNames()) {
      const profile = await loadProfile(name);
      expect(profile.name).toBe(name);
      for (const tier of profile.tiers) {
        expect(tasksOf(tier.tasks, tasks, { ...sets, ...profile.sets }).length).toBeGreaterThan(0);
      }
    }
  });

  test("a user's own file has the same form, with sets of its own", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'm4bench-profile-'));
    try {
      const file = join(folder, 'mine.toml');
      await writeFile(
        file,
        `name = "mine"\ntitle = "Mine"\nprotocol = "m4bench-1"\ntrials = 2\n[sets.PAIR]\ntasks = ["eicu-gcs", "mimic-meld-24h"]\n[[tiers]]\nlabel = 4\ntitle = "all there is"\ntasks = ["PAIR"]\nconditions = ["no-skill", "with-skill"]\n`,
      );
      const profile = await loadProfile(file);
      const options = { profile, tasks, sets, agent: 'empty', models: rolesOf({ primary: [null] }) };
      expect(count(expandProfile(options))).toBe(8);
      expect(count(expandProfile({ ...options, onlyTasks: ['eicu-gcs'], trials: 3 }))).toBe(6);
      expect(() => expandProfile({ ...options, onlyConditions: ['with-skill-all'] })).toThrow(/No run/);
      expect(() => expandProfile({ ...options, onlyTiers: [1] })).toThrow(/no tier 1/);
      await writeFile(file, 'name = "mine"\ntitle = "Mine"\nprotocol = "m4bench-1"\ntrails = 2\n');
      await expect(loadProfile(file)).rejects.toMatchObject({ code: 'PROFILE_INVALID' });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('an unknown profile names the nearest one', async () => {
    await expect(loadProfile('light')).rejects.toMatchObject({
      code: 'PROFILE_UNKNOWN',
      remedy: expect.stringContaining('lite') as string,
    });
  });

  test('two tiers cannot have one label', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'm4bench-profile-'));
    try {
      const tier = 'label = 1\ntitle = "a"\ntasks = ["ALL"]\nconditions = ["no-skill"]\n';
      const file = join(folder, 'twice.toml');
      await writeFile(
        file,
        `name = "x"\ntitle = "x"\nprotocol = "m4bench-1"\ntrials = 1\n[[tiers]]\n${tier}[[tiers]]\n${tier}`,
      );
      await expect(loadProfile(file)).rejects.toMatchObject({
        code: 'PROFILE_INVALID',
        message: expect.stringContaining('label 1') as string,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
