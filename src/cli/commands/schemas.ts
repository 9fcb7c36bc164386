import { readFile, stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { printWithThousands, toText } from '../../analysis/tables.js';
import { chooseDataset, type Dataset } from '../../datasets/dataset.js';
import { findReferenceQuery } from '../../references/reference.js';
import { type Equivalence, equivalencePath, proveEquivalence } from '../../schemas/equivalence.js';
import { buildLake, describeLake, type SchemaLake } from '../../schemas/lake.js';
import {
  type Perturbation,
  type Presentation,
  perturbations,
  presentationOf,
  transformedSchemas,
} from '../../schemas/presentation.js';
import { SqlTranslator } from '../../schemas/sql-translator.js';
import { defaultProtocolName, loadProtocol } from '../../tasks/protocol.js';
import { type CliContext, contextOf } from '../context.js';
import { collect } from '../options.js';

interface SchemaOptions {
  readonly dataset?: string;
  readonly schema: 'obfuscated' | 'restructured' | 'both';
  readonly seed: string;
  readonly protocol: string;
  readonly perturb?: readonly Perturbation[];
}

function withSchemaOptions(command: Command): Command {
  return command
    .option('--dataset <name>', 'default: the fullest MIMIC-IV dataset present')
    .addOption(
      new Option('--schema <name>', 'which presentation')
        .choices([...transformedSchemas, 'both'])
        .default('both'),
    )
    .option('--seed <seed>', 'seed of names, column order and perturbations', '1')
    .option('--protocol <name>', 'says how names are drawn and tables merged', defaultProtocolName)
    .option('--perturb <list>', `also change values: ${perturbations.join(', ')}`, collect);
}

/** `m4bench schemas …`: obfuscated and restructured lakes. */
export function schemasCommand(): Command {
  const schemas = new Command('schemas').description(
    'the database with other names and shapes, with proof that it holds the same',
  );
  withSchemaOptions(
    schemas.command('build').description('write the transformed Parquet files; what is current is kept'),
  ).action((options: SchemaOptions, command: Command) => buildSchemas(contextOf(command), options));
  withSchemaOptions(
    schemas
      .command('verify')
      .description('build, then prove from the bytes on disk that nothing was lost or changed'),
  ).action((options: SchemaOptions, command: Command) => verifySchemas(contextOf(command), options));
  withSchemaOptions(
    schemas
      .command('translate')
      .description('a reference query, or a file with one SELECT, carried to the transformed schema')
      .argument('<query>', 'key of a reference, for example meld-24h, or a .sql file'),
  ).action((query: string, options: SchemaOptions, command: Command) =>
    translateQuery(contextOf(command), query, options),
  );
  return schemas;
}

async function buildSchemas(context: CliContext, options: SchemaOptions): Promise<void> {
  const rows = [];
  for (const { lake, seconds } of await lakesOf(context, options)) {
    const bytes = lake.tables.reduce((sum, { manifest }) => sum + manifest.fileBytes, 0);
    rows.push({
      schema: lake.dictionary.id,
      tables: lake.tables.length,
      written: lake.tables.filter((table) => table.wasBuilt).length,
      rows: lake.tables.reduce((sum, { manifest }) => sum + manifest.rows, 0),
      megabytes: Number((bytes / 1e6).toFixed(1)),
      seconds: Number(seconds.toFixed(1)),
      folder: lake.folder,
    });
  }
  const columns = ['schema', 'tables', 'written', 'rows', 'megabytes', 'seconds', 'folder'];
  context.say(toText({ columns, rows, print: printWithThousands(columns, ['rows']) }));
  context.json({ schemas: rows });
}

async function verifySchemas(context: CliContext, options: SchemaOptions): Promise<void> {
  const proofs: Equivalence[] = [];
  for (const { lake } of await lakesOf(context, options)) {
    const started = performance.now();
    const proof = await proveEquivalence({ home: context.home, lake, progress: context.progress });
    proofs.push(proof);
    sayProof(context, proof, (performance.now() - started) / 1000, equivalencePath(lake.folder));
  }
  context.json({ schemas: proofs });
  if (proofs.some((proof) => !proof.isVerified)) process.exitCode = 1;
}

async function translateQuery(context: CliContext, query: string, options: SchemaOptions): Promise<void> {
  const dataset = await chooseDataset(context.home, 'mimic-iv', options.dataset);
  const sql = await nativeQuery(query);
  const carried: { schema: string; sql: string }[] = [];
  for (const presentation of await presentationsOf(options)) {
    const lake = await describeLake({ home: context.home, dataset, presentation });
    await using translator = await SqlTranslator.open(lake);
    const translated = await translator.translate(sql, query);
    carried.push({ schema: lake.dictionary.id, sql: translated.sql });
    context.say(`-- ${lake.dictionary.id}\n${translated.sql};\n`);
  }
  context.json({ query, schemas: carried });
}

async function nativeQuery(query: string): Promise<string> {
  const isFile = await stat(query).then(
    (found) => found.isFile(),
    () => false,
  );
  const text = isFile
    ? await readFile(query, 'utf8')
    : (await findReferenceQuery('mimic-iv', query)).sql.query;
  return text.trimEnd().replace(/;$/, '');
}

async function presentationsOf(options: SchemaOptions): Promise<readonly Presentation[]> {
  const protocol = await loadProtocol(options.protocol);
  return transformedSchemas
    .filter((schema) => options.schema === 'both' || options.schema === schema)
    .map((schema) =>
      presentationOf({
        schema,
        seed: options.seed,
        protocol,
        ...(options.perturb === undefined ? {} : { perturb: options.perturb }),
      }),
    );
}

async function lakesOf(
  context: CliContext,
  options: SchemaOptions,
): Promise<readonly { readonly lake: SchemaLake; readonly seconds: number }[]> {
  const presentations = await presentationsOf(options);
  const dataset: Dataset = await chooseDataset(context.home, 'mimic-iv', options.dataset);
  const lakes = [];
  for (const presentation of presentations) {
    const started = performance.now();
    const lake = await buildLake({ home: context.home, dataset, presentation, progress: context.progress });
    lakes.push({ lake, seconds: (performance.now() - started) / 1000 });
  }
  return lakes;
}

function sayProof(context: CliContext, proof: Equivalence, seconds: number, path: string): void {
  const equal = (proofs: readonly { readonly isEqual: boolean }[]): string =>
    `${proofs.filter((entry) => entry.isEqual).length} of ${proofs.length}`;
  context.say(
    `${proof.dataset} ${proof.id}: ${proof.isVerified ? 'verified' : 'NOT VERIFIED'} in ${seconds.toFixed(1)} s; ` +
      `files sound ${proof.files.filter((file) => file.isSound).length} of ${proof.files.length}, tables ${equal(proof.tables)}, ` +
      `concepts ${equal(proof.concepts)}, references ${equal(proof.references)} equal; ${path}`,
  );
  const faults = [
    ...proof.files.filter((file) => !file.isSound),
    ...[...proof.tables, ...proof.concepts, ...proof.references].filter((entry) => !entry.isEqual),
  ];
  if (faults.length === 0) return;
  context.say(
    toText({
      columns: ['name', 'reason'],
      rows: faults.map(({ name, reason }) => ({ name, reason: reason ?? '' })),
    }),
  );
}
