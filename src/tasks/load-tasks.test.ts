import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtureContent, fixtureText } from './fixture-content.js';
import { findTask, loadTasks } from './load-tasks.js';

const taskFile = 'families/shock/tasks/mimic-shock-24h.toml';
const familyFile = 'families/shock/family.toml';
const frailtyFile = 'families/frailty/family.toml';

/** Loads the fixture with one text replaced in one file. */
async function loadChanged(path: string, from: string, to: string): Promise<unknown> {
  await using content = await fixtureContent();
  const text = fixtureText(path);
  expect(text).toContain(from);
  await content.write(path, text.replace(from, to));
  return await loadTasks({ contentFolder: content.folder });
}

describe('loadTasks', () => {
  it('orders tasks by family, then name, and fills in what siblings share', async () => {
    await using content = await fixtureContent();
    const tasks = await loadTasks({ contentFolder: content.folder });
    expect(tasks.map((task) => task.name)).toEqual([
      'eicu-frailty',
      'mimic-shock-24h',
      'mimic-shock-24h-raw',
    ]);
    const [, standard, raw] = tasks;
    expect(standard).toMatchObject({
      family: 'shock',
      familyTitle: 'Shock index',
      kind: 'severity score',
      reference: 'shock-24h',
      contract: {
        keyColumns: ['stay_id'],
        scoredColumns: ['shock_index', 'measured_at'],
        tolerance: { shock_index: 0.01 },
        rowCoverageThreshold: 1,
        accuracyThreshold: 1,
      },
      removesPublished: ['mimiciv_derived.shock'],
    });
    expect(raw?.contract).toEqual({
      ...standard?.contract,
      rowCoverageThreshold: 0.95,
      accuracyThreshold: 0.9,
    });
  });

  it('offers exactly the conditions whose material exists', async () => {
    await using content = await fixtureContent();
    const tasks = await loadTasks({ contentFolder: content.folder });
    expect(tasks.map((task) => task.conditions)).toEqual([
      ['no-skill', 'with-skill', 'with-skill-all', 'with-skill-decoy'],
      [
        'no-skill',
        'with-skill',
        'with-skill-all',
        'with-skill-decoy',
        'with-skill-rawsql',
        'operational-spec',
      ],
      ['no-skill', 'with-skill', 'with-skill-all', 'with-skill-rawsql'],
    ]);
  });

  it('keeps the first text of each skill name as the pool, in task order', async () => {
    await using content = await fixtureContent();
    const [first] = await loadTasks({ contentFolder: content.folder });
    expect(first?.material.pool.map(({ name, variant }) => `${name}/${variant}`)).toEqual([
      'frailty-score/common',
      'shock-index/standard',
    ]);
  });

  it('prints the query of a removed concept before the reference that reads it, without headers', async () => {
    await using content = await fixtureContent();
    const task = await findTask('mimic-shock-24h', { contentFolder: content.folder });
    expect(task.material.referenceSql).toBe(
      '-- mimiciv_derived.shock\nselect 1 as stay_id;\n\n-- reference\nselect stay_id\nfrom mimiciv_derived.shock',
    );
  });

  it('adds a user folder, given as one family or as a folder of families', async () => {
    await using shipped = await fixtureContent();
    await using own = await fixtureContent();
    for (const [path, text] of [
      ['mine/lactate/family.toml', fixtureText(familyFile).replace('shock-24h', 'lactate')],
      ['mine/lactate/references/lactate.sql', 'select 1 as stay_id'],
      [
        'mine/lactate/tasks/my-lactate.toml',
        fixtureText(taskFile).replace('shock-index/standard', 'shock-index/raw'),
      ],
      ['mine/lactate/tasks/my-lactate.md', '# Lactate\n\nWrite `{output_path}`.\n'],
    ] as const) {
      await own.write(path, text.replace('reference_concepts = ["shock"]\n', ''));
    }
    for (const folder of ['mine', 'mine/lactate']) {
      const task = await findTask('my-lactate', {
        contentFolder: shipped.folder,
        extraFolders: [join(own.folder, folder)],
      });
      expect(task.referenceFile).toBe(join(own.folder, 'mine/lactate/references/lactate.sql'));
      expect(task.skills[0]?.family).toBe('shock');
    }
  });

  it('own families may be on own kinds of database', async () => {
    await using content = await fixtureContent();
    await using own = await fixtureContent();
    await own.write('mine/frailty-x/family.toml', fixtureText(frailtyFile).replace('[eicu]', '[omop]'));
    await own.write(
      'mine/frailty-x/tasks/omop-frailty.toml',
      'title = "Frailty"\ndatabase = "omop"\nmode = "raw"\ndifficulty = "medium"\n',
    );
    await own.write('mine/frailty-x/tasks/omop-frailty.md', 'Write `{output_path}`.\n');
    const options = { contentFolder: content.folder, extraFolders: [join(own.folder, 'mine')] };
    const task = await findTask('omop-frailty', options);
    expect(task).toMatchObject({ database: 'omop', contract: { keyColumns: ['patientunitstayid'] } });
  });

  it('own skills reach own tasks only: a shipped task is given the same wherever own families are', async () => {
    await using content = await fixtureContent();
    await using own = await fixtureContent();
    const skill = fixtureText('families/frailty/skills/frailty-score/common/SKILL.md');
    await own.write('mine/lactate/family.toml', fixtureText(frailtyFile));
    await own.write(
      'mine/lactate/skills/own-lactate/common/SKILL.md',
      skill.replaceAll('frailty-score', 'own-lactate'),
    );
    await own.write(
      'mine/lactate/tasks/eicu-lactate.toml',
      fixtureText('families/frailty/tasks/eicu-frailty.toml').replace('frailty-score', 'own-lactate'),
    );
    await own.write('mine/lactate/tasks/eicu-lactate.md', 'Write `{output_path}`.\n');
    const alone = await loadTasks({ contentFolder: content.folder });
    const together = await loadTasks({
      contentFolder: content.folder,
      extraFolders: [join(own.folder, 'mine')],
    });
    expect(together.filter(({ family }) => family !== 'lactate')).toEqual(alone);
    const added = together.find(({ name }) => name === 'eicu-lactate');
    expect(added?.material.pool.map(({ name }) => name)).toEqual([
      'frailty-score',
      'shock-index',
      'own-lactate',
    ]);
  });
});

describe('findTask', () => {
  it('suggests the nearest name for an unknown one', async () => {
    await using content = await fixtureContent();
    await expect(findTask('mimic-shok-24h', { contentFolder: content.folder })).rejects.toMatchObject({
      code: 'TASK_UNKNOWN',
      message: 'There is no task "mimic-shok-24h".',
      remedy: expect.stringContaining('Did you mean "mimic-shock-24h"?'),
    });
  });
});

describe('a malformed file gives one error with file, field and remedy:', () => {
  it.each([
    ['an unknown field', taskFile, 'mode =', 'mod =', 'TASK_INVALID', /24h\.toml: field (mode|mod)/],
    [
      'a value out of range',
      taskFile,
      'accuracy_threshold = 1.0',
      'accuracy_threshold = 1.5',
      'TASK_INVALID',
      /field accuracy_threshold: must lie between 0 and 1/,
    ],
    [
      'a wrong mode',
      taskFile,
      '"standard"',
      '"rare"',
      'TASK_INVALID',
      /field mode: must be "standard" or "raw"/,
    ],
    [
      'an unqualified removed relation',
      taskFile,
      'mimiciv_derived.shock',
      'shock',
      'TASK_INVALID',
      /field removes\[0\]/,
    ],
    [
      'a database the family does not have',
      taskFile,
      '"mimic-iv"',
      '"eicu"',
      'TASK_INVALID',
      /has no table \[eicu\]/,
    ],
    [
      'an unknown skill',
      taskFile,
      'shock-index/standard',
      'shock-index/standart',
      'TASK_INVALID',
      /no skill text shock-index\/standart/,
    ],
    ['broken TOML', taskFile, 'title = "', 'title = ', 'TASK_INVALID', /24h\.toml:1:\d+: not valid TOML/],
    [
      'a key that is not required',
      familyFile,
      'key_columns = ["stay_id"]',
      'key_columns = ["hadm_id"]',
      'TASK_INVALID',
      /key_columns: column hadm_id is not among required_columns/,
    ],
    [
      'a value column that is not required',
      familyFile,
      'value_columns = ["shock_index"]',
      'value_columns = ["index"]',
      'TASK_INVALID',
      /value_columns: column index/,
    ],
    [
      'a tolerance of an unscored column',
      familyFile,
      '{ shock_index',
      '{ stay_id',
      'TASK_INVALID',
      /tolerance\.stay_id: the column is not scored/,
    ],
    [
      'a negative tolerance',
      familyFile,
      '0.01',
      '-0.01',
      'TASK_INVALID',
      /field mimic-iv\.tolerance\.shock_index: must not be negative/,
    ],
    [
      'a column named twice',
      familyFile,
      '"stay_id", "shock_index"',
      '"stay_id", "stay_id", "shock_index"',
      'TASK_INVALID',
      /required_columns: must not name a column twice/,
    ],
    [
      'an instruction without output path',
      'families/shock/tasks/mimic-shock-24h.md',
      '{output_path}',
      'x.csv',
      'TASK_INVALID',
      /placeholder \{output_path\} is missing/,
    ],
    [
      'an unknown placeholder',
      'families/shock/tasks/mimic-shock-24h.md',
      '{db_path}',
      '{database}',
      'TASK_INVALID',
      /\{database\} is not a placeholder/,
    ],
    [
      'a decoy that is no skill',
      'decoys/far.toml',
      'shock-index/raw',
      'shock-index/far',
      'DECOYS_INVALID',
      /shock-index\/far of task eicu-frailty/,
    ],
    ['a concept without SQL', familyFile, '["shock"]', '["shok"]', 'TASK_INVALID', /names the concept shok/],
    [
      'a skill with another name than its folder',
      'families/shock/skills/shock-index/raw/SKILL.md',
      'name: shock-index',
      'name: shock',
      'SKILL_INVALID',
      /front matter field name is "shock"/,
    ],
    [
      'a skill without license',
      'families/shock/skills/shock-index/raw/SKILL.md',
      'license: MIT\n',
      '',
      'SKILL_INVALID',
      /front matter field license/,
    ],
    [
      'metadata that are not texts',
      'families/shock/skills/shock-index/raw/SKILL.md',
      '"1.0"',
      '1',
      'SKILL_INVALID',
      /metadata\.version must be a version/,
    ],
    [
      'an unknown metadata key',
      'families/shock/skills/shock-index/raw/SKILL.md',
      '  tier:',
      '  author: me\n  tier:',
      'SKILL_INVALID',
      /metadata\.author is not known/,
    ],
    [
      'front matter that is not closed',
      'families/shock/skills/shock-index/raw/SKILL.md',
      '\n---\n\n#',
      '\n\n#',
      'SKILL_INVALID',
      /no closing "---"/,
    ],
  ])('%s', async (_what, path, from, to, code, message) => {
    await expect(loadChanged(path, from, to)).rejects.toMatchObject({
      name: 'M4BenchError',
      code,
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(/\S/),
    });
  });

  it('a stray file in a skill folder', async () => {
    await using content = await fixtureContent();
    await content.write('families/shock/skills/shock-index/raw/run.sh', 'true');
    await expect(loadTasks({ contentFolder: content.folder })).rejects.toMatchObject({
      code: 'SKILL_INVALID',
      message: expect.stringContaining('run.sh'),
    });
  });

  it('a user task with the name of a shipped one', async () => {
    await using shipped = await fixtureContent();
    await using own = await fixtureContent();
    await expect(
      loadTasks({ contentFolder: shipped.folder, extraFolders: [join(own.folder, 'families/shock')] }),
    ).rejects.toMatchObject({ code: 'TASK_INVALID', message: expect.stringContaining('exists already') });
  });

  it('an own reference under the name of a shipped one', async () => {
    await using shipped = await fixtureContent();
    await using own = await fixtureContent();
    await own.write('mine/lactate/family.toml', fixtureText(familyFile));
    await own.write('mine/lactate/references/shock-24h.sql', 'select 1 as stay_id');
    await own.write('mine/lactate/tasks/my-lactate.toml', fixtureText(taskFile));
    await own.write('mine/lactate/tasks/my-lactate.md', '# Lactate\n\nWrite `{output_path}`.\n');
    await expect(
      loadTasks({ contentFolder: shipped.folder, extraFolders: [join(own.folder, 'mine')] }),
    ).rejects.toMatchObject({ code: 'TASK_INVALID', message: expect.stringContaining('shock-24h') });
  });

  it('a folder without any family', async () => {
    await using content = await fixtureContent();
    await mkdir(join(content.folder, 'empty'));
    await expect(
      loadTasks({ contentFolder: content.folder, extraFolders: [join(content.folder, 'empty')] }),
    ).rejects.toMatchObject({ code: 'TASKS_NOT_FOUND' });
  });
});
