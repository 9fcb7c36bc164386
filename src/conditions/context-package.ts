import type { WorkFile } from '../sandboxes/sandbox.js';
import { hashOf, sha256 } from '../support/hashing.js';
import type { ConditionName } from '../tasks/condition.js';
import type { Protocol } from '../tasks/protocol.js';
import type { Task } from '../tasks/task.js';
import { bodyProbe } from './body-probe.js';
import { materialMissing, placedSkills } from './placed-skills.js';
import { conventionNote, databasePath, isolationNote, outputPath } from './preamble.js';

export interface ContextRequest {
  readonly task: Task;
  readonly condition: ConditionName;
  readonly protocol: Pick<Protocol, 'skillPool' | 'decoys' | 'rawSqlFrontMatter'>;
  /** Where the agent looks for skills, relative to the work folder, for example `.codex/skills`. */
  readonly skillFolder: string;
  readonly schema: 'native';
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
 * Throws `CONDITION_MATERIAL_MISSING` when the material of the condition does not exist.
 */
export function contextPackage({ task, condition, protocol, skillFolder }: ContextRequest): ContextPackage {
  const instruction = instructionText(task, condition);
  const placed = placedSkills(task, condition, protocol);
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
