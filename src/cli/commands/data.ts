import { Command, Option } from 'commander';
import { printWithThousands, toText } from '../../analysis/tables.js';
import { listDatasets } from '../../datasets/dataset.js';
import { importDataset } from '../../datasets/import.js';
import { defaultLayout, type Layout, layouts } from '../../datasets/import-tables.js';
import { databaseKinds } from '../../datasets/source-schema.js';
import { synthesizeDataset } from '../../datasets/synthesize.js';
import { contextOf } from '../context.js';
import { wholeNumber } from '../options.js';
import { compareCommand } from './data/compare.js';
import { downloadCommand } from './data/download.js';
import { verifyCommand } from './data/verify.js';

/** `m4bench data …`: source databases into lakes. */
export function dataCommand(): Command {
  const data = new Command('data').description(
    'source databases: download, import, generate, verify, compare',
  );
  data.addCommand(downloadCommand());

  data
    .command('import')
    .description(
      'import a release as PhysioNet ships it (CSV.gz, CSV or Parquet) into a dataset of Parquet files',
    )
    .argument('<name>', 'mimic-iv, mimic-iv-demo, eicu, eicu-demo, or a name of your own')
    .requiredOption('--from <dir>', 'folder of the release, or one above it')
    .option('--schema <file>', 'TOML file that describes a database of your own (docs/own-tasks.md)')
    .addOption(
      new Option('--kind <kind>', 'which database a dataset under a name of your own is a copy of')
        .choices(databaseKinds)
        .conflicts('schema'),
    )
    .option('--no-verify', 'accept files that are not the official release; the dataset is marked unverified')
    .option('--replace', 'replace a dataset of this name')
    .addOption(
      new Option(
        '--layout <layout>',
        'by-item sorts large event tables so that queries skip most of them; as-read takes a third less time',
      )
        .choices(layouts)
        .default(defaultLayout),
    )
    .addHelpText(
      'after',
      '\nExample:\n  m4bench data import mimic-iv-demo --from ./mimic-iv-demo-2.2\n  m4bench data import our-omop --schema omop.toml --from ./export',
    )
    .action(
      async (
        name: string,
        options: {
          from: string;
          schema?: string;
          kind?: string;
          verify: boolean;
          replace?: boolean;
          layout: Layout;
        },
        command: Command,
      ) => {
        const context = contextOf(command);
        const started = performance.now();
        const dataset = await importDataset(context.home, {
          name,
          from: options.from,
          ...(options.schema === undefined ? {} : { schemaFile: options.schema }),
          ...(options.kind === undefined ? {} : { kind: options.kind }),
          verify: options.verify,
          replace: options.replace ?? false,
          layout: options.layout,
          progress: context.progress,
        });
        const { folder, ...manifest } = dataset;
        const rows = dataset.tables.reduce((sum, table) => sum + table.rows, 0);
        context.say(
          `${dataset.name}: ${dataset.tables.length} tables, ${rows.toLocaleString('en')} rows in ${((performance.now() - started) / 1000).toFixed(1)} s, ${dataset.verified ? 'verified' : `UNVERIFIED (${dataset.unverifiedReasons.join('; ')})`}, at ${folder}`,
        );
        context.json(manifest);
      },
    );

  data
    .command('synthesize')
    .description('generate a plainly synthetic dataset, the same for the same seed')
    .argument('<kind>', 'mimic-iv or eicu')
    .option('--stays <n>', 'ICU stays', wholeNumber('--stays'), 200)
    .option('--seed <text>', 'seed', '1')
    .option('--replace', 'replace a dataset of this name')
    .action(
      async (kind: string, options: { stays: number; seed: string; replace?: boolean }, command: Command) => {
        const context = contextOf(command);
        const dataset = await synthesizeDataset(context.home, {
          kind,
          stays: options.stays,
          seed: options.seed,
          replace: options.replace ?? false,
          progress: context.progress,
        });
        const { folder, ...manifest } = dataset;
        context.say(`${dataset.name}: ${dataset.tables.length} tables at ${folder}`);
        context.json(manifest);
      },
    );

  data
    .command('list')
    .description('datasets under the home folder')
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const datasets = await listDatasets(context.home);
      const columns = ['name', 'kind', 'class', 'release', 'verified', 'tables', 'rows'] as const;
      const rows = datasets.map((dataset) => ({
        name: dataset.name,
        kind: dataset.kind,
        class: dataset.class,
        release: dataset.release,
        verified: dataset.verified ? 'yes' : 'no',
        tables: dataset.tables.length,
        rows: dataset.tables.reduce((sum, table) => sum + table.rows, 0),
      }));
      context.say(
        rows.length === 0
          ? `No datasets under ${context.home.datasets}; m4bench data synthesize mimic-iv makes one.`
          : toText({ columns, rows, print: printWithThousands(columns, ['rows']) }),
      );
      context.json({ datasets: datasets.map(({ folder: _folder, ...manifest }) => manifest) });
    });
  data.addCommand(verifyCommand());
  data.addCommand(compareCommand());
  return data;
}
