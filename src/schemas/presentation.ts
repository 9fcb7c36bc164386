import { join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { hashOf } from '../support/hashing.js';
import type { Home } from '../support/home.js';

/** How a database can be presented besides as it is. */
export const transformedSchemas = ['obfuscated', 'restructured'] as const;
export type TransformedSchema = (typeof transformedSchemas)[number];
export type SchemaName = 'native' | TransformedSchema;

/** Options beyond names and shapes; never on by default, so that the published conditions stay comparable. */
export const perturbations = ['items', 'labels', 'dates'] as const;
export type Perturbation = (typeof perturbations)[number];

/** Everything that decides the bytes of a transformed lake, besides the dataset itself. */
export interface Presentation {
  readonly schema: TransformedSchema;
  /** `sorted`: codes number the names in alphabetical order, as published; `seeded`: drawn from the seed. */
  readonly names: 'sorted' | 'seeded';
  /** Seed of names, column order and perturbations; `sorted` when nothing is drawn. */
  readonly seed: string;
  /** Whether `encounters` loses patients without an admission, as published, or nothing. */
  readonly merges: 'published' | 'lossless';
  /** In the order of `perturbations`. */
  readonly perturb: readonly Perturbation[];
}

/** The seed used when none is named. */
export const defaultSeed = '1';

export interface PresentationOptions {
  readonly schema: TransformedSchema;
  readonly seed?: string | number;
  readonly protocol: { readonly schemaNames: 'sorted' | 'seeded'; readonly merges: 'published' | 'lossless' };
  readonly perturb?: readonly string[];
}

/** Checks and completes what a user or a plan asks for. Throws `SCHEMA_SEED_INVALID` or `PERTURBATION_UNKNOWN`. */
export function presentationOf(options: PresentationOptions): Presentation {
  const seed = String(options.seed ?? defaultSeed);
  if (!/^[a-z0-9]{1,32}$/.test(seed) || seed === 'sorted') {
    throw new M4BenchError(
      'SCHEMA_SEED_INVALID',
      `"${seed}" is not a seed of a schema.`,
      'Use 1 to 32 lower-case letters and digits, for example 1; "sorted" is taken.',
    );
  }
  const asked = options.perturb ?? [];
  const unknown = asked.find((name) => !perturbations.some((known) => known === name));
  if (unknown !== undefined) {
    throw new M4BenchError(
      'PERTURBATION_UNKNOWN',
      `There is no perturbation "${unknown}".`,
      `Use one or more of ${perturbations.join(', ')}.`,
    );
  }
  const perturb = perturbations.filter((name) => asked.includes(name));
  const names = options.protocol.schemaNames;
  // What changes nothing is set to one value, so that equal lakes have equal descriptions.
  return {
    schema: options.schema,
    names,
    seed: names === 'sorted' && perturb.length === 0 ? 'sorted' : seed,
    merges: options.schema === 'restructured' ? options.protocol.merges : 'lossless',
    perturb,
  };
}

/**
 * Folder name of a transformed lake: `obfuscated-1`, `restructured-1`; with the published choices
 * `obfuscated-sorted`, `restructured-sorted-published`; perturbations follow, with the seed they are drawn from.
 */
export function presentationId(presentation: Presentation): string {
  const { schema, names, seed, merges, perturb } = presentation;
  const parts: string[] = [schema, names === 'sorted' ? 'sorted' : seed];
  if (schema === 'restructured' && merges === 'published') parts.push('published');
  if (perturb.length > 0) parts.push(...perturb, ...(names === 'sorted' ? [seed] : []));
  return parts.join('-');
}

/** Where a transformed lake lies; nothing but its Parquet files is ever shown to a sandbox. */
export function presentationFolder(home: Home, dataset: string, presentation: Presentation): string {
  return join(home.schemas, dataset, presentationId(presentation));
}

/** Where a file of a transformed lake lies, all names coded. */
export function presentedPath(folder: string, schema: string, table: string): string {
  return join(folder, schema, `${table}.parquet`);
}

/** A number from the seed that orders names without revealing the seed or the names. */
export function drawKey(seed: string, ...parts: readonly string[]): string {
  return hashOf(['m4bench-schema', seed, ...parts]);
}
