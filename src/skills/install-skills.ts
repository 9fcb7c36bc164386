import { join } from 'node:path';
import { z } from 'zod';
import { M4BenchError, messageOf, systemCodeOf } from '../support/errors.js';
import { readTextIfPresent, writeFileAtomic, writeJsonAtomic } from '../support/files.js';
import { sha256 } from '../support/hashing.js';
import type { LibrarySkill } from './skill-library.js';

/** What was installed into a skill folder, beside the skills; agents read sub-folders only and pass it by. */
const recordName = '.m4bench-skills.json';

const recordSchema = z.object({
  schemaVersion: z.literal(1),
  skills: z.record(
    z.string(),
    z.object({ variant: z.string(), version: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});

type InstallRecord = z.infer<typeof recordSchema>;

/**
 * - `installed`: the file was not there
 * - `updated`: the file was an older text of ours, unchanged since
 * - `unchanged`: the file has the very bytes
 * - `kept`: the file was changed by somebody else and stays
 * - `overwritten`: the same, overwritten because that was asked for
 */
export type InstallState = 'installed' | 'updated' | 'unchanged' | 'kept' | 'overwritten';

export interface InstalledSkill {
  readonly skill: LibrarySkill;
  readonly path: string;
  readonly state: InstallState;
}

export interface InstallOptions {
  /** The skill folder of an agent, absolute, for example `<project>/.claude/skills`. */
  readonly folder: string;
  readonly skills: readonly LibrarySkill[];
  /** Overwrites files that were changed since they were installed, or that others wrote. */
  readonly isForced: boolean;
}

/**
 * Writes skills into the skill folder of an agent, each file whole or not at all, and records version and checksum of
 * each. A file that differs from every text of ours is never overwritten unless that is asked for; the others are
 * installed all the same.
 */
export async function installSkills(options: InstallOptions): Promise<readonly InstalledSkill[]> {
  const { folder, skills, isForced } = options;
  const record = await readRecord(join(folder, recordName));
  const done: InstalledSkill[] = [];
  for (const skill of skills) {
    const path = join(folder, skill.name, 'SKILL.md');
    const state = await installOne(path, skill, record, isForced);
    if (state !== 'kept') {
      record.skills[skill.name] = { variant: skill.variant, version: skill.version, sha256: skill.sha256 };
    }
    done.push({ skill, path, state });
  }
  await writeJsonAtomic(join(folder, recordName), record);
  return done;
}

async function installOne(
  path: string,
  skill: LibrarySkill,
  record: InstallRecord,
  isForced: boolean,
): Promise<InstallState> {
  try {
    const state = stateOf(await readTextIfPresent(path), skill, record, isForced);
    if (state !== 'kept' && state !== 'unchanged') await writeFileAtomic(path, skill.text);
    return state;
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    throw new M4BenchError(
      'SKILL_NOT_INSTALLED',
      `Cannot install ${path}: ${messageOf(thrown)}.`,
      'Make the folder writable, or choose another project.',
      { cause: thrown },
    );
  }
}

function stateOf(
  present: string | undefined,
  skill: LibrarySkill,
  record: InstallRecord,
  isForced: boolean,
): InstallState {
  if (present === undefined) return 'installed';
  const hash = sha256(present);
  if (hash === skill.sha256) return 'unchanged';
  if (hash === record.skills[skill.name]?.sha256) return 'updated';
  return isForced ? 'overwritten' : 'kept';
}

async function readRecord(path: string): Promise<InstallRecord> {
  const text = await readTextIfPresent(path);
  if (text === undefined) return { schemaVersion: 1, skills: {} };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    content = undefined;
  }
  const read = recordSchema.safeParse(content);
  if (read.success) return read.data;
  throw new M4BenchError(
    'SKILL_RECORD_INVALID',
    `${path} is not a record of installed skills.`,
    'Remove it; files that were changed are then told by their content alone.',
  );
}
