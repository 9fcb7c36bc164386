import { expect, it } from 'vitest';
import { controlTasks, modelLabel, publishedTasks, sentinelTasks } from './published-release.js';
import { keyGrain } from './task-facts.js';

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
