import { join } from 'node:path';
import { z } from 'zod';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import { kebabName } from './family-file.js';
import type { Skill } from './task.js';

/** The decoy mappings of the benchmark; which one counts is a switch of the protocol. */
export type DecoyMappingName = 'published' | 'far';

const decoyFile = z.strictObject({
  name: kebabName,
  reason: z.string().min(1),
  /** Task name to `<skill>/<variant>`. */
  decoys: z.record(
    kebabName,
    z.string().regex(/^[a-z0-9-]+\/[a-z0-9-]+$/, 'must have the form "<skill>/<variant>"'),
  ),
});

/** A mapping from task names to the skill text each gets as its decoy. */
export type DecoyMapping = ReadonlyMap<string, string>;

/** Reads `benchmark/decoys/<name>.toml`. Throws `DECOYS_INVALID` naming file and field. */
export async function loadDecoyMapping(
  name: DecoyMappingName,
  folder: string = join(benchmarkFolder(), 'decoys'),
): Promise<DecoyMapping> {
  const read = await readTomlFile(join(folder, `${name}.toml`), decoyFile, 'DECOYS_INVALID', 'decoy mapping');
  return new Map(Object.entries(read.decoys));
}

/** The skill text a mapping gives a task; undefined when the mapping does not name the task. */
export function decoyOf(mapping: DecoyMapping, task: string, library: readonly Skill[]): Skill | undefined {
  const wanted = mapping.get(task);
  if (wanted === undefined) return undefined;
  const skill = library.find(({ name, variant }) => `${name}/${variant}` === wanted);
  if (skill === undefined) {
    throw new M4BenchError(
      'DECOYS_INVALID',
      `The decoy ${wanted} of task ${task} is not a skill of this benchmark.`,
      'Correct the mapping under benchmark/decoys, or add the skill text.',
    );
  }
  return skill;
}
