import { z } from 'zod';
import { perturbations } from '../schemas/presentation.js';
import { hashOf } from '../support/hashing.js';
import { encodeSegment } from '../support/ids.js';

/** What was asked of a run; two runs with equal cells are trials of one another. */
export const cellSchema = z.object({
  task: z.string(),
  condition: z.string(),
  schema: z.enum(['native', 'obfuscated', 'restructured']),
  /** What a transformed schema was drawn from; absent in the native one. */
  presentation: z
    .object({
      seed: z.string(),
      perturb: z.array(z.enum(perturbations)),
      /** Hash of the whole map, which never leaves the home folder. */
      dictionaryHash: z.string(),
    })
    .optional(),
  protocol: z.string(),
  dataset: z.string(),
  /** Content hash of the dataset. */
  datasetHash: z.string(),
  agent: z.string(),
  /** Pinned CLI version, or null for built-in agents. */
  cliVersion: z.string().nullable(),
  /** Digest of the root file system, or null when the host's own /usr is used. */
  rootfsDigest: z.string().nullable(),
  /** How the agent reaches its model: its CLI's own login. Absent: by keys at the gateway, which sees every request. */
  auth: z.literal('login').optional(),
  model: z.string().nullable(),
  effort: z.string(),
  hashes: z.object({
    instruction: z.string(),
    context: z.string(),
    reference: z.string(),
    taskDatabase: z.string(),
    /** Query that the `sql` agent plays, else null. */
    query: z.string().nullable(),
  }),
});
export type Cell = z.infer<typeof cellSchema>;

/** Readable and unique without a clock: task, condition, schema, agent, model, effort, trial and a hash of the cell. */
export function runIdOf(cell: Cell, trial: number): string {
  const parts = [cell.task, cell.condition, cell.schema, cell.agent, cell.model ?? 'default', cell.effort];
  return `${parts.map(encodeSegment).join('_')}_t${trial}_${hashOf(cell).slice(0, 10)}`;
}
