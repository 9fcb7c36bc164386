import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashOf, sha256 } from '../../support/hashing.js';
import type { Skill, Task } from '../task.js';

/**
 * Hash of everything of a family that a clinician reviews: contracts, instructions, skills and operational
 * specifications. A review record carries it and goes stale when it changes.
 */
export async function familyContentHash(
  folder: string,
  tasks: readonly Task[],
  skills: readonly Skill[],
): Promise<string> {
  return hashOf({
    family: sha256(await readFile(join(folder, 'family.toml'))),
    tasks: await Promise.all(
      tasks.map(async (task) => [
        task.name,
        sha256(await readFile(join(folder, 'tasks', `${task.name}.toml`))),
        sha256(task.instruction),
        task.material.operationalSpec === undefined ? null : sha256(task.material.operationalSpec),
      ]),
    ),
    skills: skills.map((skill) => [skill.name, skill.variant, sha256(skill.text)]),
  });
}
