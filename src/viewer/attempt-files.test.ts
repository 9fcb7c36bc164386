import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listFiles, readSmallFile, readSmallJson, readWindow, windowBytes } from './attempt-files.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4b-attempt-files-'));
  await mkdir(join(folder, 'context', '.skills'), { recursive: true });
  await writeFile(join(folder, 'context', '.skills', 'SKILL.md'), 'skill');
  await writeFile(join(folder, 'secret'), 'outside');
  await mkdir(join(folder, 'attempt'));
  await symlink(join(folder, 'secret'), join(folder, 'attempt', 'link.txt'));
  await symlink(folder, join(folder, 'attempt', 'up'));
  await writeFile(join(folder, 'attempt', 'broken.json'), '{');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A whole file, part by part. */
async function partsOf(path: string): Promise<readonly string[]> {
  const parts: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const part = await readWindow(folder, path, offset);
    parts.push(part!.text);
    offset = part!.next;
  }
  return parts;
}

describe('files of an attempt', () => {
  it('are listed with their folders, links left out', async () => {
    expect(await listFiles(join(folder, 'attempt'))).toEqual([{ path: 'broken.json', bytes: 1 }]);
    expect((await listFiles(folder)).map(({ path }) => path)).toContain('context/.skills/SKILL.md');
  });

  it('are read by their listed names only: no link, no way up', async () => {
    const attempt = join(folder, 'attempt');
    for (const path of ['link.txt', 'up/secret', '../secret', 'broken.json/', '/etc/passwd', '']) {
      expect(await readWindow(attempt, path, 0)).toBeUndefined();
      expect(await readSmallFile(attempt, path)).toBeUndefined();
    }
    expect(await readSmallJson(attempt, 'broken.json')).toBeUndefined();
    expect(await readSmallFile(folder, 'secret', 3)).toBeUndefined();
  });

  it('are paged at line ends', async () => {
    const lines = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join('\n');
    await writeFile(join(folder, 'lines'), lines);
    const parts = await partsOf('lines');
    expect(parts.join('')).toBe(lines);
    expect(parts.slice(0, -1).every((part) => part.endsWith('\n'))).toBe(true);
  });

  it('are paged within one line of 10 MB, without tearing a character', async () => {
    const line = `x${'é患🙂'.repeat(1_200_000)}`;
    await writeFile(join(folder, 'long'), line);
    const parts = await partsOf('long');
    expect(parts.length).toBeGreaterThan(100);
    expect(Math.max(...parts.map((part) => Buffer.byteLength(part)))).toBeLessThanOrEqual(windowBytes);
    expect(parts.join('') === line).toBe(true);
  });

  it('are read from any offset: what is left of a torn character is left out', async () => {
    await writeFile(join(folder, 'torn'), 'é患🙂!');
    expect((await readWindow(folder, 'torn', 1))?.text).toBe('患🙂!');
    expect((await readWindow(folder, 'torn', 8))?.text).toBe('!');
    expect(await readWindow(folder, 'torn', 1_000)).toMatchObject({ text: '', next: null, offset: 10 });
  });
});
