import { readFileSync } from 'node:fs';

/** Text of a file of the kernel, trimmed; undefined where it cannot be read. */
export function kernelFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
