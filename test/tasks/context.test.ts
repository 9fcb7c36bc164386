import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ContextPackage, contextPackage } from '../../src/conditions/context-package.js';
import { type PresentedNames, presentedNames } from '../../src/conditions/presented-names.js';
import { packageRoot } from '../../src/support/home.js';
import { conditionNames } from '../../src/tasks/condition.js';
import { findTask, loadTasks } from '../../src/tasks/load-tasks.js';
import { loadProtocol, protocolNames } from '../../src/tasks/protocol.js';

const goldenFolder = join(packageRoot(), 'test', 'tasks', 'golden');
const skillFolder = '.claude/skills';

/** Everything an agent is given, by path in its work folder. */
function filesOf(given: ContextPackage): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ['instruction.md', given.instruction],
    ...given.workFiles.map(({ path, content }) => [path, 'text' in content ? content.text : '']),
  ]);
}

describe('golden renderings', () => {
  it.each([
    ['mimic-meld-24h-raw', 'no-skill'],
    ['mimic-gcs-24h-raw', 'operational-spec'],
    ['mimic-vasopressor-equivalents', 'with-skill'],
  ] as const)('%s in condition %s, byte for byte', async (name, condition) => {
    const given = contextPackage({
      task: await findTask(name),
      condition,
      protocol: await loadProtocol(),
      skillFolder,
      schema: 'native',
    });
    const folder = join(goldenFolder, `${name}.${condition}`);
    const golden = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(filesOf(given)).toEqual(
      Object.fromEntries(golden.map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')])),
    );
  });
});

describe('every task in every condition', () => {
  it('renders, under every protocol: 28 tasks, 6 conditions', async () => {
    const tasks = await loadTasks();
    let rendered = 0;
    for (const protocolName of await protocolNames()) {
      const protocol = await loadProtocol(protocolName);
      for (const task of tasks) {
        for (const condition of conditionNames) {
          const given = contextPackage({ task, condition, protocol, skillFolder, schema: 'native' });
          expect(given.instruction, `${task.name} ${condition}`).toContain('`./output.csv`');
          rendered += 1;
        }
      }
    }
    expect(rendered).toBe(28 * 6 * (await protocolNames()).length);
  });

  it('differs between no-skill and with-skill by exactly the skill files of the task', async () => {
    const protocol = await loadProtocol();
    for (const task of await loadTasks()) {
      const render = (condition: 'no-skill' | 'with-skill'): Readonly<Record<string, string>> =>
        filesOf(contextPackage({ task, condition, protocol, skillFolder, schema: 'native' }));
      const added = { ...render('with-skill') };
      for (const [path, text] of Object.entries(render('no-skill'))) {
        expect(added[path], `${task.name} ${path}`).toBe(text);
        delete added[path];
      }
      expect(added, task.name).toEqual(
        Object.fromEntries(
          task.skillFolders.map(({ name, folder }) => [
            `${skillFolder}/${name}/SKILL.md`,
            readFileSync(join(folder, 'SKILL.md'), 'utf8'),
          ]),
        ),
      );
    }
  });
});

describe('the library of with-skill-all', () => {
  const pool = async (name: string, protocolName: string): Promise<readonly string[]> => {
    const task = await findTask(name);
    const given = contextPackage({
      task,
      condition: 'with-skill-all',
      protocol: await loadProtocol(protocolName),
      skillFolder,
      schema: 'native',
    });
    const texts = Object.values(filesOf(given));
    return task.material.library
      .filter(({ text }) => texts.includes(text))
      .map(({ name: skill, variant }) => `${skill}/${variant}`)
      .sort();
  };
  const common = [
    'apsiii-score/common',
    'baseline-creatinine/common',
    'comorbidity-score/common',
    'sapsii-score/common',
    'sepsis-3-cohort/common',
    'sirs-criteria/common',
    'suspicion-of-infection/common',
  ];

  it('is the published one under published-2026: standard texts, and eICU texts of GCS and OASIS, for every task', async () => {
    const published = [
      ...common,
      'gcs-calculation/eicu',
      'kdigo-aki-staging/standard',
      'meld-score/standard',
      'oasis-score/eicu',
      'sofa-score/raw',
      'urine-output-rate/standard',
      'vasopressor-equivalents/standard',
      'ventilation-classification/standard',
    ].sort();
    expect(await pool('mimic-kdigo-48h-raw', 'published-2026')).toEqual(published);
    expect(await pool('eicu-oasis', 'published-2026')).toEqual(published);
  });

  it('fits the task under m4bench-1', async () => {
    const fitting = [
      ...common,
      'gcs-calculation/mimic-iv',
      'kdigo-aki-staging/raw',
      'meld-score/raw',
      'oasis-score/mimic-iv',
      'sofa-score/raw',
      'urine-output-rate/raw',
      'vasopressor-equivalents/raw',
      'ventilation-classification/raw',
    ].sort();
    expect(await pool('mimic-kdigo-48h-raw', 'm4bench-1')).toEqual(fitting);
    expect(await pool('eicu-oasis', 'm4bench-1')).toEqual(
      fitting.map((text) => (/^(gcs|oasis)-/.test(text) ? text.replace('mimic-iv', 'eicu') : text)).sort(),
    );
  });
});

describe('transformed schemas', () => {
  it.each([
    ['mimic-sofa-24h', 'obfuscated', 'm4bench-1'],
    ['mimic-urine-output-rate-raw', 'restructured', 'm4bench-1'],
    ['mimic-urine-output-rate', 'restructured', 'published-2026'],
  ] as const)(
    '%s, %s, %s: dictionary appended, skills carried or as they are',
    async (name, schema, protocolName) => {
      const task = await findTask(name);
      const protocol = await loadProtocol(protocolName);
      const presented: PresentedNames = await presentedNames({ task, protocol, schema, seed: '1' });
      const render = (condition: 'with-skill' | 'operational-spec'): ContextPackage =>
        contextPackage({ task, condition, protocol, skillFolder, schema, presented });
      const native = contextPackage({
        task,
        condition: 'with-skill',
        protocol,
        skillFolder,
        schema: 'native',
      });
      const withSkill = render('with-skill');
      if (protocolName === 'published-2026') expect(withSkill.workFiles).toEqual(native.workFiles);
      else {
        const [carried, own] = [withSkill, native].map(({ workFiles }) => JSON.stringify(workFiles)) as [
          string,
          string,
        ];
        expect(own).toMatch(/MIMIC-IV/);
        expect(own).toContain('`icustays`');
        expect(carried).not.toMatch(/MIMIC-IV|mimiciv_/);
        expect(carried).not.toContain('`icustays`');
        const { tables, mergedTables } = presented.dictionary;
        const code =
          schema === 'restructured'
            ? mergedTables['mimiciv_hosp.encounters']
            : tables['mimiciv_icu.icustays'];
        expect(carried).toContain(`\`${code?.split('.')[1]}\``);
        expect(withSkill.hash).not.toBe(native.hash);
      }
      const [before, dictionary] = withSkill.instruction.split('\n## Schema dictionary\n');
      expect(dictionary).toContain('| Schema |');
      expect(before).toContain('`stay_id`');
      expect(withSkill.instruction).not.toMatch(/mimiciv_|MIMIC-IV/);
      const rawSql = JSON.stringify(
        contextPackage({ task, condition: 'with-skill-rawsql', protocol, skillFolder, schema, presented })
          .workFiles,
      );
      expect(rawSql.includes('mimiciv_')).toBe(protocolName === 'published-2026');
      const spec = render('operational-spec').instruction;
      expect(spec.indexOf('## Operational specification')).toBeGreaterThan(0);
      expect(spec.indexOf('## Schema dictionary')).toBeGreaterThan(
        spec.indexOf('## Operational specification'),
      );
      const removed = presented.dictionary.tables['mimiciv_derived.urine_output_rate'];
      if (protocolName === 'm4bench-1' && name !== 'mimic-sofa-24h')
        expect(dictionary).not.toContain(removed);
    },
  );

  it('do not exist on eICU', async () => {
    const task = await findTask('eicu-gcs');
    const protocol = await loadProtocol();
    await expect(presentedNames({ task, protocol, schema: 'obfuscated', seed: '1' })).rejects.toMatchObject({
      code: 'SCHEMA_NOT_APPLICABLE',
    });
  });
});
