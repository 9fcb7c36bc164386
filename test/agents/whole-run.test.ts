import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentNamed } from '../../src/agents/agents.js';
import { transcriptSchema } from '../../src/agents/transcript.js';
import { runGates } from '../../src/audit/gates.js';
import { openDataset } from '../../src/datasets/dataset.js';
import { synthesizeDataset } from '../../src/datasets/synthesize.js';
import { runIdOf } from '../../src/runs/cell.js';
import { CellPreparation } from '../../src/runs/prepare.js';
import { executeRun } from '../../src/runs/run.js';
import { homeAt, packageRoot } from '../../src/support/home.js';
import { findTask } from '../../src/tasks/load-tasks.js';
import { loadProtocol } from '../../src/tasks/protocol.js';
import { ModelServer } from '../model-server/model-server.js';
import { solvingScenario } from '../model-server/solving-scenario.js';

import { bubblewrap, PROVIDER_KEY, routeOf, sandboxSettings } from './sandboxed-run.js';

/**
 * A benchmark run from beginning to end with each CLI: task database of a shipped task, skill, sandbox, gateway,
 * canaries, lint, evaluator. The scripted model plays the right SQL, so the reward must be 1.
 */
const TASK = 'mimic-sirs-24h-raw';
const AGENTS = ['codex', 'claude', 'gemini', 'pi', 'opencode', 'basic'];
const isolated = await bubblewrap.probe();
if (!isolated.available) console.warn(`Whole runs are skipped: ${isolated.detail}.`);

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-whole-run-'));
  await synthesizeDataset(homeAt(root), { kind: 'mimic-iv', stays: 40, seed: 'whole-run' });
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe.runIf(isolated.available)('a whole run', () => {
  test.each(AGENTS)('with %s that plays the right SQL is rewarded 1, with its evidence', async (name) => {
    const agent = agentNamed(name, sandboxSettings);
    const availability = await agent.probe();
    if (!availability.available) {
      console.warn(`A whole run with ${name} is skipped: ${availability.detail}.`);
      return;
    }
    const home = homeAt(root);
    const prepared = await new CellPreparation(home).prepare({
      task: await findTask(TASK),
      condition: 'with-skill',
      protocol: await loadProtocol('m4bench-1'),
      dataset: await openDataset(home, 'mimic-iv-synthetic'),
      agent,
      cliVersion: availability.version ?? null,
      cliSource: availability.source ?? null,
      rootfsDigest: null,
      model: 'scripted',
      effort: 'auto',
    });
    const query = await readFile(join(packageRoot(), 'benchmark', 'quickstart', TASK, 'skilled.sql'), 'utf8');
    await using server = await ModelServer.start({
      scenarios: { scripted: solvingScenario({ skillFolder: agent.skillFolder, sql: query }) },
    });
    const runId = runIdOf(prepared.cell, 1);
    const runFolder = join(home.campaigns, 'whole', 'runs', runId);
    const result = await executeRun(
      {
        sandbox: bubblewrap,
        limits: { timeoutSeconds: 120, memoryBytes: 4e9, processes: 400, workBytes: 1e9, streamBytes: 2e7 },
        providers: [{ ...routeOf(name), baseUrl: server.baseUrl, apiKey: PROVIDER_KEY }],
        benchmarkVersion: '0',
        gates: runGates(home),
      },
      { campaign: 'whole', runId, runFolder, trial: 1, prepared },
    );
    expect(result).toMatchObject({
      status: 'judged',
      failureReason: null,
      reward: 1,
      rewardRobust: 1,
      evaluation: { strictPass: true },
      skill: { placed: prepared.context.skills.map((skill) => skill.name), source: 'gateway' },
      integrity: { canaries: true, lint: true, egress: true, hostedToolCalls: [] },
      observed: {
        cliVersion: availability.version ?? null,
        cliSource: availability.source ?? null,
        backgroundModels: [],
        routing: [],
      },
    });
    expect(result!.skill.offered).toEqual(result!.skill.placed);
    expect(result!.skill.opened).toEqual(result!.skill.placed);
    const { input, output } = server.statedUsage('scripted');
    expect(result!.tokens).toMatchObject({ input, output });
    // Nothing stands against publishing but, where there is no root file system, that the host's own programs were used.
    expect(result!.reasons).toHaveLength(bubblewrap.rootfsDigest === null ? 1 : 0);
    const attempt = join(runFolder, 'attempts', '1');
    const transcript = transcriptSchema.parse(
      JSON.parse(await readFile(join(attempt, 'transcript.json'), 'utf8')),
    );
    expect(transcript.turns).toHaveLength(5);
    expect(transcript.turns.map(({ tokens }) => tokens?.input)).toEqual([1000, 1100, 1200, 1300, 1400]);
  });
});
