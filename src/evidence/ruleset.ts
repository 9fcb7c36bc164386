import { join } from 'node:path';
import { z } from 'zod';
import { type DatabaseKind, databaseKinds } from '../datasets/source-schema.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../tasks/toml-file.js';

/** Kinds of rules; all but `pattern` are programs of their own. */
const ruleKinds = [
  'pattern',
  'terms',
  'folders',
  'host',
  'encoded',
  'tables',
  'dates',
  'identifiers',
  'named',
] as const;

const ruleSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z-]*$/),
  kind: z.enum(ruleKinds),
  why: z.string().min(10),
  patterns: z.array(z.string().min(1)).default([]),
  flags: z.enum(['', 'i']).default(''),
  replacement: z.string().regex(/^<[a-z]+>$/),
  /** Also looked for in a finished package. */
  forbidden: z.boolean(),
});
const rulesFile = z.strictObject({ version: z.number().int(), rules: z.array(ruleSchema).min(1) });

const identifierColumn = z.strictObject({
  column: z.string(),
  prefix: z.string().regex(/^[A-Z_]+$/),
  schema: z.string(),
  table: z.string(),
});
const databaseIdentifiers = z.strictObject({
  names: z.array(z.string()),
  columns: z.array(identifierColumn),
  code_numbers: z.string(),
});
const identifiersFile = z.strictObject({
  version: z.number().int(),
  'mimic-iv': databaseIdentifiers,
  eicu: databaseIdentifiers,
});

/** How a file of a run is read, or that it is left out. */
const treatments = ['record', 'records', 'text', 'transcript', 'output', 'withheld'] as const;
export type Treatment = (typeof treatments)[number];

const artifactSchema = z.strictObject({
  file: z.string(),
  public: z.enum(treatments),
  private: z.enum(treatments),
  reason: z.string().optional(),
});
export type ArtifactPolicy = z.infer<typeof artifactSchema>;
const artifactsFile = z.strictObject({ version: z.number().int(), artifacts: z.array(artifactSchema) });

export type PackageMode = 'public' | 'private';
export const packageModes: readonly PackageMode[] = ['public', 'private'];

/** One rule, its patterns compiled. */
export interface Rule {
  readonly id: string;
  readonly kind: (typeof ruleKinds)[number];
  readonly why: string;
  readonly patterns: readonly RegExp[];
  readonly replacement: string;
  readonly forbidden: boolean;
}

/** A column that identifies somebody, and where all of its values stand. */
export type IdentifierColumn = z.infer<typeof identifierColumn>;

export interface DatabaseIdentifiers {
  readonly names: readonly string[];
  readonly columns: readonly IdentifierColumn[];
  /** Numbers that code is full of and that identify nobody. */
  readonly codeNumbers: RegExp;
}

/** Everything that decides what a package holds; reviewable in `benchmark/evidence/`. */
export interface Ruleset {
  readonly version: string;
  readonly rules: readonly Rule[];
  readonly identifiers: Readonly<Record<DatabaseKind, DatabaseIdentifiers>>;
  readonly artifacts: readonly ArtifactPolicy[];
}

function compiled(file: string, id: string, pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, `g${flags}`);
  } catch (thrown) {
    throw new M4BenchError(
      'RULES_INVALID',
      `${file}: rule ${id}: ${messageOf(thrown)}.`,
      'Correct the regular expression.',
      { cause: thrown },
    );
  }
}

/** Reads the rules. Throws `RULES_INVALID` that names file and field. */
export async function loadRuleset(folder: string = join(benchmarkFolder(), 'evidence')): Promise<Ruleset> {
  const rulesPath = join(folder, 'rules.toml');
  const rules = await readTomlFile(rulesPath, rulesFile, 'RULES_INVALID', 'set of rules');
  const identifiersPath = join(folder, 'identifiers.toml');
  const identifiers = await readTomlFile(
    identifiersPath,
    identifiersFile,
    'RULES_INVALID',
    'list of identifier columns',
  );
  const artifacts = await readTomlFile(
    join(folder, 'artifacts.toml'),
    artifactsFile,
    'RULES_INVALID',
    'list of artifacts',
  );
  const byKind = databaseKinds.map((kind) => [
    kind,
    {
      names: identifiers[kind].names,
      columns: identifiers[kind].columns,
      codeNumbers: compiled(identifiersPath, kind, identifiers[kind].code_numbers, ''),
    },
  ]);
  return {
    version: [rules.version, identifiers.version, artifacts.version].join('.'),
    rules: rules.rules.map(({ patterns, flags, ...rule }) => ({
      ...rule,
      patterns: patterns.map((pattern) => compiled(rulesPath, rule.id, pattern, flags)),
    })),
    identifiers: Object.fromEntries(byKind) as Record<DatabaseKind, DatabaseIdentifiers>,
    artifacts: artifacts.artifacts,
  };
}

/** The policy of a file of a run by its path inside the attempt; undefined for one that nobody listed. */
export function policyOf(ruleset: Ruleset, path: string): ArtifactPolicy | undefined {
  return ruleset.artifacts.find(({ file }) => (file.endsWith('/') ? path.startsWith(file) : path === file));
}
