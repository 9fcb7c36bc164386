import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fileTrouble, reasonOf } from './errors.js';

const thrownBy = async (path: string): Promise<unknown> =>
  await readFile(path).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

test('a file that cannot be used is told in words, with its name where the caller does not have it', async () => {
  const missing = await thrownBy('/nonexistent/file.sql');
  expect(reasonOf(missing)).toBe('there is no such file or folder');
  expect(fileTrouble(missing)).toBe('/nonexistent/file.sql: there is no such file or folder.');
  expect(reasonOf(await thrownBy('/'))).toBe('it is a folder');
  expect(reasonOf(new Error('something\n else'))).toBe('something else');
  expect(fileTrouble(new Error('something'))).toBeUndefined();
});
