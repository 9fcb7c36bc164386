import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dataset } from '../datasets/dataset.js';
import { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { buildReferences } from '../references/build.js';
import { referenceQueryOf } from '../references/reference.js';
import { M4BenchError } from '../support/errors.js';
import type { Home } from '../support/home.js';
import type { Progress } from '../support/progress.js';
import type { Task } from './task.js';

export interface ReferenceRows {
  readonly rows: number;
}

/**
 * Builds the reference of a task that is not in use yet, aside, and looks whether its keys tell its rows apart. Throws
 * `NEW_TASK_INVALID` when a key is missing in a row or stands in several.
 */
export async function checkReferenceKeys(
  home: Home,
  dataset: Dataset,
  task: Task,
  progress: Progress,
): Promise<ReferenceRows> {
  const references = await mkdtemp(join(tmpdir(), 'm4bench-reference-'));
  try {
    const queries = [await referenceQueryOf(task)];
    const [built] = await buildReferences({ ...home, references }, dataset, { queries, progress });
    await using session = await DuckSession.open({ threads: 1 });
    const keys = task.contract.keyColumns.map(identifier).join(', ');
    const lacking = task.contract.keyColumns.map((key) => `${identifier(key)} is null`).join(' or ');
    const [found] = await session.rows(
      `select count(*)::int as rows, count(*) filter (where ${lacking})::int as lacking,
        count(*)::int - count(distinct (${keys}))::int as repeated
      from read_parquet(${literal(built!.parquetPath)})`,
    );
    const [rows, without, repeated] = [Number(found!.rows), Number(found!.lacking), Number(found!.repeated)];
    const names = task.contract.keyColumns.join(', ');
    if (without > 0) {
      throw invalid(
        `On ${dataset.name}, ${without} of ${rows} rows of the reference have no ${names}, so nothing could match them.`,
        'Leave those rows out of the reference, or name other --keys.',
      );
    }
    if (repeated > 0) {
      throw invalid(
        `On ${dataset.name}, ${names} does not identify a row of the reference: ${repeated} of ${rows} rows repeat an earlier one.`,
        'Name more columns in --keys, or make one row of each in the reference.',
      );
    }
    return { rows };
  } finally {
    await rm(references, { recursive: true, force: true });
  }
}

function invalid(message: string, remedy: string): M4BenchError {
  return new M4BenchError('NEW_TASK_INVALID', message, remedy);
}
