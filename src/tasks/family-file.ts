import { z } from 'zod';
import { type DatabaseKind, databaseKind } from '../datasets/source-schema.js';

/** Names that become folder names and parts of run ids. */
export const kebabName = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits, joined by single hyphens')
  .max(64, 'must not be longer than 64 characters');

const columnName = z.string().regex(/^[a-z_][a-z0-9_]*$/, 'must be a lower-case column name');

const columnList = z
  .array(columnName)
  .min(1, 'must name at least one column')
  .refine((names) => new Set(names).size === names.length, 'must not name a column twice');

const share = z.number().min(0, 'must lie between 0 and 1').max(1, 'must lie between 0 and 1');

const relationName = z
  .string()
  .regex(
    /^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$/,
    'must be a schema-qualified relation such as mimiciv_derived.sofa',
  );

/** What all tasks of a family on one kind of database share. */
const sharedContract = z.strictObject({
  reference: kebabName,
  /** Concepts that the reference reads although the task removes them; the raw-SQL control prints their queries too. */
  reference_concepts: z.array(z.string().regex(/^[a-z0-9_]+$/, 'must be the name of a concept')).default([]),
  grain: z.string().min(1),
  key_columns: columnList,
  required_columns: columnList,
  value_columns: columnList,
  tolerance: z
    .record(
      columnName,
      z.number().nonnegative('must not be negative').refine(Number.isFinite, 'must be finite'),
    )
    .default({}),
});

/**
 * `family.toml`: title and kind of concept, and one table with the contract per kind of database that the family has
 * tasks on: `[mimic-iv]`, `[eicu]`, or the kind that a user's schema file names.
 */
export const familyFile = z
  .object({
    title: z.string().min(1),
    kind: z.string().min(1),
    'mimic-iv': sharedContract.optional(),
    eicu: sharedContract.optional(),
  })
  .catchall(sharedContract)
  .refine((family) => Object.keys(family).some((name) => contractFor(family, name) !== undefined), {
    message: 'needs a table [mimic-iv], [eicu] or of an own kind of database, with the contract',
  });

/** The contract of a family on one kind of database. */
export function contractFor(
  family: Readonly<Record<string, unknown>>,
  database: DatabaseKind,
): SharedContract | undefined {
  const table = Object.hasOwn(family, database) ? family[database] : undefined;
  return typeof table === 'object' && table !== null ? (table as SharedContract) : undefined;
}

export type FamilyFile = z.infer<typeof familyFile>;
export type SharedContract = z.infer<typeof sharedContract>;

/** `tasks/<task>.toml`: what one task adds to its family. */
export const taskFile = z.strictObject({
  title: z.string().min(1),
  /** `mimic-iv`, `eicu`, or the kind that a user's schema file names. */
  database: databaseKind,
  mode: z.enum(['standard', 'raw'], 'must be "standard" or "raw"'),
  difficulty: z.enum(['medium', 'hard', 'expert'], 'must be "medium", "hard" or "expert"'),
  tags: z.array(z.string().min(1)).default([]),
  row_coverage_threshold: share.default(0.95),
  accuracy_threshold: share.default(0.9),
  removes: z.array(relationName).default([]),
  skills: z
    .array(z.string().regex(/^[a-z0-9-]+\/[a-z0-9-]+$/, 'must have the form "<skill>/<variant>"'))
    .default([]),
});

export type TaskFile = z.infer<typeof taskFile>;
