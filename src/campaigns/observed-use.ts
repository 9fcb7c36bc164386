import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readTextIfPresent } from '../support/files.js';
import type { Home } from '../support/home.js';
import { readIndex } from './campaign-index.js';
import type { ObservedUse } from './estimate.js';
import type { ResultEntry } from './journal.js';
import { type CampaignPlan, campaignFolder, planSchema } from './plan.js';

/** Sums that means are made of. */
interface Sums {
  runs: number;
  seconds: number;
  input: number;
  cachedInput: number;
  cacheWrite: number;
  output: number;
  cost: number;
  withTokens: number;
  withCost: number;
}

/**
 * What finished runs of an agent took, by model (`''` for its default), over all campaigns of a home. Runs that only
 * infrastructure ended say nothing about a run and are left out; so are campaigns whose plan or journal is damaged.
 */
export async function observedUse(home: Home, agent: string): Promise<ReadonlyMap<string, ObservedUse>> {
  const sums = new Map<string, Sums>();
  for (const name of await readdir(home.campaigns).catch(() => [])) {
    const text = await readTextIfPresent(join(home.campaigns, name, 'campaign.json')).catch(() => undefined);
    const plan = text === undefined ? undefined : planFrom(text);
    if (plan === undefined || !plan.cells.some((cell) => cell.agent === agent)) continue;
    const index = await readIndex(campaignFolder(home, plan.name), plan).catch(
      () => new Map<string, ResultEntry>(),
    );
    for (const run of plan.runs) {
      const entry = index.get(run.runId);
      const cell = plan.cells[run.cell]!;
      if (entry?.status === 'judged' && cell.agent === agent) add(sums, cell.model ?? '', entry);
    }
  }
  return new Map([...sums].map(([model, sum]) => [model, meansOf(sum)]));
}

function planFrom(text: string): CampaignPlan | undefined {
  try {
    return planSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function add(sums: Map<string, Sums>, model: string, entry: ResultEntry): void {
  const sum = sums.get(model) ?? {
    runs: 0,
    seconds: 0,
    input: 0,
    cachedInput: 0,
    cacheWrite: 0,
    output: 0,
    cost: 0,
    withTokens: 0,
    withCost: 0,
  };
  sums.set(model, sum);
  sum.runs += 1;
  sum.seconds += entry.seconds;
  if (entry.tokens !== null) {
    sum.withTokens += 1;
    sum.input += entry.tokens.input;
    sum.cachedInput += entry.tokens.cachedInput;
    sum.cacheWrite += entry.tokens.cacheWrite;
    sum.output += entry.tokens.output;
  }
  if (entry.cost !== null) {
    sum.withCost += 1;
    sum.cost += entry.cost;
  }
}

function meansOf(sum: Sums): ObservedUse {
  const each = sum.withTokens;
  return {
    runs: sum.runs,
    seconds: sum.seconds / sum.runs,
    tokens:
      each === 0
        ? null
        : {
            input: sum.input / each,
            cachedInput: sum.cachedInput / each,
            cacheWrite: sum.cacheWrite / each,
            output: sum.output / each,
          },
    cost: sum.withCost === 0 ? null : sum.cost / sum.withCost,
  };
}
