import { constants } from 'node:fs';
import { chmod, chown, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import type { WorkFile } from './sandbox.js';

/** Whether a relative path stays inside its folder and holds no empty, `.` or `..` part. */
export function isInnerPath(path: string): boolean {
  return (
    path !== '' &&
    !path.includes('\0') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

/**
 * Puts files into a fresh work folder, before the first command. `owner`: user id that the agent has, when it is
 * not our own.
 */
export async function fillWorkFolder(
  workFolder: string,
  files: readonly WorkFile[],
  owner: number | undefined,
): Promise<void> {
  const made = new Set<string>();
  for (const { path, content, mode } of files) {
    if (!isInnerPath(path)) {
      throw new M4BenchError(
        'WORK_FILE_INVALID',
        `The work file path ${JSON.stringify(path)} is not a relative path inside the work folder.`,
        'Use a path such as context/notes.md.',
        { party: 'internal' },
      );
    }
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) made.add(join(...parts.slice(0, depth)));
    const target = join(workFolder, path);
    await mkdir(dirname(target), { recursive: true });
    if ('text' in content) await writeFile(target, content.text);
    else await copyFile(content.copyOf, target, constants.COPYFILE_FICLONE);
    await chmod(target, mode ?? 0o644);
    if (owner !== undefined) await chown(target, owner, owner);
  }
  for (const folder of made) {
    await chmod(join(workFolder, folder), 0o755);
    if (owner !== undefined) await chown(join(workFolder, folder), owner, owner);
  }
}

/**
 * Lays out the files of a command's home in `<folder>/home-files`, from which init copies them; undefined when there
 * are none. The folder around it keeps everyone else out. Remove it when the command has ended.
 */
export async function layOutHomeFiles(
  folder: string,
  files: readonly WorkFile[] | undefined,
): Promise<string | undefined> {
  if (files === undefined || files.length === 0) return undefined;
  const place = join(folder, 'home-files');
  await mkdir(place, { mode: 0o755 });
  await chmod(place, 0o755);
  await fillWorkFolder(place, files, undefined);
  return place;
}
