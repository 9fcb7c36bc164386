import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { M4BenchError, messageOf } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';

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
  /** Does not hold for texts that people wrote and reviewed. */
  only_agents: z.boolean().default(false),
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
  kinds: z.record(z.string(), databaseIdentifiers),
});

/** How a file of a run is read, or that it is left out. */
const treatments = ['record', 'records', 'reviewed', 'text', 'transcript', 'output', 'withheld'] as const;
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
  readonly onlyAgents: boolean;
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
  /** Of the files that it was read from. */
  readonly sha256: string;
  readonly rules: readonly Rule[];
  /** By kind of database. */
  readonly identifiers: ReadonlyMap<string, DatabaseIdentifiers>;
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

export interface RulesetOptions {
  /** Default `benchmark/evidence/`. */
  readonly folder?: string;
  /** A file like `identifiers.toml` that names the identifier columns of own kinds of databases. */
  readonly identifiersFile?: string;
}

/** Reads the rules. Throws `RULES_INVALID` that names file and field. */
export async function loadRuleset(options: RulesetOptions = {}): Promise<Ruleset> {
  const folder = options.folder ?? join(benchmarkFolder(), 'evidence');
  const paths = ['rules.toml', 'artifacts.toml', 'identifiers.toml'].map((name) => join(folder, name));
  const [rulesPath = '', artifactsPath = '', ...identifierPaths] = [
    ...paths,
    ...(options.identifiersFile === undefined ? [] : [options.identifiersFile]),
  ];
  const rules = await readTomlFile(rulesPath, rulesFile, 'RULES_INVALID', 'set of rules');
  const artifacts = await readTomlFile(artifactsPath, artifactsFile, 'RULES_INVALID', 'list of artifacts');
  const identifiers = new Map<string, DatabaseIdentifiers>();
  for (const path of identifierPaths) {
    const { kinds } = await readTomlFile(
      path,
      identifiersFile,
      'RULES_INVALID',
      'list of identifier columns',
    );
    for (const [kind, { code_numbers, ...rest }] of Object.entries(kinds))
      identifiers.set(kind, { ...rest, codeNumbers: compiled(path, kind, code_numbers, '') });
  }
  const texts = await Promise.all(
    [rulesPath, artifactsPath, ...identifierPaths].map((path) => readFile(path)),
  );
  return {
    version: `${rules.version}.${artifacts.version}`,
    sha256: sha256(Buffer.concat(texts)),
    rules: rules.rules.map(({ patterns, flags, only_agents, ...rule }) => ({
      ...rule,
      onlyAgents: only_agents,
      patterns: patterns.map((pattern) => compiled(rulesPath, rule.id, pattern, flags)),
    })),
    identifiers,
    artifacts: artifacts.artifacts,
  };
}

/** The policy of a file of a run by its path inside the attempt; undefined for one that nobody listed. */
export function policyOf(ruleset: Ruleset, path: string): ArtifactPolicy | undefined {
  return ruleset.artifacts.find(({ file }) => (file.endsWith('/') ? path.startsWith(file) : path === file));
}
