import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Dataset, openDataset, parquetPath } from '../datasets/dataset.js';
import type { DuckSession } from '../duck/session.js';
import { identifier, literal } from '../duck/sql.js';
import { M4BenchError } from '../support/errors.js';
import type { Home } from '../support/home.js';
import type { Ruleset } from './ruleset.js';
import type { IdentifierTest } from './text-context.js';

/** Candidates are looked up so many at a time. */
const BATCH = 50_000;

/**
 * Looks up which of the candidates stand in an identifier column of a dataset; the engine does the comparing, and only
 * candidates that are identifiers come back, each with the prefix of its column.
 */
export async function identifiersAmong(
  session: DuckSession,
  datasets: readonly Dataset[],
  ruleset: Ruleset,
  candidates: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const all = [...candidates].filter((candidate) => candidate.length <= 24);
  for (let start = 0; start < all.length; start += BATCH) {
    const values = all.slice(start, start + BATCH).map((candidate) => `(${literal(candidate)})`);
    await session.run(
      `create or replace temp table candidates as select * from (values ${values.join(', ')}) as given(token)`,
    );
    for (const dataset of datasets) {
      const columns = ruleset.identifiers.get(dataset.kind)?.columns ?? [];
      for (const { column, prefix, schema, table } of columns) {
        const path = literal(parquetPath(dataset, schema, table));
        const rows = await session.rows(
          `select token from candidates semi join read_parquet(${path}) as source
             on candidates.token = cast(source.${identifier(column)} as varchar)`,
        );
        for (const { token } of rows) if (!found.has(String(token))) found.set(String(token), prefix);
      }
    }
  }
  return found;
}

/** A test that knows nothing yet and keeps every token that it is asked for. */
export function collecting(candidates: Set<string>): IdentifierTest {
  return (token) => {
    candidates.add(token);
    return undefined;
  };
}

/** First and last year of any date or time of the datasets; undefined where they have none. */
export async function yearsOf(
  session: DuckSession,
  datasets: readonly Dataset[],
): Promise<{ readonly from: number; readonly to: number } | undefined> {
  const bounds: { readonly from: number; readonly to: number }[] = [];
  for (const dataset of datasets) {
    for (const { schema, table, columns } of dataset.tables) {
      const times = columns.filter(({ type }) => /^(?:DATE|TIMESTAMP)/.test(type));
      if (times.length === 0) continue;
      const path = literal(parquetPath(dataset, schema, table));
      const least = times.map(({ name }) => `min(year(${identifier(name)}))`);
      const most = times.map(({ name }) => `max(year(${identifier(name)}))`);
      const { from, to } = await session.row(
        `select least(${least.join(', ')}) as "from", greatest(${most.join(', ')}) as "to" from read_parquet(${path})`,
      );
      if (from !== null && to !== null) bounds.push({ from: Number(from), to: Number(to) });
    }
  }
  if (bounds.length === 0) return undefined;
  return {
    from: Math.min(...bounds.map((one) => one.from)),
    to: Math.max(...bounds.map((one) => one.to)),
  };
}

/**
 * The datasets of a campaign, which say what must not be published. Throws `EVIDENCE_DATASET_MISSING` when one is not
 * at hand in the content that the runs read, and `EVIDENCE_KIND_UNKNOWN` when nobody said which of its columns identify
 * a patient: without either nobody can tell whether an identifier is in a package.
 */
export async function datasetsToGuard(
  home: Home,
  ruleset: Ruleset,
  wanted: readonly { readonly name: string; readonly contentHash: string }[],
): Promise<readonly Dataset[]> {
  const datasets: Dataset[] = [];
  for (const { name, contentHash } of wanted) {
    const dataset = existsSync(join(home.datasets, name, 'dataset.json'))
      ? await openDataset(home, name)
      : undefined;
    if (dataset === undefined || dataset.contentHash !== contentHash) {
      throw new M4BenchError(
        'EVIDENCE_DATASET_MISSING',
        `The runs read dataset ${name}, which is not under ${home.datasets}${dataset === undefined ? '' : ' in that content'}: it is needed to prove that no identifier of it is in the package.`,
        `Import ${name} again into this home folder, or name the home folder that has it with --home.`,
      );
    }
    if (!ruleset.identifiers.has(dataset.kind)) {
      throw new M4BenchError(
        'EVIDENCE_KIND_UNKNOWN',
        `Nobody said which columns of a ${dataset.kind} database identify a patient (dataset ${name}).`,
        'Name them in a file like benchmark/evidence/identifiers.toml and give it with --identifiers.',
      );
    }
    datasets.push(dataset);
  }
  return datasets;
}
