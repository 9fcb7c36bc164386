import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readTomlFile } from '../../support/toml-file.js';
import { kebabName } from '../family-file.js';

const date = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$|^unknown$/, 'must be a date such as 2026-05-03, or "unknown"');

/** `facts.toml`: each fact that a skill carries, with the places that state it. */
export const factsFile = z.strictObject({
  facts: z
    .array(
      z.strictObject({
        id: kebabName,
        statement: z.string().min(1),
        skill: kebabName,
        /** Texts that state it; default every text of the skill. */
        variants: z.array(z.string().min(1)).optional(),
        places: z
          .array(z.strictObject({ section: z.string().min(1), quote: z.string().min(3) }))
          .min(1, 'must name at least one place'),
      }),
    )
    .min(1),
});

/** `conventions.toml`: how the reference resolves what the definition leaves open. */
export const conventionsFile = z.strictObject({
  conventions: z
    .array(
      z.strictObject({
        id: kebabName,
        topic: z.enum([
          'window',
          'missing',
          'threshold',
          'precedence',
          'rounding',
          'ties',
          'units',
          'source',
          'cohort',
        ]),
        rule: z.string().min(1),
        stated_in: z.array(z.enum(['instruction', 'skill', 'operational-spec', 'reference'])).min(1),
        differs_from: z.string().min(1).optional(),
      }),
    )
    .min(1),
});

const review = {
  by: z.string().min(1),
  date,
  scope: z
    .array(
      z.enum([
        'clinical-accuracy',
        'task-instruction-consistency',
        'second-review',
        'sql-correctness',
        'technical-accuracy',
        'completeness',
      ]),
    )
    .min(1),
  notes: z.string(),
};

/** `provenance.toml`: sources, reviews, caveats and change log of a family. */
export const provenanceFile = z.strictObject({
  applies_to: z.array(kebabName).min(1),
  text_status: z.enum(['not yet reviewed by a clinician', 'reviewed by a clinician']),
  references: z.array(z.string().min(1)),
  created: z.strictObject({
    by: z.string().min(1),
    role: z.enum(['authoring', 'clinical-extraction', 'benchmark-task-construction', 'adaptation']),
    date,
  }),
  sources: z.array(z.strictObject({ asset: kebabName, used_for: z.string().min(1) })).min(1),
  /** Facts about the published texts, which are other texts than the ones here. */
  published: z
    .strictObject({
      source_basis: z.string().min(1),
      created_role: z.string().min(1),
      created_date: date,
      versions: z.array(z.string().min(1)),
      reviews: z.array(z.strictObject(review)),
    })
    .optional(),
  /** Reviews of the texts here, each bound to the content it saw. */
  reviews: z
    .array(
      z.strictObject({ ...review, content_sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256') }),
    )
    .default([]),
  caveats: z.array(z.strictObject({ by: z.string().min(1), text: z.string().min(1) })),
  changelog: z.array(z.strictObject({ version: z.string().min(1), date, summary: z.string().min(1) })).min(1),
});

export const reviewersFile = z.record(z.string(), z.strictObject({ background: z.string().min(1) }));

export const assetsFile = z.record(
  kebabName,
  z.strictObject({
    title: z.string().min(1),
    url: z.url().optional(),
    licence: z.string().min(1),
    access: z.string().min(1),
  }),
);

export type FactsFile = z.infer<typeof factsFile>;
export type ProvenanceFile = z.infer<typeof provenanceFile>;

/** The records of one family, as far as the files exist. */
export interface FamilyRecords {
  readonly facts: FactsFile | undefined;
  readonly provenance: ProvenanceFile | undefined;
}

/** Reads the records of a family. Throws `RECORD_INVALID` naming file, field and remedy for a malformed one. */
export async function loadFamilyRecords(folder: string): Promise<FamilyRecords> {
  const read = async <Schema extends z.ZodType>(
    name: string,
    schema: Schema,
  ): Promise<z.infer<Schema> | undefined> => {
    const file = join(folder, name);
    return existsSync(file) ? readTomlFile(file, schema, 'RECORD_INVALID', 'record') : undefined;
  };
  await read('conventions.toml', conventionsFile);
  return {
    facts: await read('facts.toml', factsFile),
    provenance: await read('provenance.toml', provenanceFile),
  };
}
