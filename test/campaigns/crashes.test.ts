import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CampaignPlan, freezePlan } from '../../src/campaigns/plan.js';
import { type Home, homeAt } from '../../src/support/home.js';
import { seededRandom } from '../../src/support/random.js';
import { cleanLeftovers } from '../../src/support/runtime-folders.js';
import { killSteps, runScript, stateOf } from './crashes.js';
import { smallPlan, writeReference } from './small-campaign.js';

/**
 * Promise P4: killing the process at any instant loses no finished run and duplicates none. Real runs of a built-in
 * agent in scheduler processes of their own. A few kills and a small campaign here; `npm run test:chaos` makes 100 kills
 * on 200 runs, and one at every named step in either.
 */
const kills = Number(process.env.M4BENCH_CHAOS_KILLS ?? 2);
const trials = kills > 50 ? 20 : 3;
const tasks = kills > 50 ? 5 : 2;
const runs = tasks * 2 * trials;

let root: string;
let home: Home;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-crashes-'));
  home = homeAt(root);
  await writeReference(home);
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
  await cleanLeftovers();
});

async function planned(name: string): Promise<CampaignPlan> {
  // The seed and the name do not matter to the tables: the same cells and trials give the same results.
  const plan = smallPlan(tasks, trials, name);
  await freezePlan(home, plan);
  return plan;
}

describe('a campaign whose process is killed', () => {
  test(`${runs} runs, killed once at every named step and ${kills} times at random instants: as if undisturbed`, async () => {
    const plan = await planned('killed');
    const words = [root, plan.name, '2'];
    for (const killAt of killSteps) {
      const ended = await runScript('session.ts', words, { killAt });
      expect([killAt, ended.signal, ended.stderr]).toEqual([killAt, 'SIGKILL', '']);
    }
    const random = seededRandom(`kills:${kills}`);
    for (let kill = 0; kill < kills; kill += 1) {
      await runScript('session.ts', words, { killAfter: random.integer(kills > 50 ? 2500 : 400) });
    }
    const last = await runScript('session.ts', words);
    expect(last).toMatchObject({ code: 0, stderr: '' });
    const undisturbed = await planned('undisturbed');
    expect(await runScript('session.ts', [root, undisturbed.name, '2'])).toMatchObject({ code: 0 });

    const state = await stateOf(home, plan);
    expect(state.runs).toEqual(plan.runs.map(({ runId }) => runId).sort());
    expect(state).toMatchObject({ resultFiles: runs, attemptFiles: runs, wholeRuns: runs, debris: [] });
    // In the journal each run stands once: what a kill kept out of it was added from the file.
    expect(state.indexed).toEqual(state.runs);
    const expected = await stateOf(home, undisturbed);
    expect(state.tables).toEqual(expected.tables);
    // Two of four rows right without the skill, all four with it.
    expect(state.tables['skill-effect']!.rows[0]).toMatchObject({ noSkill: 0.5, withSkill: 1, delta: 0.5 });
  }, 1_800_000);
});
