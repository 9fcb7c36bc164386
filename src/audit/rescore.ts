import { join } from 'node:path';
import { openDataset } from '../datasets/dataset.js';
import { evaluateOutput } from '../evaluation/evaluate.js';
import { referencePaths } from '../references/build.js';
import { resultSchema } from '../runs/result.js';
import type { Home } from '../support/home.js';
import { findTask, type LoadTasksOptions } from '../tasks/load-tasks.js';
import { type AuditProblem, recordJson, statusOf } from './record-files.js';

/** What datasets and references at hand say of a run. */
export interface Rescore {
  /** False when the dataset or the reference is not at hand in the same content; then nothing was compared. */
  readonly wasCompared: boolean;
  readonly problems: readonly AuditProblem[];
}

const at = (code: string, detail: string): AuditProblem => ({ code, where: 'result.json', detail });

/**
 * Judges the kept output of a run once more, against the reference under the home folder, and compares what the run
 * says of its dataset with the dataset itself. A forgery that is consistent in itself is caught here.
 */
export async function rescoreRun(
  home: Home,
  folder: string,
  content: LoadTasksOptions = {},
): Promise<Rescore> {
  const parsed = resultSchema.safeParse(await recordJson(join(folder, 'result.json')));
  if (!parsed.success) return { wasCompared: false, problems: [] };
  const result = parsed.data;
  const dataset = await openDataset(home, result.cell.dataset).catch(() => undefined);
  const task = await findTask(result.cell.task, content).catch(() => undefined);
  if (dataset === undefined || task === undefined || dataset.contentHash !== result.cell.datasetHash)
    return { wasCompared: false, problems: [] };
  const problems: AuditProblem[] = [];
  if (dataset.verified !== result.dataset.verified)
    problems.push(at('DATASET_DIFFERS', `the dataset is ${dataset.verified ? '' : 'not '}verified`));
  if (dataset.class !== result.dataset.class)
    problems.push(at('DATASET_DIFFERS', `the dataset is of class ${dataset.class}`));
  const paths = referencePaths(home, dataset.name, task.reference);
  const manifest = (await recordJson(paths.manifest)) as { contentHash?: unknown } | undefined;
  if (manifest?.contentHash !== result.cell.hashes.reference) return { wasCompared: false, problems };
  const outputPath = join(folder, 'attempts', String(result.attempt), 'output.csv');
  if (result.evaluation === null || (await statusOf(outputPath)) === undefined)
    return { wasCompared: true, problems };
  const { evaluation } = await evaluateOutput({
    task,
    dataset: dataset.name,
    outputPath,
    referencePath: paths.parquet,
    scoresOnly: true,
  });
  for (const name of ['reward', 'rewardRobust'] as const)
    if (evaluation[name] !== result[name])
      problems.push(
        at('RESCORE_DIFFERS', `${name}: recorded ${result[name]}, judged again ${evaluation[name]}`),
      );
  return { wasCompared: true, problems };
}
