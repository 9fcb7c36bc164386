import { M4BenchError } from '../support/errors.js';
import type { ConditionName } from '../tasks/condition.js';
import type { Protocol } from '../tasks/protocol.js';
import { parseSkill } from '../tasks/skill.js';
import type { Skill, Task } from '../tasks/task.js';
import { rawSqlSkill } from './raw-sql-skill.js';

/** One skill file as an agent finds it. */
export interface PlacedSkill {
  readonly name: string;
  /** What the CLI shows of the skill before it is opened; empty for a file without front matter. */
  readonly description: string;
  readonly text: string;
  readonly body: string;
}

/** The error for a condition whose material does not exist; a run without it would measure something else. */
export function materialMissing(
  task: Pick<Task, 'name'>,
  condition: ConditionName,
  what: string,
): M4BenchError {
  return new M4BenchError(
    'CONDITION_MATERIAL_MISSING',
    `Condition ${condition} of task ${task.name} needs ${what}, which does not exist.`,
    'Run `m4bench tasks show` for the conditions this task offers, or add the material.',
  );
}

/** The skills that a condition puts into the agent's skill folder, in order. */
export function placedSkills(
  task: Task,
  condition: ConditionName,
  protocol: Pick<Protocol, 'skillPool' | 'decoys' | 'rawSqlFrontMatter'>,
): readonly PlacedSkill[] {
  switch (condition) {
    case 'no-skill':
    case 'operational-spec':
      return [];
    case 'with-skill':
      if (task.skills.length === 0) throw materialMissing(task, condition, 'a skill of the task');
      return task.skills.map(asPlaced);
    case 'with-skill-all':
      if (task.material.pool.length === 0) throw materialMissing(task, condition, 'at least one skill');
      return poolFor(task, protocol.skillPool).map(asPlaced);
    case 'with-skill-decoy': {
      const decoy = task.material.decoys[protocol.decoys];
      if (decoy === undefined)
        throw materialMissing(task, condition, `an entry in benchmark/decoys/${protocol.decoys}.toml`);
      return [asPlaced(decoy)];
    }
    case 'with-skill-rawsql': {
      const sql = task.material.referenceSql;
      if (sql === undefined)
        throw materialMissing(task, condition, `the reference query ${task.referenceFile}`);
      const text = rawSqlSkill(task.name, sql, protocol.rawSqlFrontMatter);
      if (!protocol.rawSqlFrontMatter) return [{ name: task.name, description: '', text, body: text }];
      const { frontMatter, body } = parseSkill(text, `raw SQL of ${task.name}`);
      return [{ name: task.name, description: frontMatter.description, text, body }];
    }
  }
}

function asPlaced({ name, description, text, body }: Skill): PlacedSkill {
  return { name, description, text, body };
}

/**
 * One text per skill name. `first-seen` is the published pool, in which a raw task meets texts that name tables it
 * does not have; `fitting` takes the task's own text, else the text for its mode or its database.
 */
function poolFor(task: Task, rule: Protocol['skillPool']): readonly Skill[] {
  if (rule === 'first-seen') return task.material.pool;
  return task.material.pool.map((first) => {
    const own = task.skills.find((skill) => skill.name === first.name);
    if (own !== undefined) return own;
    const texts = task.material.library.filter((skill) => skill.name === first.name);
    return (
      texts.find((skill) => skill.variant === task.mode) ??
      texts.find((skill) => skill.variant === task.database) ??
      first
    );
  });
}
