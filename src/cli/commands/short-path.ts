import { relative } from 'node:path';

/** A path for people: relative to the current folder where the file lies inside it. */
export function shortPath(file: string): string {
  const fromHere = relative(process.cwd(), file);
  return fromHere.startsWith('..') ? file : fromHere;
}
