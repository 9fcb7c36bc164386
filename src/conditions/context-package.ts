import type { WorkFile } from '../sandboxes/sandbox.js';
import { translateInstruction } from '../schemas/carried-text.js';
import { dictionarySection } from '../schemas/dictionary-section.js';
import type { SchemaName } from '../schemas/presentation.js';
import { M4BenchError } from '../support/errors.js';
import { hashOf, sha256 } from '../support/hashing.js';
import type { ConditionName } from '../tasks/condition.js';
import type { Protocol } from '../tasks/protocol.js';
import type { Task } from '../tasks/task.js';
import { bodyProbe } from './body-probe.js';
import { skillInSchema } from './carried-skills.js';
import { materialMissing, type PlacedSkill, placedSkills } from './placed-skills.js';
import { conventionNote, databasePath, isolationNote, outputPath } from './preamble.js';
import type { PresentedNames } from './presented-names.js';

export interface ContextRequest {
  readonly task: Task;
  readonly condition: ConditionName;
  readonly protocol: Pick<Protocol, 'skillPool' | 'decoys' | 'rawSqlFrontMatter' | 'schemaDictionary'>;
  /** Where the agent looks for skills, relative to the work folder, for example `.codex/skills`. */
  readonly skillFolder: string;
  readonly schema: SchemaName;
  /** What a transformed schema presents; needed unless the schema is native. */
  readonly presented?: PresentedNames;
}

/** Everything an agent is given besides the task database. */
export interface ContextPackage {
  /** Text of `instruction.md`, which is also the prompt. */
  readonly instruction: string;
  /** Skill files, relative to the work folder. */
  readonly workFiles: readonly WorkFile[];
  /** The placed skills, and a line of each body that shows in a request that the skill was opened. */
  readonly skills: readonly {
    readonly name: string;
    readonly description: string;
    readonly bodyProbe: string;
  }[];
  /** Hash of the instruction and the skill files; the same for every agent, whatever its skill folder. */
  readonly hash: string;
}

/**
 * Puts together what an agent is given; pure. Nothing in the instruction names a skill: skills reach the agent as
 * files only, so `with-skill` minus `no-skill` is exactly the skill files.
 *
 * In a transformed schema the instruction (operational specification included) is carried over and a dictionary of the
 * codes follows it. Whether skills and the raw SQL are carried too is a switch of the protocol; the published benchmark
 * leaves them as they are, which tests whether knowledge in native names still helps.
 *
 * Throws `CONDITION_MATERIAL_MISSING` when the material of the condition does not exist, and `SKILL_NOT_CARRIED` for raw
 * SQL in native names over changed items or labels.
 */
export function contextPackage(request: ContextRequest): ContextPackage {
  const { task, condition, skillFolder } = request;
  const instruction = inSchema(instructionText(task, condition), request);
  const placed = skillsInSchema(request);
  return {
    instruction,
    workFiles: placed.map(({ name, text }) => ({
      path: `${skillFolder}/${name}/SKILL.md`,
      content: { text },
    })),
    skills: placed.map((skill) => ({
      name: skill.name,
      description: skill.description,
      bodyProbe: bodyProbe(skill.body, skill.name, [
        instruction,
        skill.description,
        ...placed.filter((other) => other !== skill).map((other) => other.text),
      ]),
    })),
    hash: hashOf({
      instruction: sha256(instruction),
      skills: placed.map(({ name, text }) => [name, sha256(text)]),
    }),
  };
}

/** The skills of the condition as the schema gives them. */
function skillsInSchema({
  task,
  condition,
  protocol,
  schema,
  presented,
}: ContextRequest): readonly PlacedSkill[] {
  if (schema === 'native' || presented === undefined) return placedSkills(task, condition, protocol);
  const isRawSql = condition === 'with-skill-rawsql';
  if (!isRawSql)
    return placedSkills(task, condition, protocol).map((skill) => skillInSchema(skill, presented));
  const changed = presented.dictionary.perturb.filter((kind) => kind === 'items' || kind === 'labels');
  if (presented.referenceSql === undefined && changed.length > 0) {
    throw new M4BenchError(
      'SKILL_NOT_CARRIED',
      `The raw SQL of ${task.name} stays in native names under this protocol, and with changed ${changed.join(' and ')} it would point at the wrong rows.`,
      'Leave with-skill-rawsql or --perturb out, or use protocol m4bench-1, which carries the query.',
    );
  }
  const referenceSql = presented.referenceSql ?? task.material.referenceSql;
  const material = referenceSql === undefined ? task.material : { ...task.material, referenceSql };
  return placedSkills({ ...task, material }, condition, protocol);
}

function instructionText(task: Task, condition: ConditionName): string {
  const own = task.instruction.replaceAll('{db_path}', databasePath).replaceAll('{output_path}', outputPath);
  const text = `${isolationNote}\n\n${conventionNote}\n\n${own}`;
  if (condition !== 'operational-spec') return text;
  const spec = task.material.operationalSpec;
  if (spec === undefined) throw materialMissing(task, condition, `operational-spec/${task.name}.md`);
  return `${text.trimEnd()}

---

## Operational specification

Treat what follows as the complete specification of the task. On purpose it gives no SQL for the task, no item identifiers of the dataset and no recipe of the reference code.

${spec.trim()}
`;
}

function inSchema(text: string, { schema, presented, protocol }: ContextRequest): string {
  if (schema === 'native') return text;
  if (presented === undefined || presented.dictionary.schema !== schema) {
    throw new RangeError(`The context of schema ${schema} needs the names of that schema.`);
  }
  const carried = translateInstruction(text, presented.dictionary);
  return `${carried.trimEnd()}\n\n${dictionarySection({ ...presented, protocol })}`;
}
