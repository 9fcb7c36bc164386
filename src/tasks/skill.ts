import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { readContentFile } from '../support/toml-file.js';
import { type SkillFrontMatter, skillFrontMatter, splitFrontMatter } from './front-matter.js';
import type { Skill } from './task.js';

/** Checks the front matter of a skill text. Throws `SKILL_INVALID` naming file, field and remedy. */
export function parseSkill(
  text: string,
  file: string,
): { readonly frontMatter: SkillFrontMatter; readonly body: string } {
  const { fields, body } = splitFrontMatter(text, file);
  const checked = skillFrontMatter.safeParse(fields);
  if (checked.success) return { frontMatter: checked.data, body };
  const issue = checked.error.issues[0];
  const field =
    issue?.code === 'unrecognized_keys'
      ? [...issue.path, issue.keys[0] ?? ''].join('.')
      : (issue?.path ?? []).join('.');
  const reason =
    issue?.code === 'unrecognized_keys' ? 'is not known here' : (issue?.message ?? 'is not valid');
  throw new M4BenchError(
    'SKILL_INVALID',
    `${file}: front matter field ${field} ${reason}.`,
    'Keep exactly name, description, license, compatibility and metadata (version, tier, category, sources, all texts).',
  );
}

/**
 * Loads one skill text from `<family>/skills/<name>/<variant>/`. The folder must hold `SKILL.md` and nothing
 * else, and the name in the front matter must be that of the folder.
 */
export async function loadSkill(folder: string, family: string): Promise<Skill> {
  const name = basename(join(folder, '..'));
  const file = join(folder, 'SKILL.md');
  const text = await readContentFile(file, 'SKILL_INVALID', 'skill');
  const stray = (await readdir(folder)).find((entry) => entry !== 'SKILL.md');
  if (stray !== undefined) {
    throw new M4BenchError(
      'SKILL_INVALID',
      `${join(folder, stray)}: a skill folder holds SKILL.md and nothing else.`,
      'Move the file away, or put its content into SKILL.md.',
    );
  }
  const { frontMatter, body } = parseSkill(text, file);
  if (frontMatter.name !== name) {
    throw new M4BenchError(
      'SKILL_INVALID',
      `${file}: front matter field name is "${frontMatter.name}", the folder is "${name}".`,
      'Give both the same name.',
    );
  }
  return {
    name,
    variant: basename(folder),
    family,
    folder,
    description: frontMatter.description,
    text,
    body,
  };
}

/** Every skill text of a family, sorted by name and variant; none when the family has no `skills/` folder. */
export async function loadFamilySkills(familyFolder: string): Promise<readonly Skill[]> {
  const root = join(familyFolder, 'skills');
  const skills: Skill[] = [];
  for (const name of await subfolders(root)) {
    for (const variant of await subfolders(join(root, name))) {
      skills.push(await loadSkill(join(root, name, variant), basename(familyFolder)));
    }
  }
  return skills;
}

/** Names of the folders in a folder, by code point; empty when it does not exist. */
export async function subfolders(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
