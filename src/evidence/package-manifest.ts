import { z } from 'zod';
import { packageModes } from './ruleset.js';

/** The one folder that every package unpacks to. */
export const packageRootName = 'evidence';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

const entrySchema = z.strictObject({
  /** Below the root folder of the package. */
  path: z.string(),
  bytes: z.number().int().nonnegative(),
  sha256: hash,
});
export type PackageEntry = z.infer<typeof entrySchema>;

/** `manifest.json`: every file of a package but itself and its hash, in the order in which they stand. */
export const manifestSchema = z.strictObject({
  schemaVersion: z.literal(1),
  kind: z.literal('m4bench-evidence'),
  mode: z.enum(packageModes as [string, ...string[]]).transform((mode) => mode as 'public' | 'private'),
  campaign: z.string(),
  benchmarkVersion: z.string(),
  planHash: hash.nullable(),
  rules: z.strictObject({ version: z.string(), sha256: hash }),
  runs: z.strictObject({
    /** Null when there is no plan (single runs). */
    planned: z.number().int().nullable(),
    packaged: z.number().int(),
    /** Planned runs without a result, by id. */
    missing: z.array(z.string()),
    /** Results that no plan asks for, by id. */
    unplanned: z.array(z.string()),
  }),
  entries: z.array(entrySchema),
});
export type PackageManifest = z.infer<typeof manifestSchema>;

const originSchema = z.strictObject({
  file: z.string(),
  /**
   * `packaged` unchanged; `redacted`: changed by rules; `withheld`: not in the package, by rule; `absent`: the run did
   * not make it.
   */
  state: z.enum(['packaged', 'redacted', 'withheld', 'absent']),
  /** Why it is not there as it was; null when it is. */
  reason: z.string().nullable(),
  /** Of the original; null when absent. */
  bytes: z.number().int().nonnegative().nullable(),
  sha256: hash.nullable(),
});
export type OriginRecord = z.infer<typeof originSchema>;

/** One line of `lineage.jsonl`: from what was asked to each file of a run, by the hashes of the originals. */
export const lineageSchema = z.strictObject({
  runId: z.string(),
  /** Hash of the cell, as in the journal. */
  cell: hash,
  inputs: z.strictObject({
    plan: hash.nullable(),
    dataset: z.string(),
    instruction: z.string(),
    context: z.string(),
    reference: z.string(),
    taskDatabase: z.string(),
    query: z.string().nullable(),
    rootfs: z.string().nullable(),
  }),
  result: originSchema,
  attempts: z.array(z.strictObject({ n: z.number().int(), files: z.array(originSchema) })),
});
export type RunLineage = z.infer<typeof lineageSchema>;

/** `sanitisation.json`. */
export const sanitisationSchema = z.strictObject({
  schemaVersion: z.literal(1),
  mode: z.string(),
  /** Every rule with its number of hits, also those without. */
  rules: z.array(z.strictObject({ id: z.string(), why: z.string(), hits: z.number().int() })),
  /** Years whose dates were taken out; null where the datasets have no dates. */
  years: z.strictObject({ from: z.number(), to: z.number() }).nullable(),
  datasets: z.array(z.strictObject({ name: z.string(), contentHash: z.string(), class: z.string() })),
  /** Files in which a rule hit, with the rules. */
  files: z.array(z.strictObject({ path: z.string(), hits: z.record(z.string(), z.number().int()) })),
});
export type SanitisationReport = z.infer<typeof sanitisationSchema>;

const MAX_PATH = 400;
const MAX_DEPTH = 16;

/** The first entry whose name could do harm or stands twice, with why; undefined when all are plain. */
export function objectionToPaths(
  entries: readonly PackageEntry[],
): { readonly path: string; readonly why: string } | undefined {
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const { path } of entries) {
    const why = objectionTo(path);
    if (why !== undefined) return { path, why };
    // Some file systems do not tell small letters from capitals.
    const name = path.toLowerCase();
    if (files.has(name)) return { path, why: 'stands twice' };
    files.add(name);
    const parts = name.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) folders.add(parts.slice(0, depth).join('/'));
  }
  const clash = [...files].find((path) => folders.has(path));
  return clash === undefined ? undefined : { path: clash, why: 'is a file and a folder' };
}

function objectionTo(path: string): string | undefined {
  if (path === 'manifest.json' || path === 'manifest.sha256') return 'is that of the manifest itself';
  if (path.length > MAX_PATH) return 'is too long';
  if (!/^[\x20-\x7e]+$/.test(path) || /[\\:*?"<>|]/.test(path))
    return 'holds characters that no file of a package has';
  const parts = path.split('/');
  if (parts.length > MAX_DEPTH) return 'is too deep';
  if (parts.some((part) => part.length > 200)) return 'is too long';
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return 'leaves its folder';
  return undefined;
}
