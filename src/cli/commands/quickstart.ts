import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { agentNamed } from '../../agents/agents.js';
import { analyze } from '../../analysis/analyze.js';
import { renderAnalysis } from '../../analysis/campaign-report.js';
import { readCampaignRows } from '../../analysis/read-campaign.js';
import { taskFactsOf } from '../../analysis/task-facts.js';
import { writeAnalysisFiles } from '../../analysis/write-analysis.js';
import { campaignFolder, freezePlan, planCampaign } from '../../campaigns/plan.js';
import { readResults, runCampaign } from '../../campaigns/run.js';
import { type Dataset, openDataset } from '../../datasets/dataset.js';
import { type DatabaseKind, databaseKinds } from '../../datasets/source-schema.js';
import { synthesizeDataset } from '../../datasets/synthesize.js';
import { CellPreparation, type PreparedCell } from '../../runs/prepare.js';
import type { Sandbox } from '../../sandboxes/sandbox.js';
import { sandboxOf } from '../../sandboxes/sandboxes.js';
import { M4BenchError } from '../../support/errors.js';
import { benchmarkFolder } from '../../support/home.js';
import { shortHash } from '../../support/ids.js';
import { findTask, loadTasks } from '../../tasks/load-tasks.js';
import { loadProtocol } from '../../tasks/protocol.js';
import { benchmarkVersion } from '../../version.js';
import { campaignLog } from '../campaign-view.js';
import { type CliContext, contextOf } from '../context.js';
import { wholeNumber } from '../options.js';

const seed = 'quickstart';
/** Which of a task's two queries stands for which condition. */
const queryOf = { 'no-skill': 'naive.sql', 'with-skill': 'skilled.sql' } as const;

/** `m4bench quickstart`: the main job on synthetic data, no model needed. */
export function quickstartCommand(): Command {
  return new Command('quickstart')
    .description('the main job on generated data: a few tasks, two conditions, no model needed')
    .option('--stays <n>', 'ICU stays of each database to generate', wholeNumber('--stays', 20), 200)
    .action(async (options: { stays: number }, command: Command) => {
      const context = contextOf(command);
      const started = performance.now();
      const datasets = new Map<DatabaseKind, Dataset>();
      for (const kind of databaseKinds)
        datasets.set(kind, await syntheticDataset(context, kind, options.stays));
      const sandbox = await usableSandbox(context);
      const cells = await prepareCells(context, datasets, sandbox);
      context.progress.done(`${cells.length} runs prepared: derived tables, references, task databases`);
      const environment = {
        sandbox,
        providers: [],
        benchmarkVersion,
        limits: {
          timeoutSeconds: 300,
          memoryBytes: 2 * 1024 ** 3,
          processes: 256,
          workBytes: 1024 ** 3,
          streamBytes: 16 * 1024 ** 2,
        },
      };
      const planOptions = {
        benchmarkVersion,
        cells,
        trials: 1,
        seed,
        sandbox: sandbox.kind,
        timeoutSeconds: 300,
      };
      // Named after its plan: another version, dataset or sandbox is another campaign, the same one is resumed.
      const draft = planCampaign({ ...planOptions, name: 'quickstart' });
      const plan = planCampaign({ ...planOptions, name: `quickstart-${shortHash(draft.planHash, 8)}` });
      await freezePlan(context.home, plan);
      const outcome = await runCampaign({
        home: context.home,
        plan,
        prepare: async (cell) => cells[cell]!,
        environment,
        onEvent: campaignLog(context.progress, plan),
        signal: context.signal,
      });
      if (outcome.ended.how === 'interrupted')
        throw new M4BenchError(
          'INTERRUPTED',
          'The quickstart was interrupted; finished runs are kept.',
          'Run it again to go on.',
        );
      const results = await readResults(context.home, plan);
      const analysis = renderAnalysis(results, { title: 'm4bench quickstart', seed: 20260504 });
      const folder = await writeReport(context, plan.name, analysis.notices);
      context.say(analysis.text);
      context.say('');
      context.say(
        'No model was called: the built-in agent sql played two plain SQL files per task, one naive (no-skill) and one that follows the skill (with-skill).',
      );
      context.say(
        `report: ${join(folder, 'report.md')}   (${((performance.now() - started) / 1000).toFixed(0)} s)`,
      );
      context.say(`look: m4bench view   or, as pages: m4bench report ${plan.name}`);
      context.say(
        'next: m4bench run mimic-sirs-24h-raw --condition with-skill --agent codex --model MODEL   (with OPENAI_API_KEY set)',
      );
      context.json({ tables: analysis.tables, figures: {}, report: join(folder, 'report.md') });
      if (results.some((result) => result.status === 'unjudged')) process.exitCode = 1;
    });
}

/** All tables and figures of the campaign, as `m4bench analyze` writes them; the folder they are in. */
async function writeReport(
  context: CliContext,
  campaign: string,
  notices: readonly string[],
): Promise<string> {
  const { root, analysis } = campaignFolder(context.home, campaign);
  const rows = await readCampaignRows(root, { tasks: taskFactsOf(await loadTasks()) });
  await writeAnalysisFiles(analysis, analyze(rows), { title: 'm4bench quickstart', notices });
  return analysis;
}

/** The generated dataset; one with another number of stays or seed is kept, since the user may have made it. */
async function syntheticDataset(context: CliContext, kind: DatabaseKind, stays: number): Promise<Dataset> {
  const name = `${kind}-synthetic`;
  if (existsSync(join(context.home.datasets, name, 'dataset.json'))) {
    context.progress.done(`using the ${name} dataset that is there`);
    return openDataset(context.home, name);
  }
  context.progress.update(`generating ${stays} synthetic ICU stays for ${name}`);
  return synthesizeDataset(context.home, { kind, stays, seed, progress: context.progress });
}

/** bubblewrap where it works; else a plain process, with a warning. */
async function usableSandbox(context: CliContext): Promise<Sandbox> {
  const isolated = sandboxOf('bubblewrap');
  const state = await isolated.probe();
  if (state.available) return isolated;
  context.progress.warn(`no isolation: ${state.detail}. ${state.remedy ?? ''}`);
  return sandboxOf('process');
}

async function prepareCells(
  context: CliContext,
  datasets: ReadonlyMap<DatabaseKind, Dataset>,
  sandbox: Sandbox,
): Promise<readonly PreparedCell[]> {
  const agent = agentNamed('sql', { environment: process.env, userHome: homedir() });
  const protocol = await loadProtocol();
  // Seventy derived tables, each with a line of its own, would bury the dozen lines that matter here.
  const { update, warn } = context.progress;
  const preparation = new CellPreparation(context.home, { update, done: update, warn });
  const queries = join(benchmarkFolder(), 'quickstart');
  const cells: PreparedCell[] = [];
  for (const name of (await readdir(queries)).sort()) {
    const task = await findTask(name);
    for (const [condition, file] of Object.entries(queryOf)) {
      cells.push(
        await preparation.prepare({
          task,
          condition,
          protocol,
          dataset: datasets.get(task.database)!,
          agent,
          cliVersion: null,
          rootfsDigest: sandbox.rootfsDigest,
          effort: 'auto',
          queryFile: join(queries, name, file),
        }),
      );
    }
  }
  return cells;
}
