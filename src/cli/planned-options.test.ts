import { expect, test } from 'vitest';
import { planCells } from '../campaigns/plan.js';
import { testCell } from '../campaigns/test-campaign.js';
import type { CampaignOptions } from './campaign-setup.js';
import { refuseOtherOptions } from './planned-options.js';

const plan = planCells({
  name: 'night',
  benchmarkVersion: '0.1.0',
  cells: [testCell(), testCell({ condition: 'with-skill' })],
  trials: 2,
  seed: '1',
  sandbox: 'bubblewrap',
  timeoutSeconds: 300,
});
/** What the command line gives when only the name stands there. */
const bare: CampaignOptions = {
  effort: 'auto',
  schemaSeed: '1',
  sandbox: 'bubblewrap',
  memory: 4096,
  seed: '1',
};

test('a name alone, and options that say what was planned, go on with the plan', () => {
  refuseOtherOptions(plan, bare);
  refuseOtherOptions(plan, { ...bare, trials: 2, condition: ['with-skill', 'no-skill'], timeout: 300 });
});

test.each([
  ['--trials', { trials: 3 }],
  ['--condition', { condition: ['no-skill'] }],
  ['--max-tokens', { maxTokens: 1000 }],
  ['--effort', { effort: 'high' }],
  ['--sandbox', { sandbox: 'docker' }],
] as const)('%s that differs from the plan is refused by its name', (flag, changed) => {
  expect(() => refuseOtherOptions(plan, { ...bare, ...changed } as CampaignOptions)).toThrow(
    expect.objectContaining({ code: 'PLAN_DIFFERS', message: expect.stringContaining(flag) }),
  );
});
