import { Command } from 'commander';
import { toText } from '../../analysis/tables.js';
import { buildConcepts } from '../../concepts/build.js';
import { loadConcepts } from '../../concepts/concept.js';
import { conceptGraph } from '../../concepts/graph.js';
import { chooseDataset } from '../../datasets/dataset.js';
import { DuckSession } from '../../duck/session.js';
import { contextOf } from '../context.js';

/** `m4bench concepts …`: derived tables. */
export function conceptsCommand(): Command {
  const concepts = new Command('concepts').description('derived tables of MIMIC-IV');

  concepts
    .command('build')
    .description('build derived tables; what is current is kept')
    .argument('[tables...]', 'default: all')
    .option('--dataset <name>', 'default: the fullest MIMIC-IV dataset present')
    .option('--force', 'build again what is current')
    .action(async (tables: string[], options: { dataset?: string; force?: boolean }, command: Command) => {
      const context = contextOf(command);
      const dataset = await chooseDataset(context.home, 'mimic-iv', options.dataset);
      const started = performance.now();
      const built = await buildConcepts(dataset, {
        ...(tables.length === 0 ? {} : { tables }),
        force: options.force ?? false,
        progress: context.progress,
      });
      const made = built.filter((concept) => concept.wasBuilt).length;
      context.say(
        `${dataset.name}: ${made} concepts built, ${built.length - made} current, ${((performance.now() - started) / 1000).toFixed(1)} s`,
      );
      context.json({
        dataset: dataset.name,
        concepts: built.map(({ table, manifest, wasBuilt, seconds }) => ({
          table,
          rows: manifest.rows,
          contentHash: manifest.contentHash,
          wasBuilt,
          seconds,
        })),
      });
    });

  concepts
    .command('list')
    .description('every derived table with its grain')
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const all = await loadConcepts();
      context.say(
        toText({
          columns: ['table', 'category', 'title', 'grain'],
          rows: all.map(({ table, category, sql }) => ({
            table,
            category,
            title: sql.header.title,
            grain: sql.header.grain,
          })),
        }),
      );
      context.json({
        concepts: all.map(({ table, category, sql }) => ({
          table,
          category,
          ...sql.header,
          sqlSha256: sql.sha256,
        })),
      });
    });

  concepts
    .command('graph')
    .description('what each derived table reads, in build order')
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      await using session = await DuckSession.open();
      const graph = [...(await conceptGraph(session, await loadConcepts())).values()];
      const rows = graph.map(({ concept, level, baseRelations, derivedTables }) => ({
        table: concept.table,
        level,
        reads: [...derivedTables, ...baseRelations.map(({ schema, table }) => `${schema}.${table}`)].join(
          ', ',
        ),
      }));
      context.say(toText({ columns: ['table', 'level', 'reads'], rows }));
      context.json({
        concepts: graph.map(({ concept, level, baseRelations, derivedTables }) => ({
          table: concept.table,
          level,
          baseRelations,
          derivedTables,
        })),
      });
    });
  return concepts;
}
