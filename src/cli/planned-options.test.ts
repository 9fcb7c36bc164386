import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planCells } from '../campaigns/plan.js';
import { testCell } from '../campaigns/test-campaign.js';
import { homeAt } from '../support/home.js';
import { benchmarkVersion } from '../version.js';
import { type CampaignOptions, setUpPlan } from './campaign-setup.js';
import type { CliContext } from './context.js';
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
const withLogin = {
  ...planCells({
    name: 'own login',
    benchmarkVersion,
    cells: [testCell({ auth: 'login' })],
    trials: 1,
    seed: '1',
    sandbox: 'process',
    timeoutSeconds: 300,
  }),
  setup: { agent: 'basic', schemaSeed: '1', memoryMiB: 4096 },
};
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

test('--login is part of what was planned, and holds when the campaign goes on by its name', async () => {
  refuseOtherOptions(withLogin, { ...bare, login: true });
  expect(() => refuseOtherOptions(plan, { ...bare, login: true })).toThrow(
    expect.objectContaining({ code: 'PLAN_DIFFERS', message: expect.stringContaining('--login') }),
  );
  // An agent without a login is what tells that one is asked for.
  const folder = mkdtempSync(join(tmpdir(), 'm4bench-planned-'));
  try {
    const context = { home: homeAt(folder) } as CliContext;
    await expect(setUpPlan(context, withLogin)).rejects.toMatchObject({ code: 'LOGIN_NOT_OFFERED' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
