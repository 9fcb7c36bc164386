import type { CampaignPlan } from '../campaigns/plan.js';
import { M4BenchError } from '../support/errors.js';
import { hashOf } from '../support/hashing.js';
import type { CampaignOptions } from './campaign-setup.js';
import { flagOf } from './options.js';

/** What a plan says of the options that may stand beside its name alone. */
function planWordsOf(plan: CampaignPlan): Readonly<Record<string, unknown>> {
  const { setup, cells, runs } = plan;
  const of = (field: 'condition' | 'schema' | 'model'): unknown => [
    ...new Set(cells.map((cell) => cell[field])),
  ];
  return {
    tier: [...new Set(runs.flatMap(({ tier }) => (tier === undefined ? [] : [String(tier)])))],
    model: of('model'),
    condition: of('condition'),
    schema: of('schema'),
    trials: Math.max(...runs.map(({ trial }) => trial)),
    protocol: cells[0]?.protocol,
    seed: plan.seed,
    effort: cells[0]?.effort,
    provider: setup?.provider,
    login: cells[0]?.auth === 'login',
    dataset: [...new Set(cells.map(({ dataset }) => dataset))].join(','),
    schemaSeed: setup?.schemaSeed,
    perturb: setup?.perturb,
    sandbox: plan.sandbox,
    timeout: plan.timeoutSeconds,
    memory: setup?.memoryMiB,
    maxTokens: setup?.maxTokens,
    maxCost: setup?.maxCost,
  };
}

/**
 * A plan is frozen: an option beside the name of a campaign that says otherwise would be without effect, so it is
 * refused. `typed` holds what the user wrote, without the defaults of the command. Throws `PLAN_DIFFERS`.
 */
export function refuseOtherOptions(plan: CampaignPlan, typed: Partial<CampaignOptions>): void {
  const inOrder = (value: unknown): unknown => (Array.isArray(value) ? [...value].map(String).sort() : value);
  for (const [name, planned] of Object.entries(planWordsOf(plan))) {
    const given = typed[name as keyof CampaignOptions];
    if (given === undefined) continue;
    if (hashOf(inOrder(given)) === hashOf(inOrder(planned ?? null))) continue;
    const flag = flagOf(name);
    throw new M4BenchError(
      'PLAN_DIFFERS',
      `Campaign ${plan.name} is planned already, and ${flag} ${String(given)} is not what it was planned with.`,
      `Leave ${flag} away to go on with the plan, or name another campaign.`,
    );
  }
}
