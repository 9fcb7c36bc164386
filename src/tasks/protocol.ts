import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import { kebabName } from './family-file.js';

const switched = <Value extends z.ZodType>(value: Value) =>
  z.strictObject({ value, reason: z.string().min(20, 'must say in a sentence why') });

/** One TOML table per switch: `value` and `reason`. */
const protocolFile = z.strictObject({
  name: kebabName,
  title: z.string().min(1),
  removal: switched(z.enum(['configured', 'lineage'])),
  skill_pool: switched(z.enum(['first-seen', 'fitting'])),
  decoys: switched(z.enum(['published', 'far'])),
  raw_sql_front_matter: switched(z.boolean()),
  schema_names: switched(z.enum(['sorted', 'seeded'])),
  schema_dictionary: switched(z.enum(['published', 'complete'])),
  schema_skills: switched(z.enum(['native', 'carried'])),
  merges: switched(z.enum(['published', 'lossless'])),
  time_limit_seconds: switched(z.number().int().positive()),
  output_of_failed_run: switched(z.enum(['discarded', 'recorded'])),
  infrastructure_failure: switched(z.enum(['zero', 'unjudged'])),
  max_attempts: switched(z.number().int().min(1)),
  order: switched(z.enum(['longest-first', 'interleaved'])),
});

type SwitchName = Exclude<keyof z.infer<typeof protocolFile>, 'name' | 'title'>;

/**
 * A named set of choices where the published benchmark and the better way differ (architecture, decision 10).
 * Part of a cell's identity; two protocols are never pooled.
 */
export interface Protocol {
  readonly name: string;
  readonly title: string;
  /** Which relations a task database leaves out: the configured list, or also what is computed from it. */
  readonly removal: 'configured' | 'lineage';
  /** Which text of a skill stands in the pool of `with-skill-all`. */
  readonly skillPool: 'first-seen' | 'fitting';
  /** Which decoy mapping `with-skill-decoy` uses. */
  readonly decoys: 'published' | 'far';
  /** Whether the raw-SQL skill has the front matter that agent CLIs need to offer it. */
  readonly rawSqlFrontMatter: boolean;
  /** How the codes of the transformed schemas are drawn. */
  readonly schemaNames: 'sorted' | 'seeded';
  /** Which tables and columns the agent's dictionary describes. */
  readonly schemaDictionary: 'published' | 'complete';
  /** Whether skills and raw SQL are in native names in a transformed schema, or carried over to its codes. */
  readonly schemaSkills: 'native' | 'carried';
  /** Whether merged tables may lose rows (patients without admission). */
  readonly merges: 'published' | 'lossless';
  /** Wall-clock limit of one attempt, in seconds. */
  readonly timeLimitSeconds: number;
  /** Whether the output of a run that timed out or failed is judged aside; its reward is 0 either way. */
  readonly outputOfFailedRun: 'discarded' | 'recorded';
  /** Whether a run that only met infrastructure failures counts as reward 0 or stays unjudged. */
  readonly infrastructureFailure: 'zero' | 'unjudged';
  /** Attempts at a run, the first included. */
  readonly maxAttempts: number;
  /** Order of the runs of a tier. */
  readonly order: 'longest-first' | 'interleaved';
  /** Why each switch stands where it does, by its name in the file. */
  readonly reasons: Readonly<Record<SwitchName, string>>;
}

/** The protocol used when none is named. */
export const defaultProtocolName = 'm4bench-1';

const protocolsFolder = (): string => join(benchmarkFolder(), 'protocols');

/** Names of the protocols of this installation, by code point. */
export async function protocolNames(folder: string = protocolsFolder()): Promise<readonly string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith('.toml'))
    .map((file) => file.slice(0, -'.toml'.length))
    .sort();
}

/** Reads one protocol. Throws `PROTOCOL_UNKNOWN`, or `PROTOCOL_INVALID` naming file, field and remedy. */
export async function loadProtocol(
  name: string = defaultProtocolName,
  folder: string = protocolsFolder(),
): Promise<Protocol> {
  const names = await protocolNames(folder);
  if (!names.includes(name)) {
    throw new M4BenchError(
      'PROTOCOL_UNKNOWN',
      `There is no protocol "${name}".`,
      `${suggestionFor(name, names)}Known protocols are ${names.join(', ')}.`,
    );
  }
  const file = join(folder, `${name}.toml`);
  const read = await readTomlFile(file, protocolFile, 'PROTOCOL_INVALID', 'protocol');
  if (read.name !== name) {
    throw new M4BenchError(
      'PROTOCOL_INVALID',
      `${file}: field name is "${read.name}", the file is "${name}.toml".`,
      'Give both the same name.',
    );
  }
  const { name: _name, title, ...switches } = read;
  return {
    name,
    title,
    removal: switches.removal.value,
    skillPool: switches.skill_pool.value,
    decoys: switches.decoys.value,
    rawSqlFrontMatter: switches.raw_sql_front_matter.value,
    schemaNames: switches.schema_names.value,
    schemaDictionary: switches.schema_dictionary.value,
    schemaSkills: switches.schema_skills.value,
    merges: switches.merges.value,
    timeLimitSeconds: switches.time_limit_seconds.value,
    outputOfFailedRun: switches.output_of_failed_run.value,
    infrastructureFailure: switches.infrastructure_failure.value,
    maxAttempts: switches.max_attempts.value,
    order: switches.order.value,
    reasons: Object.fromEntries(Object.entries(switches).map(([key, { reason }]) => [key, reason])) as Record<
      SwitchName,
      string
    >,
  };
}
