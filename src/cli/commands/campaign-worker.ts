import { Command } from 'commander';
import type { CampaignPlan } from '../../campaigns/plan.js';
import { campaignFolder, freezePlan, planSchema, readPlan } from '../../campaigns/plan.js';
import { describe } from '../../campaigns/run.js';
import { folderStore, type RunStore } from '../../campaigns/run-store.js';
import { s3Store } from '../../campaigns/s3-store.js';
import { workQueue } from '../../campaigns/worker.js';
import { openDataset } from '../../datasets/dataset.js';
import { M4BenchError } from '../../support/errors.js';
import { existingPlan, setUpPlan } from '../campaign-setup.js';
import { type CliContext, contextOf } from '../context.js';
import { wholeNumber } from '../options.js';

/** Where several machines meet. */
export interface QueueOptions {
  readonly queue?: string;
  readonly store?: string;
  readonly storeEndpoint?: string;
}

/** Adds the options of campaigns on several machines. */
export function withQueueOptions(command: Command): Command {
  return command
    .option(
      '--queue <url>',
      'Redis or Valkey that hands runs to workers on any machine, such as redis://host:6379',
    )
    .option(
      '--store <url>',
      'experimental: results in a bucket, s3://bucket/prefix (default: the campaign folder, shared)',
    )
    .option('--store-endpoint <url>', 'address of an S3-compatible server');
}

/** The store that the options name. */
export async function storeOf(context: CliContext, name: string, options: QueueOptions): Promise<RunStore> {
  const campaign = campaignFolder(context.home, name);
  if (options.store === undefined) return folderStore(campaign);
  return await s3Store({
    campaign,
    name,
    url: options.store,
    ...(options.storeEndpoint === undefined ? {} : { endpoint: options.storeEndpoint }),
  });
}

/** Each kind of trouble once: a server that is away says so many times. */
export function sayTroubleOnce(context: CliContext): (message: string) => void {
  const said = new Set<string>();
  return (message) => {
    if (said.has(message)) return;
    said.add(message);
    context.progress.warn(`queue: ${message}; waiting for it`);
  };
}

/** `m4bench campaign worker`: makes runs that a coordinator put into a queue. */
export function campaignWorkerCommand(): Command {
  return withQueueOptions(
    new Command('worker')
      .description('make runs of a campaign that campaign run --queue put into a queue, until Ctrl-C')
      .argument('<name>', 'name of the campaign')
      .option('--parallel <n>', 'runs at once on this machine', wholeNumber('--parallel'), 1),
  )
    .addHelpText(
      'after',
      '\nExample, on each machine, with the folder shared:\n  m4bench --home /shared/m4bench campaign worker paper --queue redis://host:6379 --parallel 4',
    )
    .action(workerAction);
}

async function workerAction(
  name: string,
  options: QueueOptions & { readonly parallel: number },
  command: Command,
): Promise<void> {
  const context = contextOf(command);
  if (options.queue === undefined) {
    throw new M4BenchError(
      'QUEUE_MISSING',
      'A worker takes runs from a queue.',
      'Add --queue redis://HOST:6379.',
    );
  }
  const store = await storeOf(context, name, options);
  const plan = await planFor(context, name, store);
  const { setup, prepare } = await setUpPlan(context, plan);
  await using _setup = setup;
  await refuseOtherData(context, plan);
  context.progress.done(`worker of ${name}: ${plan.runs.length} runs, ${options.parallel} at once`);
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const { made } = await workQueue({
    url: options.queue,
    plan,
    store,
    prepare,
    environment: setup.environment,
    parallel: options.parallel,
    onRun: (run, result, wasFirst) => {
      const cell = plan.cells[run.cell]!;
      const words = `${cell.task} ${cell.condition} trial ${run.trial}: ${describe(result)}`;
      context.progress.done(wasFirst ? words : `${words} (another worker was first)`);
    },
    onTrouble: sayTroubleOnce(context),
    signal: AbortSignal.any([context.signal, stop.signal]),
  });
  context.say(`${made} runs made`);
  context.json({ campaign: name, made });
}

/** The plan of this home, or the one that travels with the results. */
async function planFor(context: CliContext, name: string, store: RunStore): Promise<CampaignPlan> {
  if ((await readPlan(context.home, name)) === undefined) {
    const text = await store.readPlan();
    const parsed = text === undefined ? undefined : planSchema.safeParse(JSON.parse(text));
    if (parsed?.success && parsed.data.name === name) await freezePlan(context.home, parsed.data);
  }
  return await existingPlan(context.home, name);
}

/** Refuses at once, before the first run, on a machine whose data are not those of the plan. */
async function refuseOtherData(context: CliContext, plan: CampaignPlan): Promise<void> {
  const planned = new Map(plan.cells.map(({ dataset, datasetHash }) => [dataset, datasetHash]));
  for (const [name, hash] of planned) {
    const { contentHash } = await openDataset(context.home, name);
    if (contentHash === hash) continue;
    throw new M4BenchError(
      'DATA_DIFFER',
      `Dataset ${name} of this machine (${contentHash.slice(0, 12)}) is not the one that campaign ${plan.name} was planned on (${hash.slice(0, 12)}).`,
      'Import the same release, or synthesize it with the same seed and size.',
      { party: 'environment' },
    );
  }
}
