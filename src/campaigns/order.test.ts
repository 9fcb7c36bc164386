import { describe, expect, test } from 'vitest';
import { loadTasks } from '../tasks/load-tasks.js';
import { estimatedSeconds, estimateRuns, readRunEstimates } from './estimate.js';
import { expandProfile, type RunSpec } from './expand.js';
import { orderRuns } from './order.js';
import { loadProfile, publishedModels } from './profile.js';
import { readTaskSets } from './task-sets.js';

async function primary(trials: number): Promise<readonly RunSpec[]> {
  const tiers = expandProfile({
    profile: await loadProfile('rerun-v1.1'),
    tasks: await loadTasks(),
    sets: await readTaskSets(),
    agent: 'codex',
    models: (await publishedModels('codex'))!,
    trials,
  });
  return tiers.flatMap(({ specs }) => specs);
}

const words = ({ task, condition, model, trial }: RunSpec): string =>
  `${task} ${condition} ${model} ${trial}`;

describe('the interleaved order', () => {
  test('keeps every run once, and the tiers one after the other', async () => {
    const specs = await primary(3);
    const ordered = orderRuns(specs, { order: 'interleaved', seed: '1' });
    expect(ordered.map(words).sort()).toEqual(specs.map(words).sort());
    expect(ordered.map(({ tier }) => tier)).toEqual(specs.map(({ tier }) => tier));
  });

  test('runs the arms of a task and trial side by side', async () => {
    const ordered = orderRuns(await primary(3), { order: 'interleaved', seed: '1' });
    const first = ordered.filter(({ tier }) => tier === 1);
    // Two conditions and two models make a block of four.
    for (let from = 0; from < first.length; from += 4) {
      const block = first.slice(from, from + 4);
      expect(new Set(block.map(({ task, trial }) => `${task} ${trial}`)).size).toBe(1);
      expect(new Set(block.map(({ condition, model }) => `${condition} ${model}`)).size).toBe(4);
    }
  });

  test('is a function of the seed, and starts no arm earlier than another on average', async () => {
    const specs = await primary(5);
    const ordered = orderRuns(specs, { order: 'interleaved', seed: '1' });
    expect(orderRuns(specs, { order: 'interleaved', seed: '1' })).toEqual(ordered);
    expect(orderRuns(specs, { order: 'interleaved', seed: '2' })).not.toEqual(ordered);
    const first = ordered.filter(({ tier }) => tier === 1);
    const leads = first.filter(({ condition }, index) => index % 4 === 0 && condition === 'no-skill').length;
    // 140 blocks, each led by either condition with probability one half: five standard deviations are 30.
    expect(Math.abs(leads - 70)).toBeLessThan(30);
  });
});

describe('the published order', () => {
  test('sorts by estimated time, then by names', async () => {
    const estimates = await readRunEstimates();
    const ordered = orderRuns(await primary(2), { order: 'longest-first', seed: '1', estimates });
    // 660 x 1.15, then 600 x 1.15, then 660 x 1.00, 600 x 1.00, then 480 x 1.15 (SOFA before suspicion by name).
    expect(ordered.slice(0, 22).map(words)).toEqual(
      [
        'mimic-sepsis3-raw no-skill',
        'mimic-urine-output-rate-raw no-skill',
        'mimic-sepsis3-raw with-skill',
        'mimic-urine-output-rate-raw with-skill',
        'mimic-sofa-24h-raw no-skill',
        'mimic-suspicion-infection-raw no-skill',
      ]
        .flatMap((arm) =>
          ['gpt-5.4-mini', 'gpt-5.5'].flatMap((model) => [1, 2].map((trial) => `${arm} ${model} ${trial}`)),
        )
        .slice(0, 22),
    );
    expect(ordered.map(({ tier }) => tier)).toEqual([...ordered.map(({ tier }) => tier)].sort());
  });

  test.each([
    ['mimic-sepsis3-raw', 'no-skill', 759],
    ['mimic-urine-output-rate', 'with-skill-all', 396],
    ['mimic-meld-24h', 'operational-spec', 252],
    ['mimic-meld-24h', 'with-skill-decoy', 228],
    ['eicu-oasis', 'with-skill-rawsql', 204],
    ['a-task-of-ones-own', 'a-condition', 240],
  ])('%s %s is estimated at %i s', async (task, condition, seconds) => {
    expect(estimatedSeconds(await readRunEstimates(), { task, condition })).toBeCloseTo(seconds, 9);
  });
});

describe('the estimate of a campaign', () => {
  const run = { task: 'mimic-meld-24h', condition: 'with-skill', model: 'gpt-5' };
  const prices = {
    as_of: '2025-01-01',
    currency: 'USD' as const,
    free_providers: ['local'],
    models: [{ model: 'gpt-5', input: 1.25, cached_input: 0.125, output: 10 }],
  };

  test('comes from the published means by the price table before anything is finished', async () => {
    const priors = await readRunEstimates();
    const estimate = estimateRuns({ runs: [run, run], needsModel: true, provider: 'openai', priors, prices });
    expect(estimate).toMatchObject({
      runs: 2,
      agentSeconds: 480,
      inputTokens: 1_542_878,
      outputTokens: 41_400,
    });
    // (771,439 - 727,130) x 1.25 + 727,130 x 0.125 + 20,700 x 10, in millionths of a dollar, twice.
    expect(estimate.cost).toBeCloseTo(2 * (0.05538625 + 0.09089125 + 0.207), 9);
  });

  test('comes from finished runs of the same model where there are any; no price is no cost', async () => {
    const priors = await readRunEstimates();
    const observed = new Map([
      [
        'gpt-5',
        { runs: 4, seconds: 100, tokens: { input: 10, cachedInput: 0, cacheWrite: 0, output: 3 }, cost: 0.5 },
      ],
    ]);
    const options = { needsModel: true, provider: 'openai', priors, prices, observed };
    expect(estimateRuns({ ...options, runs: [run, run] })).toMatchObject({
      agentSeconds: 200,
      inputTokens: 20,
      outputTokens: 6,
      cost: 1,
      basis: ['gpt-5: mean of 4 finished runs'],
    });
    expect(estimateRuns({ ...options, runs: [run, { ...run, model: 'new' }] }).cost).toBeNull();
    expect(estimateRuns({ ...options, needsModel: false, runs: [{ ...run, model: null }] })).toMatchObject({
      inputTokens: 0,
      cost: 0,
    });
  });
});
