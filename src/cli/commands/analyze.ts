import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { type Analysis, analyze } from '../../analysis/analyze.js';
import { renderAnalysis } from '../../analysis/campaign-report.js';
import { compareRuns, versionNotes } from '../../analysis/compare.js';
import { resampler } from '../../analysis/random-stream.js';
import { readCampaignRows } from '../../analysis/read-campaign.js';
import { readValidityCaveats } from '../../analysis/read-caveats.js';
import { readPublishedRuns } from '../../analysis/read-published.js';
import { joinRunSets, type RunSet } from '../../analysis/run-set.js';
import { type Table, toJson, toText } from '../../analysis/tables.js';
import { taskFactsOf, taskIndexOf } from '../../analysis/task-facts.js';
import { analysisDocument, writeAnalysisFiles } from '../../analysis/write-analysis.js';
import { campaignFolder } from '../../campaigns/plan.js';
import { readResults } from '../../campaigns/run.js';
import type { RunResult } from '../../runs/result.js';
import { M4BenchError } from '../../support/errors.js';
import { loadTasks } from '../../tasks/load-tasks.js';
import { existingPlan } from '../campaign-setup.js';
import { type CliContext, contextOf } from '../context.js';
import { wholeNumber } from '../options.js';

interface AnalyzeCommandOptions {
  readonly import?: readonly string[];
  readonly compare?: boolean;
  readonly sensitivity?: boolean;
  readonly publishableOnly?: boolean;
  readonly resamples: number;
  readonly rng: 'modern' | 'published';
  readonly out?: string;
  readonly figures: boolean;
}

/** `m4bench analyze CAMPAIGN…`: from results to claims. */
export function analyzeCommand(): Command {
  return new Command('analyze')
    .description('every table and figure that the runs allow, from result files by one path')
    .argument('[campaigns...]', 'names of campaigns; several stand side by side and are never pooled')
    .option('--import <source...>', 'add published runs: --import published DIR')
    .option('--compare', 'two campaigns: paired deltas by task and by column')
    .option('--sensitivity', 'only how the headline depends on choices of the analysis')
    .option('--publishable-only', 'leave out runs that may not be published')
    .option('--resamples <n>', 'bootstrap resamples', wholeNumber('--resamples', 100), 20_000)
    .addOption(
      new Option('--rng <stream>', 'random stream; "published" repeats the printed intervals')
        .choices(['modern', 'published'])
        .default('modern'),
    )
    .option('--out <dir>', "folder for tables and figures (default: the first campaign's analysis folder)")
    .option('--no-figures', 'leave out SVG and PNG')
    .addHelpText(
      'after',
      '\nExamples:\n  m4bench analyze tonight\n  m4bench analyze before after --compare\n  m4bench analyze --import published ./published-runs --rng published --out ./paper',
    )
    .action(async (names: string[], options: AnalyzeCommandOptions, command: Command) => {
      const context = contextOf(command);
      if (options.compare) return compareCampaigns(context, names, options);
      const { set, results } = await readRuns(context, names, options);
      const analysis = analyze(set, {
        resamples: options.resamples,
        rng: options.rng,
        caveats: await readValidityCaveats(),
        ...(options.sensitivity ? { only: ['sensitivity'] } : {}),
        ...(options.publishableOnly ? { publishableOnly: true } : {}),
      });
      await report(context, names, analysis, results, options);
    });
}

interface Runs {
  readonly set: RunSet;
  /** Results of this system's campaigns, for the first look on the terminal. */
  readonly results: readonly RunResult[];
}

async function readRuns(
  context: CliContext,
  names: readonly string[],
  options: AnalyzeCommandOptions,
): Promise<Runs> {
  const tasks = taskFactsOf(await loadTasks(context.content));
  const sets: RunSet[] = [];
  const results: RunResult[] = [];
  for (const name of names) {
    const plan = await existingPlan(context.home, name);
    // An imported campaign may lie under another name than the one it was planned under.
    results.push(...(await readResults(context.home, { ...plan, name })));
    sets.push(await readCampaignRows(campaignFolder(context.home, name).root, { tasks }));
  }
  if (options.import !== undefined) {
    const [kind, folder, ...rest] = options.import;
    if (kind !== 'published' || folder === undefined || rest.length > 0) {
      throw new M4BenchError(
        'IMPORT_UNKNOWN',
        `--import ${options.import.join(' ')} is not understood.`,
        'Write --import published DIR, after the names of campaigns.',
      );
    }
    sets.push(await readPublishedRuns(resolve(folder)));
  }
  if (sets.length === 0) {
    throw new M4BenchError(
      'NO_CAMPAIGN',
      'Nothing to analyse was named.',
      'Name a campaign, or add --import published DIR.',
    );
  }
  return { set: joinRunSets(sets), results };
}

async function report(
  context: CliContext,
  names: readonly string[],
  analysis: Analysis,
  results: readonly RunResult[],
  options: AnalyzeCommandOptions,
): Promise<void> {
  const first = names[0];
  const folder =
    options.out ?? (first === undefined ? undefined : campaignFolder(context.home, first).analysis);
  const title = [...names, ...(options.import === undefined ? [] : ['published runs'])].join(', ');
  const glance = results.length === 0 ? undefined : renderAnalysis(results, { title, seed: 20260504 });
  if (folder !== undefined) {
    await writeAnalysisFiles(folder, analysis, {
      title,
      figures: options.figures,
      notices: glance?.notices ?? [],
    });
  }
  if (options.sensitivity || glance === undefined) {
    for (const [name, table] of Object.entries(analysis.tables)) {
      if (name !== 'runs') context.say(`${name}\n\n${toText(table)}\n`);
    }
  } else {
    context.say(glance.text);
  }
  if (folder !== undefined)
    context.say(
      `\n${Object.keys(analysis.tables).length} tables and ${Object.keys(analysis.figures).length} figures, report: ${join(folder, 'report.md')}`,
    );
  const document = analysisDocument(analysis);
  const glanceTables = Object.fromEntries(
    Object.entries(glance?.tables ?? {}).map(([name, table]) => [name, toJson(table)]),
  );
  context.json({
    ...document,
    notices: glance?.notices ?? [],
    tables: { ...glanceTables, ...document.tables },
  });
}

async function compareCampaigns(
  context: CliContext,
  names: readonly string[],
  options: AnalyzeCommandOptions,
): Promise<void> {
  const [a, b, ...rest] = names;
  if (a === undefined || b === undefined || rest.length > 0) {
    throw new M4BenchError(
      'COMPARE_TWO',
      `--compare takes two campaigns, and ${names.length} were named.`,
      'Write: m4bench analyze A B --compare.',
    );
  }
  const tasks = taskFactsOf(await loadTasks(context.content));
  const rowsOf = async (name: string): Promise<RunSet> => {
    await existingPlan(context.home, name);
    return readCampaignRows(campaignFolder(context.home, name).root, { tasks });
  };
  const [left, right] = [(await rowsOf(a)).rows, (await rowsOf(b)).rows];
  for (const note of versionNotes(left, right)) context.progress.warn(note);
  const comparison = compareRuns(
    { label: a, rows: left },
    { label: b, rows: right },
    { tasks: taskIndexOf(tasks), drawing: resampler({ resamples: options.resamples, rng: options.rng }) },
  );
  const tables: Record<string, Table> = { ...comparison.tables };
  for (const [name, table] of Object.entries(tables)) context.say(`${name}\n\n${toText(table)}\n`);
  for (const cell of comparison.unmatched) context.say(`only on one side: ${cell}`);
  context.json({
    tables: Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, toJson(table)])),
    figures: {},
    unmatched: comparison.unmatched,
  });
}
