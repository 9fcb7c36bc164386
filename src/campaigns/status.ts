import type { Home } from '../support/home.js';
import { latestResults, readIndex } from './campaign-index.js';
import { readWish, type Wish } from './control.js';
import { type ResultEntry, readJournal } from './journal.js';
import { lockHolder } from './lock.js';
import { type CampaignPlan, campaignFolder } from './plan.js';

/** Runs of one cell so far. */
export interface CellStatus {
  readonly task: string;
  readonly condition: string;
  readonly schema: string;
  readonly model: string | null;
  readonly planned: number;
  readonly judged: number;
  readonly unjudged: number;
  /** Mean over judged runs, null when there is none. */
  readonly reward: number | null;
}

export interface CampaignStatus {
  readonly campaign: string;
  readonly planHash: string;
  readonly planned: number;
  /** Runs with a result. */
  readonly done: number;
  readonly unjudged: number;
  /** Judged runs that ended as a failure of the agent. */
  readonly agentFailures: number;
  /** Runs whose last word is an error of the scheduler. */
  readonly errors: readonly { readonly runId: string; readonly code: string; readonly message: string }[];
  /** Attempts that were tried again, and results that a later one replaced; both stay on record. */
  readonly retriedAttempts: number;
  readonly replacedResults: number;
  readonly tokens: number;
  /** US dollars by the price table. */
  readonly cost: number;
  /** Mean seconds of a run, null before the first. */
  readonly secondsPerRun: number | null;
  /** Who works on it at the moment. */
  readonly holder: { readonly pid: number; readonly host: string } | null;
  readonly wants: Wish;
  readonly cells: readonly CellStatus[];
  readonly last: readonly ResultEntry[];
}

/** How far a campaign is, from its plan and its journal; no result file is opened while there is a journal. */
export async function campaignStatus(home: Home, plan: CampaignPlan): Promise<CampaignStatus> {
  const folder = campaignFolder(home, plan.name);
  const reading = await readJournal(folder.journal);
  const lines = reading?.lines ?? [];
  const results = reading === undefined ? await readIndex(folder, plan) : latestResults(lines);
  const errors = new Map<string, { runId: string; code: string; message: string }>();
  let recorded = 0;
  for (const line of lines) {
    if (line.kind === 'error') {
      errors.set(line.runId, { runId: line.runId, code: line.code, message: line.message });
    } else if (line.kind === 'result') {
      recorded += 1;
      errors.delete(line.runId);
    }
  }
  const entries = [...results.values()];
  const sum = (of: (entry: ResultEntry) => number): number =>
    entries.reduce((total, entry) => total + of(entry), 0);
  return {
    campaign: plan.name,
    planHash: plan.planHash,
    planned: plan.runs.length,
    done: entries.length,
    unjudged: sum(({ status }) => (status === 'unjudged' ? 1 : 0)),
    agentFailures: sum(({ status, failureClass }) =>
      status === 'judged' && failureClass === 'agent' ? 1 : 0,
    ),
    errors: [...errors.values()],
    retriedAttempts: sum(({ attempts }) => attempts.length - 1),
    replacedResults: Math.max(
      0,
      recorded - new Set(lines.flatMap((line) => (line.kind === 'result' ? [line.runId] : []))).size,
    ),
    tokens: sum(({ spent }) => spent.tokens),
    cost: sum(({ spent }) => spent.cost),
    secondsPerRun: entries.length === 0 ? null : sum(({ seconds }) => seconds) / entries.length,
    holder: (await lockHolder(folder.root)) ?? null,
    wants: await readWish(folder),
    cells: cellsOf(plan, results),
    last: lines.flatMap((line) => (line.kind === 'result' ? [line] : [])).slice(-5),
  };
}

function cellsOf(plan: CampaignPlan, results: ReadonlyMap<string, ResultEntry>): readonly CellStatus[] {
  const cells = plan.cells.map(() => ({ planned: 0, judged: 0, unjudged: 0, sum: 0 }));
  for (const run of plan.runs) {
    const cell = cells[run.cell]!;
    const entry = results.get(run.runId);
    cell.planned += 1;
    if (entry?.status === 'unjudged') cell.unjudged += 1;
    if (entry?.status === 'judged') {
      cell.judged += 1;
      cell.sum += entry.reward ?? 0;
    }
  }
  return plan.cells.map(({ task, condition, schema, model }, index) => {
    const { planned, judged, unjudged, sum } = cells[index]!;
    return {
      task,
      condition,
      schema,
      model,
      planned,
      judged,
      unjudged,
      reward: judged === 0 ? null : sum / judged,
    };
  });
}
