import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lintContent } from './lint.js';
import { type NewTask, writeNewTask } from './new-task.js';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'm4bench-new-')), 'tasks');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

const stayHours: NewTask = {
  name: 'icu-stay-hours',
  family: 'icu-stay-hours',
  title: 'Length of ICU stay',
  kind: 'clinical definition',
  database: 'mimic-iv',
  mode: 'standard',
  difficulty: 'medium',
  grain: 'one row per ICU stay',
  description: 'Compute the length of every ICU stay in hours.',
  query: "select stay_id, date_diff('minute', intime, outtime) / 60.0 as hours from mimiciv_icu.icustays;",
  citation: 'own definition',
  keyColumns: ['stay_id'],
  tolerance: { hours: 0.1 },
  removes: ['mimiciv_derived.icustay_detail'],
};

describe('a new task', () => {
  test('is a family that loads and lints, with the columns of its reference', async () => {
    const { task, files } = await writeNewTask(stayHours, { folder });
    expect(files.map((file) => file.slice(folder.length))).toEqual([
      '/icu-stay-hours/family.toml',
      '/icu-stay-hours/references/icu-stay-hours.sql',
      '/icu-stay-hours/tasks/icu-stay-hours.toml',
      '/icu-stay-hours/tasks/icu-stay-hours.md',
    ]);
    expect(task.contract).toMatchObject({
      keyColumns: ['stay_id'],
      requiredColumns: ['stay_id', 'hours'],
      valueColumns: ['hours'],
      scoredColumns: ['hours'],
      tolerance: { hours: 0.1 },
    });
    expect(task.removesPublished).toEqual(['mimiciv_derived.icustay_detail']);
    expect(await readFile(files[1]!, 'utf8')).toMatch(
      /^-- title: Length of ICU stay\n[\s\S]*-- sources: mimiciv_icu\.icustays\n/,
    );
    expect(await lintContent({ extraFolders: [folder] })).toEqual([]);
  });

  test('of mode raw says that derived tables were removed, and lints', async () => {
    await writeNewTask({ ...stayHours, mode: 'raw', removes: [] }, { folder });
    expect(await lintContent({ extraFolders: [folder] })).toEqual([]);
  });

  test('with a drafted skill is not finished: lint names every passage that is to be written', async () => {
    const { task } = await writeNewTask({ ...stayHours, skill: 'draft' }, { folder });
    expect(task.conditions).toContain('with-skill');
    const findings = await lintContent({ extraFolders: [folder] });
    expect(new Set(findings.map(({ rule }) => rule))).toEqual(new Set(['skill-unfinished']));
    expect(findings).toHaveLength(10);
  });

  test('next to others: a second one does not disturb the first', async () => {
    await writeNewTask(stayHours, { folder });
    const other = { ...stayHours, name: 'icu-stay-days', family: 'icu-stay-days' };
    expect((await writeNewTask(other, { folder })).task.name).toBe('icu-stay-days');
    await expect(writeNewTask(other, { folder })).rejects.toMatchObject({ code: 'FAMILY_EXISTS' });
  });

  test.each([
    ['a query that is no SELECT', { query: 'drop table x' }, 'SQL_INVALID', 'icu-stay-hours'],
    [
      'a query over a relation that is not there',
      { query: 'select 1 as stay_id from mimiciv_icu.stays' },
      'SQL_INVALID',
      'stays',
    ],
    [
      'a key that the reference does not return',
      { keyColumns: ['hadm_id'] },
      'NEW_TASK_INVALID',
      '--keys names hadm_id',
    ],
    ['a tolerance of no column', { tolerance: { days: 1 } }, 'NEW_TASK_INVALID', '--tolerance names days'],
    [
      'an unknown removal',
      { removes: ['mimiciv_derived.sofaa'] },
      'NEW_TASK_INVALID',
      'mimiciv_derived.sofaa',
    ],
    ['an unknown kind of database', { database: 'omop' }, 'NEW_TASK_INVALID', 'no dataset of kind omop'],
    [
      'the name of a shipped task',
      { name: 'mimic-meld-24h' },
      'TASK_INVALID',
      'mimic-meld-24h exists already',
    ],
    ['a name with blanks', { name: 'Icu Stay' }, 'NEW_TASK_INVALID', 'Icu Stay'],
    ['a family outside the folder', { family: '../x' }, 'NEW_TASK_INVALID', '../x'],
    ['a placeholder that does not exist', { description: 'Write {file}.' }, 'TASK_INVALID', '{file}'],
    ['a skill without front matter', { skill: '# Hours\n' }, 'SKILL_INVALID', 'the skill'],
  ])('is refused for %s, and nothing is written', async (_what, changes, code, message) => {
    const failure = writeNewTask({ ...stayHours, ...changes }, { folder });
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(existsSync(join(folder, 'icu-stay-hours'))).toBe(false);
  });
});
