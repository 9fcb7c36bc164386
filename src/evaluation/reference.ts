import { realpath } from 'node:fs/promises';
import type { DuckSession } from '../duck/session.js';
import { messageOf, systemCodeOf } from '../support/errors.js';
import { csvSource } from './csv-source.js';
import type { EvaluationLimits } from './limits.js';
import { OpenedFile } from './output-file.js';
import { parquetSource } from './parquet-source.js';
import { errorClassOf, isOutOfMemory, Refusal } from './refusal.js';
import type { ScratchFolder } from './scratch-folder.js';
import { inFileOrder, type TableSource } from './table-source.js';
import { describeTruth, type TruthColumn } from './truth-column.js';

/** The reference as the comparison needs it. */
export interface Truth {
  readonly source: TableSource;
  readonly rows: number;
  readonly columns: ReadonlyMap<string, TruthColumn>;
}

export interface ReferenceRequest {
  readonly session: DuckSession;
  readonly path: string;
  readonly keyColumns: readonly string[];
  /** Columns besides the keys. */
  readonly valueColumns: readonly string[];
  readonly limits: EvaluationLimits;
  readonly scratch: ScratchFolder;
}

/**
 * Opens a reference: Parquet from the lake, or a CSV or CSV.gz that a user gives.
 *
 * @throws Refusal `reference-missing` or `reference-invalid` (unreadable, a needed column absent, keys that repeat).
 */
export async function openReference(request: ReferenceRequest): Promise<Truth> {
  const { session, keyColumns, valueColumns } = request;
  const needed = [...new Set([...keyColumns, ...valueColumns])];
  const source = await sourceOf(request, new Set(needed));
  const absent = needed.filter((name) => !source.columns.has(name));
  if (absent.length > 0) {
    throw new Refusal('reference-invalid', `The reference lacks column ${absent.join(', ')}.`);
  }
  const columns = await describeTruth(session, source, new Set(keyColumns));
  const rows = columns.values().next().value?.rows ?? 0;
  await refuseRepeatedKeys(session, source, columns, keyColumns);
  return { source, rows, columns };
}

async function sourceOf(request: ReferenceRequest, wanted: ReadonlySet<string>): Promise<TableSource> {
  const { session, path, limits, scratch } = request;
  let real: string;
  try {
    real = await realpath(path);
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT')
      throw new Refusal('reference-missing', 'The reference file does not exist.');
    throw new Refusal('reference-invalid', `The reference cannot be opened: ${messageOf(thrown)}.`);
  }
  try {
    await using file = await OpenedFile.open(real, Number.POSITIVE_INFINITY);
    if (real.endsWith('.parquet')) return await parquetSource(session, real, wanted);
    const unlimited = { ...limits, fileBytes: Number.POSITIVE_INFINITY };
    const csv = { session, file, isGzip: real.endsWith('.gz'), wanted, limits: unlimited, scratch };
    return await inFileOrder(session, await csvSource(csv));
  } catch (thrown) {
    if (isOutOfMemory(thrown)) throw thrown;
    const reason =
      thrown instanceof Refusal
        ? thrown.message.replace(/^The output /, 'It ')
        : `${errorClassOf(messageOf(thrown))}.`;
    throw new Refusal('reference-invalid', `The reference cannot be read. ${reason}`);
  }
}

/** Keys must be unique as they are read; a reference sorted by its keys proves it with one look at neighbours. */
async function refuseRepeatedKeys(
  session: DuckSession,
  source: TableSource,
  columns: ReadonlyMap<string, TruthColumn>,
  keyColumns: readonly string[],
): Promise<void> {
  const keys = keyColumns.map((name, i) => {
    const column = columns.get(name);
    return `${column?.kind === 'text' ? column.textSql : (column?.integerSql ?? column?.valueSql)} as k${i}`;
  });
  const names = keyColumns.map((_name, i) => `k${i}`);
  const before = names.map((name) => `lag(${name}) over () as before_${name}`);
  const rising = names.map(
    (name, i) =>
      `(${[...names.slice(0, i).map((same) => `${same} = before_${same}`), `${name} > before_${name}`].join(' and ')})`,
  );
  const cells = `select ${keys.join(', ')} from ${source.from}`;
  const sorted = await session.row(
    `select count(*) - 1 = count_if(${rising.join(' or ')}) as is_rising, count(*) as n from (select *, ${before.join(', ')} from (${cells}))`,
  );
  if (sorted.is_rising === true || Number(sorted.n) === 0) return;
  const distinct = await session.row(`select count(*) as n from (select distinct * from (${cells}))`);
  if (Number(distinct.n) === Number(sorted.n)) return;
  throw new Refusal(
    'reference-invalid',
    `The reference has ${Number(sorted.n) - Number(distinct.n)} rows whose key an earlier row has.`,
  );
}
