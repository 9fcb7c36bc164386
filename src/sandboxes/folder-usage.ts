import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Bytes that a folder occupies on disk, links not followed, counted only until `stopAt` is reached.
 * Every entry costs at least 512 bytes here, so that a million empty files are seen too.
 */
export async function bytesOnDisk(folder: string, stopAt: number): Promise<number> {
  let total = 0;
  const pending = [folder];
  while (pending.length > 0 && total < stopAt) {
    const current = pending.pop()!;
    let names: string[];
    try {
      names = await readdir(current);
    } catch {
      continue;
    }
    for (const name of names) {
      const path = join(current, name);
      try {
        const found = await lstat(path);
        total += Math.max(512, found.blocks * 512);
        if (found.isDirectory()) pending.push(path);
      } catch {
        // Gone between listing and looking.
      }
      if (total >= stopAt) break;
    }
  }
  return total;
}
