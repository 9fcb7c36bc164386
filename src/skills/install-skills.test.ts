import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../support/hashing.js';
import { type InstallState, installSkills } from './install-skills.js';
import type { LibrarySkill } from './skill-library.js';

function skill(name: string, text: string, version = '1.0'): LibrarySkill {
  return { name, text, version, variant: 'common', sha256: sha256(text) } as LibrarySkill;
}

describe('installSkills', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4bench-skills-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const install = async (
    skills: readonly LibrarySkill[],
    isForced = false,
  ): Promise<readonly InstallState[]> =>
    (await installSkills({ folder, skills, isForced })).map(({ state }) => state);
  const installedText = (name: string): Promise<string> => readFile(join(folder, name, 'SKILL.md'), 'utf8');

  it('writes each skill where agents look for it, byte for byte', async () => {
    expect(await install([skill('sofa', 'S\n'), skill('meld', 'M é\n')])).toEqual(['installed', 'installed']);
    expect(await installedText('sofa')).toBe('S\n');
    expect(await installedText('meld')).toBe('M é\n');
  });

  it('leaves equal files alone and brings unchanged older ones up to date', async () => {
    await install([skill('sofa', 'old\n')]);
    expect(await install([skill('sofa', 'old\n')])).toEqual(['unchanged']);
    expect(await install([skill('sofa', 'new\n', '1.1')])).toEqual(['updated']);
    expect(await installedText('sofa')).toBe('new\n');
  });

  it('never overwrites a changed file unless that is asked for, and installs the others', async () => {
    await install([skill('sofa', 'old\n')]);
    await writeFile(join(folder, 'sofa', 'SKILL.md'), 'mine\n');
    expect(await install([skill('sofa', 'new\n'), skill('meld', 'M\n')])).toEqual(['kept', 'installed']);
    expect(await installedText('sofa')).toBe('mine\n');
    expect(await install([skill('sofa', 'new\n')], true)).toEqual(['overwritten']);
    expect(await installedText('sofa')).toBe('new\n');
  });

  it('takes a file of the same name that somebody else wrote for a changed one', async () => {
    await mkdir(join(folder, 'sofa'));
    await writeFile(join(folder, 'sofa', 'SKILL.md'), 'theirs\n');
    expect(await install([skill('sofa', 'ours\n')])).toEqual(['kept']);
    expect(await installedText('sofa')).toBe('theirs\n');
  });

  it('does not forget that a kept file was changed', async () => {
    await install([skill('sofa', 'old\n')]);
    await writeFile(join(folder, 'sofa', 'SKILL.md'), 'mine\n');
    await install([skill('sofa', 'new\n')]);
    expect(await install([skill('sofa', 'new\n')])).toEqual(['kept']);
  });

  it('refuses a broken record instead of guessing', async () => {
    await writeFile(join(folder, '.m4bench-skills.json'), '{"skills": 3}');
    await expect(install([skill('sofa', 'S\n')])).rejects.toMatchObject({ code: 'SKILL_RECORD_INVALID' });
  });

  it('says what is in the way when a file cannot be written', async () => {
    await writeFile(join(folder, 'sofa'), 'a file where a folder must be');
    await expect(install([skill('sofa', 'S\n')])).rejects.toMatchObject({ code: 'SKILL_NOT_INSTALLED' });
  });
});
