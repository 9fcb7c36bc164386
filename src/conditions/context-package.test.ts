import { describe, expect, it } from 'vitest';
import type { SchemaDictionary } from '../schemas/dictionary.js';
import { conditionNames } from '../tasks/condition.js';
import { fixtureContent, fixtureText } from '../tasks/fixture-content.js';
import { findTask, loadTasks } from '../tasks/load-tasks.js';
import { loadProtocol } from '../tasks/protocol.js';
import type { Task } from '../tasks/task.js';
import { contextPackage } from './context-package.js';
import { conventionNote, isolationNote } from './preamble.js';
import { presentedNames } from './presented-names.js';

const skillFolder = '.codex/skills';
const own = {
  skillPool: 'fitting',
  decoys: 'far',
  rawSqlFrontMatter: true,
  schemaDictionary: 'complete',
} as const;
const published = {
  skillPool: 'first-seen',
  decoys: 'published',
  rawSqlFrontMatter: false,
  schemaDictionary: 'published',
} as const;

async function fixtureTask(name: string): Promise<Task> {
  await using content = await fixtureContent();
  return await findTask(name, { contentFolder: content.folder });
}

describe('contextPackage', () => {
  it('puts the two notes before the instruction and replaces the placeholders', async () => {
    const task = await fixtureTask('mimic-shock-24h');
    const { instruction } = contextPackage({
      task,
      condition: 'no-skill',
      protocol: own,
      skillFolder,
      schema: 'native',
    });
    expect(instruction).toBe(
      `${isolationNote}\n\n${conventionNote}\n\n# Shock index\n\nWrite it to \`./output.csv\` from ./database.duckdb with the columns:\n\n\`stay_id\`, \`shock_index\`, \`measured_at\`\n`,
    );
  });

  it('adds exactly the skill files in with-skill', async () => {
    const task = await fixtureTask('mimic-shock-24h');
    const without = contextPackage({
      task,
      condition: 'no-skill',
      protocol: own,
      skillFolder,
      schema: 'native',
    });
    const withSkill = contextPackage({
      task,
      condition: 'with-skill',
      protocol: own,
      skillFolder,
      schema: 'native',
    });
    expect(without.workFiles).toEqual([]);
    expect(without.skills).toEqual([]);
    expect(withSkill.instruction).toBe(without.instruction);
    expect(withSkill.workFiles).toEqual([
      {
        path: '.codex/skills/shock-index/SKILL.md',
        content: { text: fixtureText('families/shock/skills/shock-index/standard/SKILL.md') },
      },
    ]);
    expect(withSkill.skills).toEqual([
      {
        name: 'shock-index',
        description: 'Tells how shock-index is worked out. Use it in tests of the content formats.',
        bodyProbe: 'Divide heart rate by systolic pressure, from the table of vital signs.',
      },
    ]);
    expect(withSkill.hash).not.toBe(without.hash);
  });

  it('has one hash for all agents and another for every changed text', async () => {
    const task = await fixtureTask('mimic-shock-24h');
    const hashOf = (asked: Task, folder: string): string =>
      contextPackage({
        task: asked,
        condition: 'with-skill',
        protocol: own,
        skillFolder: folder,
        schema: 'native',
      }).hash;
    expect(hashOf(task, '.claude/skills')).toBe(hashOf(task, '.codex/skills'));
    expect(hashOf({ ...task, instruction: `${task.instruction}.` }, skillFolder)).not.toBe(
      hashOf(task, skillFolder),
    );
  });

  it('takes the first text of each name, or the text that fits the task, by the protocol', async () => {
    const task = await fixtureTask('mimic-shock-24h-raw');
    const texts = (protocol: typeof own | typeof published): readonly string[] =>
      contextPackage({
        task,
        condition: 'with-skill-all',
        protocol,
        skillFolder,
        schema: 'native',
      }).workFiles.map((file) => ('text' in file.content ? file.content.text : ''));
    expect(texts(published)).toEqual([
      fixtureText('families/frailty/skills/frailty-score/common/SKILL.md'),
      fixtureText('families/shock/skills/shock-index/standard/SKILL.md'),
    ]);
    expect(texts(own)).toEqual([
      fixtureText('families/frailty/skills/frailty-score/common/SKILL.md'),
      fixtureText('families/shock/skills/shock-index/raw/SKILL.md'),
    ]);
  });

  it('copies the decoy of the protocol byte for byte and never marks it', async () => {
    const task = await fixtureTask('mimic-shock-24h');
    const decoy = contextPackage({
      task,
      condition: 'with-skill-decoy',
      protocol: published,
      skillFolder,
      schema: 'native',
    });
    expect(decoy.workFiles).toEqual([
      {
        path: '.codex/skills/frailty-score/SKILL.md',
        content: { text: fixtureText('families/frailty/skills/frailty-score/common/SKILL.md') },
      },
    ]);
    expect(JSON.stringify(decoy)).not.toMatch(/decoy/i);
  });

  it('gives the reference query as text, with front matter only in the own protocol', async () => {
    const task = await fixtureTask('mimic-shock-24h');
    for (const protocol of [own, published]) {
      const { workFiles, skills } = contextPackage({
        task,
        condition: 'with-skill-rawsql',
        protocol,
        skillFolder,
        schema: 'native',
      });
      const [file] = workFiles;
      const text = file !== undefined && 'text' in file.content ? file.content.text : '';
      expect(file?.path).toBe('.codex/skills/mimic-shock-24h/SKILL.md');
      expect(text.startsWith('---\n')).toBe(protocol.rawSqlFrontMatter);
      expect(text).toMatch(
        /```sql\n-- mimiciv_derived\.shock\nselect 1 as stay_id;[\s\S]*from mimiciv_derived\.shock\n```\n$/,
      );
      expect(skills[0]?.description === '').toBe(!protocol.rawSqlFrontMatter);
    }
  });

  it('refuses raw SQL in native names where items or labels were changed, and gives it where only dates were', async () => {
    const task = await findTask('mimic-meld-24h');
    const protocol = await loadProtocol('published-2026');
    const presented = await presentedNames({ task, protocol, schema: 'obfuscated', seed: '1' });
    const given = (perturb: SchemaDictionary['perturb']) =>
      contextPackage({
        task,
        condition: 'with-skill-rawsql',
        protocol,
        skillFolder,
        schema: 'obfuscated',
        presented: { ...presented, dictionary: { ...presented.dictionary, perturb } },
      });
    for (const perturb of [['items'], ['labels', 'dates']] as const)
      expect(() => given([...perturb])).toThrow(expect.objectContaining({ code: 'SKILL_NOT_CARRIED' }));
    expect(given(['dates']).workFiles).toHaveLength(1);
    expect(given([]).workFiles).toHaveLength(1);
  });

  it('appends the operational specification behind a rule, and no skill', async () => {
    const task = await fixtureTask('mimic-shock-24h');
    const { instruction, workFiles } = contextPackage({
      task,
      condition: 'operational-spec',
      protocol: own,
      skillFolder,
      schema: 'native',
    });
    expect(workFiles).toEqual([]);
    expect(instruction).toMatch(
      /`measured_at`\n\n---\n\n## Operational specification\n\nTreat what follows[^\n]*\n\n## Rules\n\nThe index is the heart rate divided by the systolic pressure\.\n$/,
    );
  });

  it('is an error wherever the material is missing', async () => {
    const task = await fixtureTask('mimic-shock-24h-raw');
    const bare: Task = {
      ...task,
      skills: [],
      material: { ...task.material, pool: [], referenceSql: undefined },
    };
    for (const condition of conditionNames.filter((name) => name !== 'no-skill')) {
      expect(
        () => contextPackage({ task: bare, condition, protocol: published, skillFolder, schema: 'native' }),
        condition,
      ).toThrowError(expect.objectContaining({ code: 'CONDITION_MATERIAL_MISSING' }));
    }
  });
});

describe('the shipped content', () => {
  it('renders for every task, every condition it offers and every protocol', async () => {
    const tasks = await loadTasks();
    for (const name of ['m4bench-1', 'published-2026']) {
      const protocol = await loadProtocol(name);
      for (const task of tasks) {
        const bare = contextPackage({ task, condition: 'no-skill', protocol, skillFolder, schema: 'native' });
        for (const condition of task.conditions) {
          const given = contextPackage({ task, condition, protocol, skillFolder, schema: 'native' });
          expect(given.instruction).not.toMatch(/\{(output|db)_path\}/);
          expect(given.instruction.startsWith(bare.instruction.trimEnd())).toBe(true);
          expect(given.instruction === bare.instruction).toBe(condition !== 'operational-spec');
          expect(given.workFiles.length > 0).toBe(condition.startsWith('with-'));
          expect(new Set(given.skills.map((skill) => skill.bodyProbe)).size).toBe(given.skills.length);
        }
      }
    }
  });
});
