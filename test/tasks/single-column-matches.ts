import { describeQuery, type ParquetColumn } from '../../src/duck/parquet.js';
import type { DuckSession } from '../../src/duck/session.js';
import { identifier, relation } from '../../src/duck/sql.js';
import type { Task } from '../../src/tasks/task.js';

/** How well one column of one relation, joined on the keys, reproduces one scored column. */
export interface ColumnMatch {
  readonly column: string;
  /** Share of the reference rows with the same value, by the tolerance of the task. */
  readonly share: number;
  /** Share that the most frequent value of the column alone would reach; a match up to here tells nothing. */
  readonly mostFrequent: number;
  /** `schema.table.column`. */
  readonly source: string;
  /** `value` where the relation has one row per key, else `lowest` or `highest` of the rows of a key. */
  readonly how: 'value' | 'lowest' | 'highest';
}

/** Identifiers that a relation without the key columns can be joined on, the most specific first. */
const identifiers = [
  'stay_id',
  'patientunitstayid',
  'hadm_id',
  'patienthealthsystemstayid',
  'subject_id',
  'uniquepid',
];

type Kind = 'number' | 'time' | 'text' | undefined;

function kindOf(type: string): Kind {
  if (/^(BIGINT|INTEGER|SMALLINT|TINYINT|HUGEINT|DOUBLE|FLOAT|DECIMAL.*|BOOLEAN)$/.test(type))
    return 'number';
  if (/^(TIMESTAMP.*|DATE)$/.test(type)) return 'time';
  return type === 'VARCHAR' ? 'text' : undefined;
}

function sameValue(kind: Kind, truth: string, found: string, tolerance: number): string {
  if (kind === 'number') {
    const [left, right] = [truth, found].map((value) => `cast(${value} as double)`);
    return `coalesce(abs(${left} - ${right}) <= ${tolerance}, ${truth} is null and ${found} is null)`;
  }
  const cast = kind === 'time' ? 'timestamp' : 'varchar';
  return `cast(${truth} as ${cast}) is not distinct from cast(${found} as ${cast})`;
}

/**
 * For each scored column of a task the column of any one relation that reproduces it best when the relation is joined
 * to the reference on the task's keys, or on the most specific identifier that both have.
 *
 * `session` holds the relations of the task database as views and the reference as the view `truth`.
 */
export async function singleColumnMatches(
  session: DuckSession,
  task: Task,
  relations: readonly { readonly schema: string; readonly table: string }[],
): Promise<readonly ColumnMatch[]> {
  const truth = await describeQuery(session, 'select * from truth');
  const scored = truth.filter(({ name }) => task.contract.scoredColumns.includes(name));
  const best = new Map<string, FoundMatch>();
  for (const { schema, table } of relations) {
    const columns = await describeQuery(session, `select * from ${relation(schema, table)}`);
    const on = joinColumns(task, truth, columns);
    if (on.length === 0) continue;
    for (const match of await matchesIn(session, task, { schema, table, columns }, scored, on)) {
      if (match.share > (best.get(match.column)?.share ?? -1)) best.set(match.column, match);
    }
  }
  const matches: ColumnMatch[] = [];
  for (const { name } of scored) {
    const match = best.get(name);
    if (match !== undefined) matches.push({ ...match, mostFrequent: await mostFrequentShare(session, name) });
  }
  return matches;
}

async function mostFrequentShare(session: DuckSession, column: string): Promise<number> {
  const row = await session.row(
    `select max(n) / sum(n) as share from (select count(*) as n from truth group by ${identifier(column)})`,
  );
  return Number(row.share);
}

type FoundMatch = Omit<ColumnMatch, 'mostFrequent'>;

function joinColumns(
  task: Task,
  truth: readonly ParquetColumn[],
  columns: readonly ParquetColumn[],
): readonly string[] {
  const has = (list: readonly ParquetColumn[], name: string): boolean =>
    list.some((column) => column.name === name);
  if (task.contract.keyColumns.every((key) => has(columns, key))) return task.contract.keyColumns;
  const shared = identifiers.find((name) => has(truth, name) && has(columns, name));
  return shared === undefined ? [] : [shared];
}

async function matchesIn(
  session: DuckSession,
  task: Task,
  source: { readonly schema: string; readonly table: string; readonly columns: readonly ParquetColumn[] },
  scored: readonly ParquetColumn[],
  on: readonly string[],
): Promise<readonly FoundMatch[]> {
  const keys = on.map(identifier).join(', ');
  const candidates = source.columns.filter(
    ({ name, type }) => !on.includes(name) && kindOf(type) !== undefined,
  );
  if (candidates.length === 0) return [];
  const aggregates = candidates.map(
    ({ name }, index) =>
      `min(${identifier(name)}) as lowest_${index}, max(${identifier(name)}) as highest_${index}`,
  );
  await session.run(
    `create or replace temp table found as select ${keys}, count(*) as copies, ${aggregates.join(', ')} from ${relation(source.schema, source.table)} group by ${keys}`,
  );
  const { copies } = await session.row('select max(copies) as copies from found');
  const isUnique = Number(copies) <= 1;
  const pairs = scored.flatMap((column) =>
    candidates.flatMap((candidate, index) =>
      kindOf(candidate.type) === kindOf(column.type)
        ? (isUnique ? (['lowest'] as const) : (['lowest', 'highest'] as const)).map((how) => ({
            column,
            candidate,
            found: `found.${how}_${index}`,
            how: isUnique ? ('value' as const) : how,
          }))
        : [],
    ),
  );
  const shares: number[] = [];
  // Planning a query of thousands of expressions takes longer than running many of a hundred.
  for (let start = 0; start < pairs.length; start += 100) {
    const part = pairs.slice(start, start + 100).map(({ column, found }, number) => {
      const tolerance = task.contract.tolerance[column.name] ?? 0;
      const same = sameValue(kindOf(column.type), `truth.${identifier(column.name)}`, found, tolerance);
      return `avg(cast(${same} as integer)) as m${number}`;
    });
    const row = await session.row(`select ${part.join(', ')} from truth left join found using (${keys})`);
    for (const number of part.keys()) shares.push(Number(row[`m${number}`]));
  }
  return pairs.map(({ column, candidate, how }, number) => ({
    column: column.name,
    share: shares[number] ?? 0,
    source: `${source.schema}.${source.table}.${candidate.name}`,
    how,
  }));
}
