import { join } from 'node:path';
import { z } from 'zod';
import { costOf, type PriceTable } from '../gateway/prices.js';
import { benchmarkFolder } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';

const count = z.number().nonnegative();

const runEstimatesSchema = z.strictObject({
  seconds: z.strictObject({
    default: count,
    tasks: z.record(z.string(), count),
    multipliers: z.record(z.string(), count),
  }),
  tokens: z.strictObject({ source: z.string(), input: count, cached_input: count, output: count }),
});
export type RunEstimates = z.infer<typeof runEstimatesSchema>;

/** The shipped priors of time and tokens. */
export function readRunEstimates(): Promise<RunEstimates> {
  const file = join(benchmarkFolder(), 'campaigns', 'run-estimates.toml');
  return readTomlFile(file, runEstimatesSchema, 'RUN_ESTIMATES_INVALID', 'table of run estimates');
}

/** Published estimate of one run: base of the task times multiplier of the condition (1 when unknown). */
export function estimatedSeconds(
  estimates: RunEstimates,
  run: { readonly task: string; readonly condition: string },
): number {
  const base = Object.hasOwn(estimates.seconds.tasks, run.task)
    ? estimates.seconds.tasks[run.task]!
    : estimates.seconds.default;
  const factor = Object.hasOwn(estimates.seconds.multipliers, run.condition)
    ? estimates.seconds.multipliers[run.condition]!
    : 1;
  return base * factor;
}

/** Means of finished runs of one agent and model. */
export interface ObservedUse {
  readonly runs: number;
  readonly seconds: number;
  readonly tokens: {
    readonly input: number;
    readonly cachedInput: number;
    readonly cacheWrite: number;
    readonly output: number;
  } | null;
  readonly cost: number | null;
}

/** What a set of planned runs is expected to take. */
export interface CampaignEstimate {
  readonly runs: number;
  /** Sum over runs; divide by the number that run side by side. */
  readonly agentSeconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null when a model has no price and none of its runs is finished. */
  readonly cost: number | null;
  /** Where the figures come from, one sentence per model. */
  readonly basis: readonly string[];
}

export interface EstimateOptions {
  readonly runs: readonly {
    readonly task: string;
    readonly condition: string;
    readonly model: string | null;
  }[];
  /** False for built-in agents, which ask no model. */
  readonly needsModel: boolean;
  /** Route that prices are looked up for. */
  readonly provider: string;
  readonly priors: RunEstimates;
  readonly prices: PriceTable;
  /** By model name, `''` for the agent's default; from finished runs of the same agent. */
  readonly observed?: ReadonlyMap<string, ObservedUse>;
}

/** Sums time, tokens and money over runs: from finished runs of the same model where there are any, else from priors. */
export function estimateRuns(options: EstimateOptions): CampaignEstimate {
  const { priors, runs } = options;
  const models = [...new Set(runs.map(({ model }) => model))];
  const parts = models.map((model) => {
    const own = runs.filter((run) => run.model === model);
    const observed = options.observed?.get(model ?? '');
    return observed === undefined
      ? fromPriors(own, model, options)
      : fromObserved(own.length, model, observed);
  });
  const sum = (pick: (part: CampaignEstimate) => number): number =>
    parts.reduce((all, part) => all + pick(part), 0);
  const basis = parts.flatMap((part) => part.basis);
  if (options.needsModel && parts.some((part) => part.basis.some((text) => text.includes('prior')))) {
    basis.push(`prior: ${priors.tokens.source}; seconds by task and condition as published`);
  }
  return {
    runs: runs.length,
    agentSeconds: sum((part) => part.agentSeconds),
    inputTokens: sum((part) => part.inputTokens),
    outputTokens: sum((part) => part.outputTokens),
    cost: parts.some((part) => part.cost === null) ? null : sum((part) => part.cost!),
    basis,
  };
}

const modelName = (model: string | null): string => model ?? 'default model';

function fromObserved(runs: number, model: string | null, observed: ObservedUse): CampaignEstimate {
  return {
    runs,
    agentSeconds: runs * observed.seconds,
    inputTokens: runs * (observed.tokens?.input ?? 0),
    outputTokens: runs * (observed.tokens?.output ?? 0),
    cost: observed.cost === null ? null : runs * observed.cost,
    basis: [`${modelName(model)}: mean of ${observed.runs} finished runs`],
  };
}

function fromPriors(
  runs: EstimateOptions['runs'],
  model: string | null,
  options: EstimateOptions,
): CampaignEstimate {
  const { priors, prices, provider, needsModel } = options;
  const tokens = {
    input: priors.tokens.input,
    cachedInput: priors.tokens.cached_input,
    cacheWrite: 0,
    output: priors.tokens.output,
    reasoning: 0,
  };
  const each = needsModel ? costOf(prices, provider, model, tokens) : 0;
  return {
    runs: runs.length,
    // Built-in agents take a second or two; the priors are those of agents that think.
    agentSeconds: runs.reduce((sum, run) => sum + (needsModel ? estimatedSeconds(priors, run) : 2), 0),
    inputTokens: needsModel ? runs.length * tokens.input : 0,
    outputTokens: needsModel ? runs.length * tokens.output : 0,
    cost: each === null ? null : each * runs.length,
    basis: needsModel
      ? [`${modelName(model)}: prior${each === null ? ', no price known' : ''}`]
      : ['no model is asked'],
  };
}
