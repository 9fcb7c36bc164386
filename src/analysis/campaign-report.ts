import type { RunResult } from '../runs/result.js';
import { distinct } from './moments.js';
import { rewardByTaskAndCondition, skillDeltas, skillEffect } from './skill-effect.js';
import { type Table, toText } from './tables.js';

/** Everything a first look at a campaign needs, computed by one path for terminal, files and JSON (promise P5). */
export interface CampaignAnalysis {
  readonly tables: Readonly<Record<string, Table>>;
  /** What a reader must know before the numbers. */
  readonly notices: readonly string[];
  readonly text: string;
}

const headings: Readonly<Record<string, string>> = {
  'reward-by-task-and-condition': 'Reward by task and condition',
  'skill-deltas': 'Skill delta by task (with-skill minus no-skill)',
  'skill-effect': 'Skill effect over tasks, with a 95 % bootstrap interval',
};

/** Tables of a set of results, as data, terminal text and Markdown. */
export function renderAnalysis(
  results: readonly RunResult[],
  options: { readonly title: string; readonly seed: number | string },
): CampaignAnalysis {
  const tables: Record<string, Table> = {
    'reward-by-task-and-condition': rewardByTaskAndCondition(results),
    'skill-deltas': skillDeltas(results),
    'skill-effect': skillEffect(results, options.seed),
  };
  const notices = noticesOf(results);
  const section = (render: (table: Table) => string, heading: (text: string) => string): string =>
    Object.entries(tables)
      .map(([name, table]) => `${heading(headings[name]!)}\n\n${render(table)}`)
      .join('\n\n');
  return {
    tables,
    notices,
    text: [...notices, '', section(toText, (text) => text)].join('\n'),
  };
}

/** What a reader must know before the numbers. */
function noticesOf(results: readonly RunResult[]): readonly string[] {
  const notices: string[] = [];
  const datasets = new Map(results.map((result) => [result.dataset.name, result.dataset]));
  for (const dataset of datasets.values()) {
    if (dataset.class === 'synthetic')
      notices.push(`${dataset.name} is synthetic data: rewards say nothing about patients or models.`);
    if (!dataset.verified)
      notices.push(`${dataset.name} is UNVERIFIED: its files are not the official release.`);
  }
  const versions = distinct(results.map((result) => result.benchmarkVersion));
  if (versions.length > 1)
    notices.push(
      `Runs of benchmark versions ${versions.join(' and ')} are shown apart: their tasks may differ.`,
    );
  if (results.every((result) => result.tokens === null)) notices.push('No model was called in these runs.');
  const unpublishable = results.filter((result) => !result.publishable).length;
  if (unpublishable > 0)
    notices.push(
      `${unpublishable} of ${results.length} runs are not publishable; each result.json gives the reasons.`,
    );
  const unjudged = results.filter((result) => result.status === 'unjudged').length;
  if (unjudged > 0)
    notices.push(`${unjudged} runs are unjudged (infrastructure failures) and enter no mean.`);
  return notices;
}
