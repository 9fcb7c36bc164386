import { join } from 'node:path';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import { type LoadTasksOptions, loadTasks, skillsOf } from '../tasks/load-tasks.js';
import { parseSkill } from '../tasks/skill.js';
import type { DatabaseKind, Skill, TaskMode } from '../tasks/task.js';

/** One text of the skill library with what its front matter says and the checksum of its bytes. */
export interface LibrarySkill {
  readonly name: string;
  /** `common`, or the mode or database the text is written for. */
  readonly variant: string;
  readonly family: string;
  readonly description: string;
  readonly version: string;
  readonly tier: string;
  readonly category: string;
  readonly sources: string;
  readonly license: string;
  readonly compatibility: string;
  /** Words of the body. */
  readonly words: number;
  /** SHA-256 of `SKILL.md`, lower-case hex. */
  readonly sha256: string;
  /** Absolute path of `SKILL.md`. */
  readonly file: string;
  /** The whole file. */
  readonly text: string;
}

function asLibrarySkill(skill: Skill): LibrarySkill {
  const file = join(skill.folder, 'SKILL.md');
  const { frontMatter } = parseSkill(skill.text, file);
  return {
    name: skill.name,
    variant: skill.variant,
    family: skill.family,
    description: skill.description,
    version: frontMatter.metadata.version,
    tier: frontMatter.metadata.tier,
    category: frontMatter.metadata.category,
    sources: frontMatter.metadata.sources,
    license: frontMatter.license,
    compatibility: frontMatter.compatibility,
    words: skill.body.split(/\s+/).filter((word) => word !== '').length,
    sha256: sha256(skill.text),
    file,
    text: skill.text,
  };
}

/** Every text of every skill, by name, then variant (code points). */
export async function skillLibrary(options: LoadTasksOptions = {}): Promise<readonly LibrarySkill[]> {
  const key = ({ name, variant }: LibrarySkill): string => `${name}/${variant}`;
  return skillsOf(await loadTasks(options))
    .map(asLibrarySkill)
    .sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** Which text of a skill fits where it is going to be used. */
export interface SkillSetting {
  /** `raw`: source tables only; `standard`: the derived tables of the public concepts are there too. */
  readonly mode: TaskMode;
  readonly database: DatabaseKind;
}

/** The text of a skill for a setting: the one for the mode, else for the database, else the only one. */
export function fittingSkill(
  library: readonly LibrarySkill[],
  name: string,
  setting: SkillSetting,
): LibrarySkill {
  const texts = library.filter((skill) => skill.name === name);
  const fits =
    texts.find(({ variant }) => variant === setting.mode) ??
    texts.find(({ variant }) => variant === setting.database) ??
    texts[0];
  if (fits !== undefined) return fits;
  const names = [...new Set(library.map((skill) => skill.name))];
  throw new M4BenchError(
    'SKILL_UNKNOWN',
    `There is no skill "${name}".`,
    `${suggestionFor(name, names)}Skills are ${names.join(', ')}.`,
  );
}

/** The text named `<skill>` or `<skill>/<variant>`. Throws `SKILL_UNKNOWN`. */
export function namedSkill(
  library: readonly LibrarySkill[],
  wanted: string,
  setting: SkillSetting,
): LibrarySkill {
  const exact = library.find(({ name, variant }) => `${name}/${variant}` === wanted);
  if (exact !== undefined) return exact;
  if (!wanted.includes('/')) return fittingSkill(library, wanted, setting);
  const known = library.map(({ name, variant }) => `${name}/${variant}`);
  throw new M4BenchError(
    'SKILL_UNKNOWN',
    `There is no skill text "${wanted}".`,
    `${suggestionFor(wanted, known)}Run \`m4bench skills list\` for all texts.`,
  );
}
