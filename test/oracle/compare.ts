import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { DuckSession } from '../../src/duck/session.js';
import { identifier, literal } from '../../src/duck/sql.js';

const oracleSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      rows: z.number().int(),
      columns: z.array(z.object({ name: z.string(), type: z.string() })),
      unstable_rows: z.array(z.number().int()).default([]),
      unstable_columns: z.array(z.string()).default([]),
    }),
  ),
});
export type Oracle = z.infer<typeof oracleSchema>;

const exceptionSchema = z.object({
  /** File of the oracle without its ending: `derived/first_day_gcs`. */
  file: z.string(),
  /** Why another answer is as right. */
  reason: z.string(),
  /** Columns in which the named rows may differ. */
  columns: z.array(z.string()).nonempty(),
  /** Rows whose values changed when the oracle itself was computed again. */
  oracleUnstableRows: z.boolean().default(false),
  /** Rows by number in the oracle's file, from 0. */
  rows: z.array(z.number().int()).default([]),
  /** Rows by the value of one column. */
  keys: z.record(z.string(), z.array(z.number().int())).default({}),
});
export type TieException = z.infer<typeof exceptionSchema>;

/** Expected results of one demo: what the folder holds. */
export async function loadOracle(folder: string): Promise<Oracle> {
  return oracleSchema.parse(JSON.parse(await readFile(join(folder, 'oracle.json'), 'utf8')));
}

/** Ties that the specifications leave open and that were broken otherwise here. */
export async function loadExceptions(): Promise<readonly TieException[]> {
  const text = await readFile(join(import.meta.dirname, 'exceptions.json'), 'utf8');
  return z.array(exceptionSchema).parse(JSON.parse(text));
}

export interface Comparison {
  readonly file: string;
  readonly rows: number;
  /** Rows that differ only in columns for which an exception is listed. */
  readonly excepted: number;
  /** Listed rows that do not differ at all, apart from the oracle's own unstable ones. */
  readonly needless: number;
  /** The first thing that differs; undefined when equal. */
  readonly difference: string | undefined;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Kinds of types within which a difference does not matter: 32- and 64-bit integers, but not another scale. */
function kindOf(type: string): string {
  if (/^(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'integer';
  return type;
}

/** Numbers of an exception list as a condition on the row number and the columns of the oracle. */
function exceptedRows(exception: TieException | undefined, unstableRows: readonly number[]): string {
  if (exception === undefined) return 'false';
  const numbers = [...exception.rows, ...(exception.oracleUnstableRows ? unstableRows : [])];
  const conditions = Object.entries(exception.keys).map(
    ([name, values]) => `${identifier(name)} in (${values.join(', ')})`,
  );
  if (numbers.length > 0) conditions.push(`row_number in (${numbers.join(', ')})`);
  return conditions.length === 0 ? 'false' : conditions.join(' or ');
}

const textOf = (columns: readonly Column[], table: string): string =>
  columns
    .map(({ name }) => `coalesce(cast(${table}.${identifier(name)} as varchar), chr(30))`)
    .join(` || chr(31) || `) || "''";

/**
 * Compares a Parquet file with a file of the oracle as multisets of rows: doubles to 1e-9 relative, everything
 * else exactly, NULL equal to NULL, row order without meaning.
 */
export async function compareWithOracle(
  session: DuckSession,
  options: {
    readonly oracleFolder: string;
    readonly oracle: Oracle;
    readonly file: string;
    readonly parquetPath: string;
    readonly exceptions: readonly TieException[];
  },
): Promise<Comparison> {
  const { file, oracle } = options;
  const expected = oracle.files[`${file}.csv.gz`];
  if (expected === undefined) throw new RangeError(`The oracle has no ${file}.`);
  const exception = options.exceptions.find((entry) => entry.file === file);
  const result = { file, rows: expected.rows, excepted: 0, needless: 0 };

  const got = (
    await session.rows(`describe select * from read_parquet(${literal(options.parquetPath)})`)
  ).map((row): Column => ({ name: String(row.column_name), type: String(row.column_type) }));
  const shape = (columns: readonly Column[]): string =>
    columns.map(({ name, type }) => `${name} ${kindOf(type)}`).join(', ');
  if (shape(got) !== shape(expected.columns)) {
    return { ...result, difference: `columns: expected ${shape(expected.columns)}; got ${shape(got)}` };
  }

  await loadRows(session, options, expected.columns);
  const counts = await session.row(
    `select (select count(*) from expected)::integer as expected, (select count(*) from got)::integer as got`,
  );
  await matchRows(
    session,
    expected.columns,
    exceptedRows(exception, expected.unstable_rows),
    exception?.columns,
  );
  const left = await session.row(`select
      (select count(*) from missing)::integer as missing, (select count(*) from extra)::integer as extra,
      (select count(*) from excepted)::integer as excepted`);
  const named = await session.row(
    `select count(*)::integer as n from expected
     where (${exceptedRows(exception === undefined ? undefined : { ...exception, oracleUnstableRows: false }, [])})
       and row_number not in (select row_number from excepted)`,
  );
  const done = { ...result, excepted: Number(left.excepted), needless: Number(named.n) };
  if (Number(left.missing) === 0 && Number(left.extra) === 0) return { ...done, difference: undefined };
  const [missing] = await session.rows(
    'select * exclude (row_number) from missing order by row_number limit 1',
  );
  const [extra] = await session.rows('select * exclude (row_number) from extra order by row_number limit 1');
  return {
    ...done,
    difference: `${counts.got} rows for ${counts.expected}, ${left.missing} missing, ${left.extra} too many; first missing ${JSON.stringify(missing)}; first too many ${JSON.stringify(extra)}`,
  };
}

/** Tables `expected` and `got`, with the row number of each file. */
async function loadRows(
  session: DuckSession,
  options: { readonly oracleFolder: string; readonly file: string; readonly parquetPath: string },
  columns: readonly Column[],
): Promise<void> {
  const types = columns.map(({ name, type }) => `${literal(name)}: ${literal(type)}`).join(', ');
  const path = join(options.oracleFolder, `${options.file}.csv.gz`);
  // An empty field is NULL, "" is empty text. One thread keeps the order of the file.
  await session.run(`create or replace temp table expected as
    select row_number() over () - 1 as row_number, * from read_csv(${literal(path)}, columns = {${types}},
      auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', nullstr = '',
      allow_quoted_nulls = false, parallel = false, compression = 'gzip')`);
  const casts = columns.map(
    ({ name, type }) => `cast(${identifier(name)} as ${type}) as ${identifier(name)}`,
  );
  await session.run(`create or replace temp table got as
    select row_number() over () - 1 as row_number, ${casts.join(', ')}
    from read_parquet(${literal(options.parquetPath)})`);
}

/** Splits what is left over into `missing`, `extra` and `excepted`. */
async function matchRows(
  session: DuckSession,
  columns: readonly Column[],
  isExcepted: string,
  exceptedColumns: readonly string[] | undefined,
): Promise<void> {
  await matchOn(session, 'expected', 'got', columns, 'true');
  await session.run(
    'create or replace temp table missing as from left_over; create or replace temp table extra as from right_over',
  );
  await session.run('create or replace temp table excepted as from missing limit 0');
  if (exceptedColumns === undefined) return;
  const compared = columns.filter(({ name }) => !exceptedColumns.includes(name));
  await session.run('create or replace temp table before as from missing');
  await matchOn(session, 'missing', 'extra', compared, isExcepted);
  await session.run(`create or replace temp table missing as from left_over;
    create or replace temp table extra as from right_over;
    create or replace temp table excepted as
      from before where row_number not in (select row_number from left_over)`);
}

/**
 * Pairs rows of two tables that agree in the given columns; what stays alone goes to `left_over` and `right_over`.
 * Rows that agree exactly in all but the doubles are paired in order of their doubles.
 */
async function matchOn(
  session: DuckSession,
  left: string,
  right: string,
  columns: readonly Column[],
  condition: string,
): Promise<void> {
  const doubles = columns.filter(({ type }) => type === 'DOUBLE');
  const exact = columns.filter(({ type }) => type !== 'DOUBLE');
  const order = [...doubles.map(({ name }) => identifier(name)), 'row_number'].join(', ');
  const numbered = (table: string, where: string): string =>
    `select *, ${textOf(exact, table)} as exact_text,
       row_number() over (partition by ${textOf(exact, table)} order by ${order}) as place
     from ${table} where ${where}`;
  const agree = doubles.map(({ name }) => {
    const [a, b] = [`l.${identifier(name)}`, `r.${identifier(name)}`];
    return `(${a} is not distinct from ${b} or abs(${a} - ${b}) <= 1e-9 * greatest(abs(${a}), abs(${b})))`;
  });
  await session.run(`create or replace temp table pairs as
    select l.row_number as left_row, r.row_number as right_row
    from (${numbered(left, condition)}) l
    inner join (${numbered(right, 'true')}) r on l.exact_text = r.exact_text and l.place = r.place
    ${agree.length === 0 ? '' : `where ${agree.join(' and ')}`}`);
  await session.run(`create or replace temp table left_over as
    from ${left} where row_number not in (select left_row from pairs)`);
  await session.run(`create or replace temp table right_over as
    from ${right} where row_number not in (select right_row from pairs)`);
}
