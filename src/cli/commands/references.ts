import { Command } from 'commander';
import { printWithThousands, toText } from '../../analysis/tables.js';
import { chooseDataset, type Dataset, openDataset } from '../../datasets/dataset.js';
import { contentHash, describeQuery } from '../../duck/parquet.js';
import { DuckSession } from '../../duck/session.js';
import { literal } from '../../duck/sql.js';
import { buildReferences, openReference } from '../../references/build.js';
import { allReferenceQueries, pickReferenceQuery, type ReferenceQuery } from '../../references/reference.js';
import { M4BenchError } from '../../support/errors.js';
import type { Home } from '../../support/home.js';
import { loadTasks } from '../../tasks/load-tasks.js';
import { type CliContext, contextOf } from '../context.js';

const datasetOption = ['--dataset <name>', 'default: the fullest MIMIC-IV dataset present'] as const;

async function datasetOf(home: Home, name: string | undefined): Promise<Dataset> {
  return name === undefined ? chooseDataset(home, 'mimic-iv') : openDataset(home, name);
}

/** The queries of a dataset's kind, those of own tasks included. */
async function queriesFor(context: CliContext, dataset: Dataset): Promise<readonly ReferenceQuery[]> {
  return await allReferenceQueries(dataset.kind, await loadTasks(context.content));
}

/** `m4bench references …`: the tables that outputs are scored against. */
export function referencesCommand(): Command {
  const references = new Command('references').description(
    'reference tables that outputs are scored against',
  );

  references
    .command('build')
    .description('build reference tables and the concepts they read; what is current is kept')
    .argument('[keys...]', 'default: all of the dataset')
    .option(...datasetOption)
    .action(async (keys: string[], options: { dataset?: string }, command: Command) => {
      const context = contextOf(command);
      const dataset = await datasetOf(context.home, options.dataset);
      const built = await buildReferences(context.home, dataset, {
        queries: await queriesFor(context, dataset),
        ...(keys.length === 0 ? {} : { keys }),
        progress: context.progress,
      });
      context.say(
        toText({
          columns: ['reference', 'rows', 'contentHash'],
          print: printWithThousands(['reference', 'rows', 'contentHash'], ['rows']),
          rows: built.map(({ key, manifest }) => ({
            reference: key,
            rows: manifest.rows,
            contentHash: manifest.contentHash.slice(0, 16),
          })),
        }),
      );
      context.json({
        dataset: dataset.name,
        references: built.map(({ key, manifest }) => ({ key, ...manifest })),
      });
    });

  references
    .command('verify')
    .description('check every built reference against its manifest, file and rows')
    .option(...datasetOption)
    .action(async (options: { dataset?: string }, command: Command) => {
      const context = contextOf(command);
      const dataset = await datasetOf(context.home, options.dataset);
      const queries = await queriesFor(context, dataset);
      await using session = await DuckSession.open();
      const rows: { reference: string; state: string; remedy: string }[] = [];
      for (const { key, sql } of queries) {
        rows.push({
          reference: key,
          ...(await stateOf(session, context.home, dataset.name, key, sql.sha256)),
        });
      }
      context.say(toText({ columns: ['reference', 'state', 'remedy'], rows }));
      context.json({ dataset: dataset.name, references: rows });
      if (rows.some((row) => row.state !== 'ok')) process.exitCode = 1;
    });

  references
    .command('show')
    .description('the query and the manifest of one reference')
    .argument('<key>', 'for example meld-24h')
    .option(...datasetOption)
    .action(async (key: string, options: { dataset?: string }, command: Command) => {
      const context = contextOf(command);
      const dataset = await datasetOf(context.home, options.dataset);
      const query = pickReferenceQuery(await queriesFor(context, dataset), key);
      const reference = await openReference(context.home, dataset.name, key);
      context.say(query.sql.text);
      context.say(
        `-- ${reference.manifest.rows} rows on ${dataset.name}, content ${reference.manifest.contentHash}`,
      );
      context.json({ key, dataset: dataset.name, sql: query.sql.text, manifest: reference.manifest });
    });
  return references;
}

async function stateOf(
  session: DuckSession,
  home: Home,
  dataset: string,
  key: string,
  sqlSha256: string,
): Promise<{ state: string; remedy: string }> {
  try {
    const { manifest, parquetPath } = await openReference(home, dataset, key);
    if (manifest.sqlSha256 !== sqlSha256) return { state: 'query changed', remedy: 'references build' };
    const from = `read_parquet(${literal(parquetPath)})`;
    const actual = await contentHash(session, from, await describeQuery(session, `select * from ${from}`));
    if (actual.contentHash !== manifest.contentHash)
      return { state: 'rows differ from manifest', remedy: 'delete it and build again' };
    return { state: 'ok', remedy: '' };
  } catch (thrown) {
    if (thrown instanceof M4BenchError) return { state: thrown.code, remedy: thrown.remedy };
    throw thrown;
  }
}
