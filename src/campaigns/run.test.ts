import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PreparedCell } from '../runs/prepare.js';
import type { RunEnvironment, RunRequest } from '../runs/run.js';
import { M4BenchError } from '../support/errors.js';
import { type Home, homeAt } from '../support/home.js';
import { wish } from './control.js';
import { readJournal } from './journal.js';
import { type CampaignPlan, campaignFolder, freezePlan } from './plan.js';
import { type CampaignEvent, type CampaignOutcome, type RunCampaignOptions, runCampaign } from './run.js';
import { campaignStatus } from './status.js';
import { recordTestRun, type TestOutcome, testPlan } from './test-campaign.js';

let root: string;
let home: Home;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-schedule-'));
  home = homeAt(root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const provider = {
  name: 'openai',
  baseUrl: 'http://127.0.0.1:1',
  apiKey: '',
  keyHeader: 'x-api-key' as const,
  protocols: [],
};

/** What a scheduler looks at of an environment. */
const environment = {
  sandbox: { kind: 'process' },
  limits: { memoryBytes: 1000 },
  providers: [provider],
  benchmarkVersion: '0',
} as unknown as RunEnvironment;

type Play = (request: RunRequest, call: number) => TestOutcome | Promise<TestOutcome>;

/** Runs a campaign whose runs only write what `play` says. */
async function run(
  plan: CampaignPlan,
  play: Play = () => ({}),
  more: Partial<RunCampaignOptions> = {},
): Promise<
  CampaignOutcome & { readonly events: readonly CampaignEvent[]; readonly calls: readonly string[] }
> {
  const events: CampaignEvent[] = [];
  const calls: string[] = [];
  const outcome = await runCampaign({
    home,
    plan,
    prepare: async (cell) => ({ cell: plan.cells[cell] }) as PreparedCell,
    environment,
    execute: async (_environment, request) => {
      calls.push(request.runId);
      const planned = plan.runs.find(({ runId }) => runId === request.runId)!;
      const made = await play(request, calls.length);
      if (request.signal?.aborted) return undefined;
      return await recordTestRun(request.runFolder, plan, planned, [made]);
    },
    retryMilliseconds: 1,
    onEvent: (event) => events.push(event),
    ...more,
  });
  return { ...outcome, events, calls };
}

const resultFiles = async (plan: CampaignPlan): Promise<readonly string[]> => {
  const { runs } = campaignFolder(home, plan.name);
  return (await readdir(runs, { recursive: true }).catch(() => [])).filter((name) =>
    name.endsWith('result.json'),
  );
};

describe('a session', () => {
  test('makes every run once in the order of the plan, and a second one makes none', async () => {
    const plan = testPlan(5, 4);
    const first = await run(plan);
    expect(first).toMatchObject({ ran: 40, kept: 0, unjudged: 0, errors: [], ended: { how: 'complete' } });
    expect(first.calls).toEqual(plan.runs.map(({ runId }) => runId));
    expect(await run(plan)).toMatchObject({ ran: 0, kept: 40, calls: [] });
    const { lines } = (await readJournal(campaignFolder(home, plan.name).journal))!;
    expect(lines.filter(({ kind }) => kind === 'result')).toHaveLength(40);
  });

  test('never has more runs under way than allowed, in all, per provider, per sandbox and by memory', async () => {
    const plan = testPlan(5, 4);
    const most = async (limits: RunCampaignOptions['limits'] & object): Promise<number> => {
      let [now, peak] = [0, 0];
      await rm(campaignFolder(home, plan.name).root, { recursive: true, force: true });
      const play: Play = async () => {
        now += 1;
        peak = Math.max(peak, now);
        await sleep(2);
        now -= 1;
        return {};
      };
      expect((await run(plan, play, { limits })).ran).toBe(40);
      return peak;
    };
    expect(await most({ parallel: 7 })).toBe(7);
    expect(await most({ parallel: 7, perProvider: 3 })).toBe(3);
    expect(await most({ parallel: 7, perSandbox: 2 })).toBe(2);
    // Four sandboxes of 1,000 bytes fit into 4,500.
    expect(await most({ parallel: 7, memoryBytes: 4500 })).toBe(4);
  });

  test('slows down at a rate limit and goes on', async () => {
    const plan = testPlan(5, 4);
    const reason = 'the model service failed before the end (upstream-status, status 429)';
    const play: Play = async (_request, call) => {
      await sleep(1);
      return call === 3 ? { class: 'infrastructure', reason } : {};
    };
    const outcome = await run(plan, play, { limits: { parallel: 8 } });
    expect(outcome).toMatchObject({ ran: 40, unjudged: 1, ended: { how: 'complete' } });
    expect(outcome.events.find(({ kind }) => kind === 'rate-limited')).toMatchObject({
      service: 'service:openai/',
      share: 4,
    });
    // The next session tries the unjudged run again, and only that one.
    const again = await run(plan);
    expect(again).toMatchObject({ ran: 1, kept: 39, unjudged: 0 });
  });

  test('one bad cell is put on record and costs its own runs only', async () => {
    const plan = testPlan(3, 4);
    const bad = plan.runs[0]!.cell;
    const outcome = await run(plan, () => ({}), {
      prepare: async (cell) => {
        if (cell === bad) throw new M4BenchError('DATA_USE_REFUSED', 'Rows may not go there.', 'Ask.');
        return { cell: plan.cells[cell] } as PreparedCell;
      },
    });
    expect(outcome).toMatchObject({ ran: 20, kept: 0, ended: { how: 'complete' } });
    expect(outcome.errors).toEqual([
      { runId: plan.runs[0]!.runId, code: 'DATA_USE_REFUSED', message: 'Rows may not go there.' },
    ]);
    expect((await campaignStatus(home, plan)).errors).toHaveLength(1);
    // Mended, the next session makes them, and the error is no longer the last word.
    expect(await run(plan)).toMatchObject({ ran: 4, kept: 20, errors: [] });
    expect((await campaignStatus(home, plan)).errors).toEqual([]);
  });

  test('an unforeseen error of one run is put on record and the others go on', async () => {
    const plan = testPlan(2, 2);
    const outcome = await run(plan, (_request, call) => {
      if (call === 2) throw new TypeError('x is not a function');
      return {};
    });
    expect(outcome).toMatchObject({ ran: 7, errors: [{ code: 'INTERNAL', message: 'x is not a function' }] });
  });

  test.each([
    ['ENOSPC', 'no space is left'],
    ['EROFS', 'read-only'],
  ])('%s ends the campaign with what to do; what was made is kept', async (code, words) => {
    const plan = testPlan(3, 2);
    const full = run(plan, (_request, call) => {
      if (call === 5) throw Object.assign(new Error('write failed'), { code });
      return {};
    });
    await expect(full).rejects.toMatchObject({
      code: 'CAMPAIGN_STORAGE',
      message: expect.stringContaining(words) as string,
    });
    expect(await run(plan)).toMatchObject({ ran: 8, kept: 4 });
  });

  test('a run folder that is deleted meanwhile is made again', async () => {
    const plan = testPlan(3, 2);
    const { runs } = campaignFolder(home, plan.name);
    const outcome = await run(plan, async (_request, call) => {
      if (call === 6) await rm(join(runs, plan.runs[1]!.runId), { recursive: true });
      return {};
    });
    expect(outcome).toMatchObject({ ran: 13, ended: { how: 'complete' } });
    expect(await resultFiles(plan)).toHaveLength(12);
    const { lines } = (await readJournal(campaignFolder(home, plan.name).journal))!;
    expect(lines.filter(({ kind }) => kind === 'lost')).toHaveLength(1);
  });

  test('a clock that jumps changes nothing', async () => {
    const plan = testPlan(3, 2);
    const now = Date.now;
    try {
      const outcome = await run(
        plan,
        (_request, call) => {
          Date.now = () => now() + (call % 2 === 0 ? -1 : 1) * 86_400_000;
          return {};
        },
        { budget: { seconds: 3600 } },
      );
      expect(outcome).toMatchObject({ ran: 12, ended: { how: 'complete' } });
    } finally {
      Date.now = now;
    }
  });
});

describe('ending early', () => {
  test('an interrupt records nothing of the runs under way; the next session makes them', async () => {
    const plan = testPlan(3, 2);
    const abort = new AbortController();
    const outcome = await run(
      plan,
      (_request, call) => {
        if (call === 4) abort.abort();
        return {};
      },
      { signal: abort.signal },
    );
    expect(outcome).toMatchObject({ ran: 3, ended: { how: 'interrupted' } });
    expect(await run(plan)).toMatchObject({ ran: 9, kept: 3 });
  });

  test('stop lets the runs under way end; pause starts none until it is resumed', async () => {
    const plan = testPlan(4, 4);
    const folder = campaignFolder(home, plan.name);
    await freezePlan(home, plan);
    const seen: string[] = [];
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await sleep(2);
    };
    let started = 0;
    const play: Play = async () => {
      started += 1;
      const isFirst = started <= 3;
      if (started === 3) await wish(folder, 'pause');
      await until(() => seen.includes(isFirst ? 'pause' : 'stop'));
      return {};
    };
    const session = run(plan, play, {
      limits: { parallel: 3 },
      wishMilliseconds: 5,
      onEvent: (event) => {
        if (event.kind === 'wish') seen.push(event.wants);
      },
    });
    await until(() => seen.includes('pause'));
    // The three under way end, and no other is started.
    while ((await resultFiles(plan)).length < 3) await sleep(5);
    await sleep(100);
    expect(started).toBe(3);
    await wish(folder, 'run');
    await until(() => started === 6);
    await wish(folder, 'stop');
    const outcome = await session;
    expect(outcome).toMatchObject({ ran: 6, ended: { how: 'stopped', why: 'it was asked to' } });
    expect((await run(plan)).kept).toBe(6);
  });

  test('budgets of tokens, money and runs', async () => {
    const plan = testPlan(5, 2);
    const play: Play = () => ({ tokens: 100, cost: 2 });
    expect(await run(plan, play, { budget: { runs: 2 } })).toMatchObject({ ran: 2 });
    // 200 are spent; a third and a fourth run fit into 450, a fifth would not.
    const tokens = await run(plan, play, { budget: { tokens: 450 } });
    expect(tokens).toMatchObject({ ran: 2, kept: 2, ended: { how: 'stopped' } });
    const money = await run(plan, play, { budget: { cost: 11 } });
    expect(money).toMatchObject({ ran: 1, kept: 4 });
    expect(money.ended).toMatchObject({ why: expect.stringContaining('US dollars') as string });
  });

  test('a service that is down does not use up the plan', async () => {
    const plan = testPlan(20, 2);
    const play: Play = () => ({ class: 'infrastructure', reason: 'the model service never answered' });
    const outcome = await run(plan, play, { unjudgedInARow: 4 });
    expect(outcome.ran).toBe(4);
    expect(outcome.ended).toMatchObject({ why: expect.stringContaining('never answered') as string });
  });
});

describe('the state of a campaign', () => {
  test('counts results, failures, retries and means from the journal alone', async () => {
    const plan = testPlan(2, 3);
    const rewards = new Map(plan.runs.map(({ runId }, index) => [runId, index]));
    await run(plan, ({ runId }) => {
      const index = rewards.get(runId)!;
      if (index === 0) return { class: 'infrastructure', reason: 'lost', tokens: 5 };
      if (index === 1) return { class: 'agent', reason: 'time limit reached', tokens: 5 };
      return { reward: 0.5, tokens: 10, cost: 0.25 };
    });
    const status = await campaignStatus(home, plan);
    expect(status).toMatchObject({
      planned: 12,
      done: 12,
      unjudged: 1,
      agentFailures: 1,
      tokens: 110,
      cost: 2.5,
      secondsPerRun: 2,
      holder: null,
    });
    const judged = status.cells.reduce((sum, cell) => sum + cell.judged, 0);
    const total = status.cells.reduce((sum, cell) => sum + cell.judged * (cell.reward ?? 0), 0);
    // Eleven judged runs: one of 0 and ten of one half.
    expect([judged, total]).toEqual([11, 5]);
    const text = await readFile(campaignFolder(home, plan.name).journal, 'utf8');
    expect(text.trimEnd().split('\n')).toHaveLength(13);
  });
});
