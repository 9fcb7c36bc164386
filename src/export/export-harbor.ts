import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { agentNamed } from '../agents/agents.js';
import type { Dataset } from '../datasets/dataset.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { CellPreparation, type PreparedCell } from '../runs/prepare.js';
import { M4BenchError, systemCodeOf } from '../support/errors.js';
import type { Home } from '../support/home.js';
import type { Progress } from '../support/progress.js';
import type { Protocol } from '../tasks/protocol.js';
import type { Task } from '../tasks/task.js';
import { benchmarkVersion } from '../version.js';
import { dataFileOf, type HarborTask, harborTexts } from './harbor-task.js';

export interface HarborExportOptions {
  readonly home: Home;
  /** Datasets by kind of database. */
  readonly datasetFor: (task: Task) => Promise<Dataset>;
  readonly tasks: readonly Task[];
  readonly condition: string;
  readonly protocol: Protocol;
  /** Not there yet. */
  readonly folder: string;
  /** Credentialed data leave the home folder only when asked for. */
  readonly withData: boolean;
  readonly progress: Progress;
}

export interface HarborExport {
  readonly folder: string;
  readonly tasks: readonly { readonly name: string; readonly hasData: boolean }[];
}

/**
 * Writes tasks as a Harbor dataset: a folder with one folder per task. The data, the reference and the solution are in
 * it when the dataset is open or generated; credentialed ones only with `withData`, and then the folder must not leave
 * this machine. Appears whole or not at all. Throws `EXPORT_EXISTS`.
 */
export async function exportHarbor(options: HarborExportOptions): Promise<HarborExport> {
  await mkdir(dirname(options.folder), { recursive: true });
  const draft = await mkdtemp(join(dirname(options.folder), '.m4bench-harbor-'));
  try {
    const preparation = new CellPreparation(options.home, options.progress);
    const tasks: { name: string; hasData: boolean }[] = [];
    for (const task of options.tasks) {
      options.progress.update(`export ${task.name}`);
      const prepared = await prepare(preparation, task, options);
      const hasData = options.withData || prepared.request.dataset.class !== 'credentialed';
      await writeTask(join(draft, task.name), prepared, options, hasData);
      tasks.push({ name: task.name, hasData });
    }
    await writeFile(join(draft, 'README.md'), readme(basename(options.folder), tasks));
    await settle(draft, options.folder);
    return { folder: options.folder, tasks };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function settle(draft: string, folder: string): Promise<void> {
  try {
    await rename(draft, folder);
  } catch (thrown) {
    if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(systemCodeOf(thrown) ?? '')) throw thrown;
    throw new M4BenchError(
      'EXPORT_EXISTS',
      `${folder} exists already.`,
      'Name a folder that is not there yet.',
    );
  }
}

async function prepare(
  preparation: CellPreparation,
  task: Task,
  { condition, protocol, datasetFor }: HarborExportOptions,
): Promise<PreparedCell> {
  return preparation.prepare({
    task,
    condition,
    protocol,
    dataset: await datasetFor(task),
    agent: agentNamed('empty', { environment: {}, userHome: '/' }),
    cliVersion: null,
    rootfsDigest: null,
    effort: 'default',
  });
}

async function writeTask(
  folder: string,
  prepared: PreparedCell,
  { protocol, condition }: HarborExportOptions,
  hasData: boolean,
): Promise<void> {
  const { request, context, relations, emptySchemas, reference } = prepared;
  const skills = context.workFiles.flatMap(({ path, content }) =>
    'text' in content ? [{ name: path.split('/').at(-2)!, text: content.text }] : [],
  );
  const task: HarborTask = {
    task: request.task,
    condition,
    dataset: request.dataset.name,
    instruction: context.instruction,
    skills,
    relations,
    emptySchemas,
    timeoutSeconds: protocol.timeLimitSeconds,
    benchmarkVersion,
    hasData,
  };
  for (const [path, text] of Object.entries(harborTexts(task))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
  }
  await mkdir(join(folder, 'environment', 'data'), { recursive: true });
  if (!hasData) return;
  for (const relation of relations) {
    const target = join(folder, 'environment', 'data', dataFileOf(relation));
    await mkdir(dirname(target), { recursive: true });
    await copyFile(relation.path, target);
  }
  await copyFile(reference.parquetPath, join(folder, 'tests', 'reference.parquet'));
  await using session = await DuckSession.open();
  await session.run(
    `copy (from read_parquet(${literal(reference.parquetPath)})) to ${literal(join(folder, 'solution', 'answer.csv'))} (format csv, header)`,
  );
}

function readme(name: string, tasks: HarborExport['tasks']): string {
  const without = tasks.filter(({ hasData }) => !hasData);
  return `# ${name}

${tasks.length} tasks of m4bench ${benchmarkVersion} in the format of Harbor. Run one, or all, with

    harbor run -p ./${name} -a <agent> -m <model>

The agent works in /work, where database.duckdb is, and must write /work/output.csv. Agents in Harbor reach the network:
results of such runs are not comparable with those of m4bench's own sandboxes, which have none.
${
  without.length === 0
    ? ''
    : `
${without.length} tasks read credentialed data and come without data, reference and solution. Make them with your own copy:
m4bench export harbor --with-data, and keep that folder to yourself.
`
}`;
}
