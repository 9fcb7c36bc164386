import { seeds } from '../analysis/bootstrap.js';
import { type CampaignAnalysis, renderAnalysis } from '../analysis/campaign-report.js';
import { type RunRow, rowOfResult } from '../analysis/run-row.js';
import type { CampaignPlan } from '../campaigns/plan.js';
import type { RunResult } from '../runs/result.js';
import type { Task } from '../tasks/task.js';

/** What the pages of a campaign show, all of it from its plan and results. */
export interface CampaignView {
  readonly name: string;
  readonly plan: CampaignPlan | undefined;
  readonly results: readonly RunResult[];
  /** The same runs as the analysis sees them. */
  readonly rows: readonly RunRow[];
  /** First look: what `analyze` and `campaign run` print. Undefined before the first result. */
  readonly glance: CampaignAnalysis | undefined;
  /** Tasks that the campaign asks for, as far as they are known here, by name. */
  readonly tasks: ReadonlyMap<string, Task>;
}

/** Builds the view from what was read. Pure. */
export function campaignView(
  name: string,
  plan: CampaignPlan | undefined,
  results: readonly RunResult[],
  tasks: readonly Task[],
): CampaignView {
  const asked = new Set([...(plan?.cells ?? []), ...results.map(({ cell }) => cell)].map(({ task }) => task));
  return {
    name,
    plan,
    results,
    rows: results.map((result) => rowOfResult(result)),
    glance: results.length === 0 ? undefined : renderAnalysis(results, { title: name, seed: seeds.task }),
    tasks: new Map(tasks.filter((task) => asked.has(task.name)).map((task) => [task.name, task])),
  };
}

/** Tasks of a campaign by name, sorted: those of the plan and those of the results. */
export function taskNames(view: CampaignView): readonly string[] {
  return [
    ...new Set(
      [...(view.plan?.cells ?? []), ...view.results.map(({ cell }) => cell)].map(({ task }) => task),
    ),
  ].sort();
}
