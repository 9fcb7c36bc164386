import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadTasks } from '../tasks/load-tasks.js';
import { controlTasks, modelLabel, publishedTasks, sentinelTasks } from './published-release.js';
import { readValidityCaveats } from './read-caveats.js';
import { keyGrain, taskFactsOf } from './task-facts.js';

it('holds the 28 tasks of the release: 11 standard, 17 raw, 26 on MIMIC-IV, 15 families', () => {
  expect(publishedTasks).toHaveLength(28);
  expect(publishedTasks.filter((task) => task.mode === 'standard')).toHaveLength(11);
  expect(publishedTasks.filter((task) => task.database === 'mimic-iv')).toHaveLength(26);
  expect(new Set(publishedTasks.map((task) => task.family)).size).toBe(15);
  const names = publishedTasks.map((task) => task.name);
  expect(new Set(names).size).toBe(28);
  expect([...sentinelTasks, ...controlTasks].filter((name) => !names.includes(name))).toEqual([]);
});

it('scores more than the value columns on the 11 tasks that the release names', () => {
  const longer = publishedTasks.filter((task) => task.scoredColumns.length > task.valueColumns.length);
  expect(longer.map((task) => task.name)).toEqual([
    'mimic-creatinine-baseline',
    'mimic-creatinine-baseline-raw',
    'mimic-sepsis3-raw',
    'mimic-suspicion-infection',
    'mimic-suspicion-infection-raw',
    'mimic-urine-output-rate',
    'mimic-urine-output-rate-raw',
    'mimic-vasopressor-equivalents',
    'mimic-vasopressor-equivalents-raw',
    'mimic-ventilation',
    'mimic-ventilation-raw',
  ]);
});

it('names what a key stands for', () => {
  expect(keyGrain(['stay_id', 'ventilation_seq'])).toBe('interval');
  expect(keyGrain(['stay_id', 'charttime'])).toBe('stay-window');
  expect(keyGrain(['subject_id', 'ab_id'])).toBe('event');
  expect(keyGrain(['patientunitstayid'])).toBe('stay');
  expect(keyGrain(['hadm_id'])).toBe('admission');
  expect(keyGrain(['a', 'b'])).toBe('a/b');
});

it('labels published models and leaves others as they are', () => {
  expect(modelLabel('gpt-5.5')).toBe('GPT 5.5');
  expect(modelLabel('constructor')).toBe('constructor');
});

it('agrees with the shipped tasks, so that a campaign of today and the published one stand in one table', async () => {
  const shipped = new Map(taskFactsOf(await loadTasks()).map((facts) => [facts.name, facts]));
  for (const task of publishedTasks) expect(shipped.get(task.name)).toEqual(task);
});

it('reads the conventions and caveats of every family', async () => {
  const caveats = await readValidityCaveats();
  expect(caveats.map(({ family }) => family)).toEqual([
    ...new Set(publishedTasks.map((task) => task.family)),
  ]);
  for (const { convention } of caveats) expect(convention.length).toBeGreaterThan(20);
});

it('reads conventions and caveats as they stand, of families that have both files', async () => {
  const content = await mkdtemp(join(tmpdir(), 'm4bench-caveats-'));
  const put = async (family: string, file: string, text: string): Promise<void> => {
    await mkdir(join(content, 'families', family), { recursive: true });
    await writeFile(join(content, 'families', family, file), text);
  };
  await put('z', 'conventions.toml', '[[conventions]]\nrule = "One."\n[[conventions]]\nrule = "Two."\n');
  await put('z', 'provenance.toml', '[[caveats]]\ntext = "First."\n[[caveats]]\ntext = "Second."\n');
  await put('a', 'conventions.toml', '');
  await put('a', 'provenance.toml', '');
  await put('half', 'conventions.toml', '');
  await put('other', 'provenance.toml', '');
  await writeFile(join(content, 'families', 'README.md'), '');
  expect(await readValidityCaveats(content)).toEqual([
    { family: 'a', convention: '', caveat: '' },
    { family: 'z', convention: 'One. Two.', caveat: 'First. Second.' },
  ]);
  await put('a', 'conventions.toml', 'conventions = 1');
  await expect(readValidityCaveats(content)).rejects.toMatchObject({ code: 'TASK_INVALID' });
  await rm(content, { recursive: true });
});
