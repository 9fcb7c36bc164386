import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorClassOf, isOutOfMemory, Refusal } from './refusal.js';
import { ScratchFolder } from './scratch-folder.js';

describe('errors of the engine', () => {
  it('are told by their class', () => {
    expect(errorClassOf('Conversion Error: Could not convert "secret"')).toBe('Conversion Error');
    expect(errorClassOf('Out of Memory Error: secret')).toBe('Out of Memory Error');
    expect(errorClassOf('secret')).toBe('unexpected error');
    expect(errorClassOf('"secret" is no Conversion Error')).toBe('unexpected error');
    expect(errorClassOf(`${'secret '.repeat(6)}Error`)).toBe('unexpected error');
  });

  it('may be a lack of memory', () => {
    expect(isOutOfMemory(new Error('Out of Memory Error: failed to allocate'))).toBe(true);
    expect(isOutOfMemory(new Error('Invalid Input Error: "Out of Memory Error"'))).toBe(false);
  });

  it('become refusals with a kind and a reason', () => {
    const refusal = new Refusal('output-empty', 'There is nothing in it.');
    expect([refusal.name, refusal.kind, refusal.message]).toEqual([
      'Refusal',
      'output-empty',
      'There is nothing in it.',
    ]);
    expect(refusal).toBeInstanceOf(Error);
  });
});

describe('a scratch folder', () => {
  it('gives new paths in one private folder, which is gone at the end', async () => {
    const paths: string[] = [];
    {
      await using scratch = new ScratchFolder();
      for (let n = 0; n < 3; n++) paths.push(await scratch.newPath());
      for (const path of paths) await writeFile(path, 'x', { flag: 'wx' });
      const folder = dirname(paths[0] as string);
      expect(new Set(paths.map(dirname)).size).toBe(1);
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
    }
    expect(paths.map((path) => existsSync(dirname(path)))).toEqual([false, false, false]);
  });

  it('that nobody needed is never made', async () => {
    await expect(new ScratchFolder()[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});
