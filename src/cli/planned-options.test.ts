import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { planCells } from '../campaigns/plan.js';
import { testCell } from '../campaigns/test-campaign.js';
import { homeAt } from '../support/home.js';
import { benchmarkVersion } from '../version.js';
import { type CampaignOptions, setUpPlan, withCampaignOptions } from './campaign-setup.js';
import type { CliContext } from './context.js';
import { typedOptions } from './options.js';
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
/** What stands behind the name of a campaign on the command line. */
function typed(...words: readonly string[]): Partial<CampaignOptions> {
  return typedOptions(withCampaignOptions(new Command()).parse(words, { from: 'user' }));
}

test('a name alone, and options that say what was planned, go on with the plan', () => {
  expect(typed()).toEqual({});
  refuseOtherOptions(plan, typed());
  refuseOtherOptions(plan, typed('--trials', '2', '--condition', 'with-skill,no-skill', '--timeout', '300'));
  refuseOtherOptions(plan, typed('--seed', '1', '--sandbox', 'bubblewrap'));
});

test.each([
  ['--trials', '3'],
  ['--condition', 'no-skill'],
  ['--max-tokens', '1000'],
  ['--effort', 'high'],
  ['--sandbox', 'docker'],
])('%s %s, which differs from the plan, is refused by its name', (flag, value) => {
  expect(() => refuseOtherOptions(plan, typed(flag, value))).toThrow(
    expect.objectContaining({ code: 'PLAN_DIFFERS', message: expect.stringContaining(flag) }),
  );
});

test.each([
  ['--seed', '1'],
  ['--sandbox', 'bubblewrap'],
  ['--memory', '4096'],
])('%s %s, the default of a new campaign, is refused too where another was planned', (flag, value) => {
  const other = { ...withLogin, seed: '7', setup: { ...withLogin.setup, memoryMiB: 512 } };
  expect(() => refuseOtherOptions(other, typed(flag, value))).toThrow(
    expect.objectContaining({ code: 'PLAN_DIFFERS', message: expect.stringContaining(flag) }),
  );
});

test('--login is part of what was planned, and holds when the campaign goes on by its name', async () => {
  refuseOtherOptions(withLogin, typed('--login'));
  expect(() => refuseOtherOptions(plan, typed('--login'))).toThrow(
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
