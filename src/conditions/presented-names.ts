import { loadConcepts } from '../concepts/concept.js';
import { conceptGraph } from '../concepts/graph.js';
import { DuckSession } from '../duck/session.js';
import { nativeCatalog } from '../schemas/catalog.js';
import { loadSchemaDescriptions, type SchemaDescriptions } from '../schemas/descriptions.js';
import { buildDictionary, type SchemaDictionary } from '../schemas/dictionary.js';
import type { CodedRelation } from '../schemas/dictionary-section.js';
import type { SchemaLake } from '../schemas/lake.js';
import {
  presentationOf,
  type SchemaName,
  type TransformedSchema,
  transformedSchemas,
} from '../schemas/presentation.js';
import { presentedTables } from '../schemas/presented-tables.js';
import { schemaWordCodec } from '../schemas/schema-words.js';
import { noQueryValues, type QueryValues } from '../schemas/sql-translator.js';
import { M4BenchError } from '../support/errors.js';
import type { ConditionName } from '../tasks/condition.js';
import type { Protocol } from '../tasks/protocol.js';
import { removedRelations } from '../tasks/removal.js';
import type { Task } from '../tasks/task.js';
import { referenceTextInSchema } from './carried-skills.js';

/** The names of a transformed schema as far as an agent is told of them. */
export interface PresentedNames {
  readonly dictionary: SchemaDictionary;
  readonly descriptions: SchemaDescriptions;
  /** What the task database holds, in codes. */
  readonly relations: readonly CodedRelation[];
  /** Whether skills name tables and columns by their codes. */
  readonly carriesSkills: boolean;
  /** Item ids and wording that a perturbation changed. */
  readonly values: QueryValues;
  /** Item ids that could be ICD codes as well. */
  readonly ambiguousNumbers: ReadonlySet<number>;
  /** The task's reference query for the raw-SQL control, where the protocol carries it. */
  readonly referenceSql: string | undefined;
}

/** Checks a schema name given by a user. Throws `SCHEMA_UNKNOWN`. */
export function parseSchema(text: string): SchemaName {
  const names = ['native', ...transformedSchemas] as const;
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  throw new M4BenchError(
    'SCHEMA_UNKNOWN',
    `There is no schema "${text}".`,
    `Schemas are ${names.join(', ')}.`,
  );
}

export interface PresentedNamesRequest {
  readonly task: Task;
  readonly protocol: Pick<Protocol, 'removal' | 'schemaNames' | 'schemaSkills' | 'merges'>;
  readonly schema: TransformedSchema;
  readonly seed: string;
  /** Only `with-skill-rawsql` shows the reference query, and carrying it takes time; default for any condition. */
  readonly condition?: ConditionName;
  /** The lake whose values are changed; without one no perturbation is shown. */
  readonly lake?: Omit<SchemaLake, 'tables'>;
}

/**
 * The names that a transformed schema presents for a task, worked out from the source schema and the concept queries
 * alone, so that the context of a task can be shown without any data.
 *
 * Throws `SCHEMA_NOT_APPLICABLE` for a task on eICU.
 */
export async function presentedNames(request: PresentedNamesRequest): Promise<PresentedNames> {
  const { task, protocol, schema, seed, lake, condition = 'with-skill-rawsql' } = request;
  const catalog =
    lake?.catalog ?? (await nativeCatalog({ kind: task.database, name: task.database, tables: [] }));
  const dictionary = lake?.dictionary ?? buildDictionary(catalog, presentationOf({ schema, seed, protocol }));
  const values = lake?.values ?? noQueryValues;
  await using session = await DuckSession.open();
  const graph = await conceptGraph(session, await loadConcepts());
  const removed = new Set(removedRelations(task, protocol, graph));
  const kept = [...catalog.keys()].filter((name) => !removed.has(name));
  return {
    dictionary,
    descriptions: await loadSchemaDescriptions(),
    relations: presentedTables(catalog, dictionary, [], kept).map(({ schema: code, table }) => ({
      schema: code,
      table,
    })),
    carriesSkills: protocol.schemaSkills === 'carried',
    values,
    ambiguousNumbers: lake?.ambiguousNumbers ?? new Set(),
    referenceSql:
      protocol.schemaSkills === 'carried' && condition === 'with-skill-rawsql'
        ? await referenceTextInSchema(task, dictionary, {
            catalog,
            dictionary,
            codecs: lake?.codecs ?? [schemaWordCodec(dictionary, catalog)],
            values,
            maps: lake?.maps ?? [],
          })
        : undefined,
  };
}
