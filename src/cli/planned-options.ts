import type { CampaignPlan } from '../campaigns/plan.js';
import { defaultSchemaSeed } from '../runs/prepare.js';
import { M4BenchError } from '../support/errors.js';
import { hashOf } from '../support/hashing.js';
import type { CampaignOptions } from './campaign-setup.js';
import { flagOf } from './options.js';

/** What a plan says of the options that may stand beside its name alone, and the defaults of those that have one. */
function planWordsOf(
  plan: CampaignPlan,
): Readonly<Record<string, { planned: unknown; byDefault?: unknown }>> {
  const { setup, cells, runs } = plan;
  const of = (field: 'condition' | 'schema' | 'model'): unknown => [
    ...new Set(cells.map((cell) => cell[field])),
  ];
  return {
    tier: { planned: [...new Set(runs.flatMap(({ tier }) => (tier === undefined ? [] : [String(tier)])))] },
    model: { planned: of('model') },
    condition: { planned: of('condition') },
    schema: { planned: of('schema') },
    trials: { planned: Math.max(...runs.map(({ trial }) => trial)) },
    protocol: { planned: cells[0]?.protocol },
    seed: { planned: plan.seed, byDefault: '1' },
    effort: { planned: cells[0]?.effort, byDefault: 'auto' },
    provider: { planned: setup?.provider },
    login: { planned: cells[0]?.auth === 'login' },
    dataset: { planned: [...new Set(cells.map(({ dataset }) => dataset))].join(',') },
    schemaSeed: { planned: setup?.schemaSeed, byDefault: defaultSchemaSeed },
    perturb: { planned: setup?.perturb },
    sandbox: { planned: plan.sandbox, byDefault: 'bubblewrap' },
    timeout: { planned: plan.timeoutSeconds },
    memory: { planned: setup?.memoryMiB, byDefault: 4096 },
    maxTokens: { planned: setup?.maxTokens },
    maxCost: { planned: setup?.maxCost },
  };
}

/**
 * A plan is frozen: an option beside the name of a campaign that says otherwise would be without effect, so it is
 * refused. Throws `PLAN_DIFFERS`.
 */
export function refuseOtherOptions(plan: CampaignPlan, options: CampaignOptions): void {
  const inOrder = (value: unknown): unknown => (Array.isArray(value) ? [...value].map(String).sort() : value);
  for (const [name, { planned, byDefault }] of Object.entries(planWordsOf(plan))) {
    const given = options[name as keyof CampaignOptions];
    if (given === undefined || given === byDefault) continue;
    if (hashOf(inOrder(given)) === hashOf(inOrder(planned ?? null))) continue;
    const flag = flagOf(name);
    throw new M4BenchError(
      'PLAN_DIFFERS',
      `Campaign ${plan.name} is planned already, and ${flag} ${String(given)} is not what it was planned with.`,
      `Leave ${flag} away to go on with the plan, or name another campaign.`,
    );
  }
}
