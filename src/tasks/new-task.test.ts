import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { synthesizeDataset } from '../datasets/synthesize.js';
import { homeAt } from '../support/home.js';
import { silentProgress } from '../support/progress.js';
import { writeFamilyTask } from './family-task.js';
import { lintContent } from './lint.js';
import { type NewTask, rawNotice, writeNewTask } from './new-task.js';
import { checkReferenceKeys } from './reference-keys.js';
import type { Task } from './task.js';

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
    [
      'a tolerance of a text',
      { query: 'select stay_id, first_careunit as hours from mimiciv_icu.icustays' },
      'NEW_TASK_INVALID',
      '--tolerance names hours, which is VARCHAR',
    ],
    ['a tolerance of a key', { tolerance: { stay_id: 1 } }, 'NEW_TASK_INVALID', 'which is a key'],
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

describe('a further task of a family', () => {
  const raw = {
    name: 'icu-stay-hours-raw',
    family: 'icu-stay-hours',
    database: 'mimic-iv',
    mode: 'raw',
  } as const;

  test('shares contract and reference, says its mode, and lints', async () => {
    await writeNewTask(stayHours, { folder });
    const { task, files } = await writeFamilyTask(raw, { folder });
    expect(files.map((file) => file.slice(folder.length))).toEqual([
      '/icu-stay-hours/tasks/icu-stay-hours-raw.toml',
      '/icu-stay-hours/tasks/icu-stay-hours-raw.md',
    ]);
    expect(task).toMatchObject({
      mode: 'raw',
      title: 'Length of ICU stay (source tables only)',
      reference: 'icu-stay-hours',
      removesPublished: ['mimiciv_derived.icustay_detail'],
    });
    const text = await readFile(files[1]!, 'utf8');
    expect(text.split('\n\n').slice(0, 3)).toEqual([
      '# Length of ICU stay (source tables only)',
      'Compute the length of every ICU stay in hours.',
      rawNotice,
    ]);
    expect(await lintContent({ extraFolders: [folder] })).toEqual([]);
  });

  test('may have words, difficulty and removals of its own, and a standard one of a raw one loses the notice', async () => {
    await writeNewTask({ ...stayHours, mode: 'raw', removes: [] }, { folder });
    const { task, files } = await writeFamilyTask(
      {
        ...raw,
        name: 'icu-stay-hours-hard',
        mode: 'standard',
        title: 'Hours',
        difficulty: 'hard',
        removes: ['mimiciv_derived.icustay_detail'],
      },
      { folder },
    );
    expect(task).toMatchObject({ title: 'Hours', difficulty: 'hard', mode: 'standard' });
    expect(await readFile(files[1]!, 'utf8')).not.toContain(rawNotice);
    expect(await lintContent({ extraFolders: [folder] })).toEqual([]);
  });

  test('is refused for a name in use and for a database without a contract, and nothing is written', async () => {
    await writeNewTask(stayHours, { folder });
    for (const [changes, code] of [
      [{ name: 'icu-stay-hours' }, 'TASK_EXISTS'],
      [{ database: 'eicu' }, 'NEW_TASK_INVALID'],
      [{ name: 'mimic-meld-24h' }, 'TASK_INVALID'],
    ] as const)
      await expect(writeFamilyTask({ ...raw, ...changes }, { folder })).rejects.toMatchObject({ code });
    expect((await lintContent({ extraFolders: [folder] })).length).toBe(0);
    expect(existsSync(join(folder, 'icu-stay-hours', 'tasks', 'icu-stay-hours-raw.toml'))).toBe(false);
  });
});

describe('keys of a new reference', () => {
  const from = (query: string): NewTask => ({ ...stayHours, query, tolerance: {}, removes: [] });

  test('are looked at over data: missing and repeated ones are refused before anything is written', async () => {
    const home = homeAt(join(folder, '..', 'home'));
    const dataset = await synthesizeDataset(home, { kind: 'mimic-iv', stays: 20, seed: '1' });
    const check = async (task: Task) => void (await checkReferenceKeys(home, dataset, task, silentProgress));
    await expect(
      writeNewTask(from('select stay_id, 1 as hours from mimiciv_icu.icustays union all select null, 2'), {
        folder,
        check,
      }),
    ).rejects.toMatchObject({
      code: 'NEW_TASK_INVALID',
      message: expect.stringContaining('1 of 21 rows of the reference have no stay_id'),
    });
    await expect(
      writeNewTask(from('select stay_id, n as hours from mimiciv_icu.icustays, (values (1), (2)) t(n)'), {
        folder,
        check,
      }),
    ).rejects.toMatchObject({
      message: expect.stringContaining('20 of 40 rows repeat an earlier one'),
    });
    expect(existsSync(join(folder, 'icu-stay-hours'))).toBe(false);
    await writeNewTask(stayHours, { folder, check });
    expect(existsSync(home.references)).toBe(false);
  });
});
