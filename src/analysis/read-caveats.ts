import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import { byCodePoint } from './moments.js';
import type { ValidityCaveat } from './published-documents.js';

const conventionsFile = z.object({ conventions: z.array(z.object({ rule: z.string() })).default([]) });
const provenanceFile = z.object({ caveats: z.array(z.object({ text: z.string() })).default([]) });

/** Conventions kept and reviewers' caveats of every family of the benchmark's content (table 9). */
export async function readValidityCaveats(
  contentFolder = benchmarkFolder(),
): Promise<readonly ValidityCaveat[]> {
  const root = join(contentFolder, 'families');
  const families = (await readdir(root, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort(byCodePoint);
  const caveats: ValidityCaveat[] = [];
  for (const family of families) {
    const [conventions, provenance] = ['conventions.toml', 'provenance.toml'].map((name) =>
      join(root, family, name),
    ) as [string, string];
    if (!existsSync(conventions) || !existsSync(provenance)) continue;
    const kept = await readTomlFile(conventions, conventionsFile, 'TASK_INVALID', 'conventions');
    const noted = await readTomlFile(provenance, provenanceFile, 'TASK_INVALID', 'provenance');
    caveats.push({
      family,
      convention: kept.conventions.map(({ rule }) => rule).join(' '),
      caveat: noted.caveats.map(({ text }) => text).join(' '),
    });
  }
  return caveats;
}
