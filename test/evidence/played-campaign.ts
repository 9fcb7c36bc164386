import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Agent } from '../../src/agents/agent.js';
import { readCodexTrace } from '../../src/agents/codex-trace.js';
import { readingOf } from '../../src/agents/transcript.js';
import { runGates } from '../../src/audit/gates.js';
import { freezePlan, planCampaign } from '../../src/campaigns/plan.js';
import { runCampaign } from '../../src/campaigns/run.js';
import { openDataset } from '../../src/datasets/dataset.js';
import { importDataset } from '../../src/datasets/import.js';
import { synthesizeDataset } from '../../src/datasets/synthesize.js';
import { CellPreparation, type PreparedCell } from '../../src/runs/prepare.js';
import type { RunEnvironment } from '../../src/runs/run.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { type Home, homeAt, packageRoot } from '../../src/support/home.js';
import { findTask } from '../../src/tasks/load-tasks.js';
import { loadProtocol } from '../../src/tasks/protocol.js';

/** Folder of the open MIMIC-IV demo, or undefined where it is not. */
export function demoFolder(): string | undefined {
  const shared = process.env.M4BENCH_TEST_DATA ?? resolve(packageRoot(), '..', 'shared');
  const folder = join(shared, 'data', 'mimic-iv-demo');
  return existsSync(folder) ? folder : undefined;
}

/** What an agent of a test prints and leaves. */
export interface ScriptedAgent {
  /** Events in the form of `codex exec --json`, or plain lines. */
  readonly trace: readonly unknown[];
  /** Undefined: it leaves no file. */
  readonly output: string | undefined;
  readonly stderr?: string;
  /** Attempts that fail before the agent starts. */
  readonly failedStarts?: number;
}

/** A temporary home folder with a dataset and one campaign, made by agents that do as they are told. */
export interface PlayedCampaign extends AsyncDisposable {
  readonly home: Home;
  readonly folder: string;
}

/** Which agent plays which condition. */
export type Cast = Readonly<Record<'no-skill' | 'with-skill', ScriptedAgent>>;

/** One run per condition on `mimic-meld-24h-raw`, without isolation; on the open demo, or on a few generated stays. */
export async function playedCampaign(
  name: string,
  cast: Cast,
  data: 'demo' | 'synthetic',
): Promise<PlayedCampaign> {
  const root = await mkdtemp(join(tmpdir(), 'm4bench-evidence-test-'));
  const home = homeAt(root);
  if (data === 'demo')
    await importDataset(home, { name: 'mimic-iv-demo', from: demoFolder()!, verify: false });
  else await synthesizeDataset(home, { kind: 'mimic-iv', stays: 30, seed: '1' });
  await playCampaign(home, name, cast, `mimic-iv-${data}`);
  return {
    home,
    folder: join(home.campaigns, name),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** Plays a further campaign in the same home folder. */
export async function playCampaign(home: Home, name: string, cast: Cast, data: string): Promise<void> {
  const dataset = await openDataset(home, data);
  const preparation = new CellPreparation(home);
  const cells: PreparedCell[] = [];
  for (const [condition, script] of Object.entries(cast)) {
    cells.push(
      await preparation.prepare({
        task: await findTask('mimic-meld-24h-raw'),
        condition,
        protocol: await loadProtocol('m4bench-1'),
        dataset,
        agent: agentOf(script),
        cliVersion: null,
        rootfsDigest: null,
        effort: 'auto',
      }),
    );
  }
  const plan = planCampaign({
    name,
    benchmarkVersion: '0',
    cells,
    trials: 1,
    seed: '1',
    sandbox: 'process',
    timeoutSeconds: 60,
  });
  await freezePlan(home, plan);
  const environment: RunEnvironment = {
    sandbox: sandboxOf('process'),
    limits: { timeoutSeconds: 60, memoryBytes: 1e9, processes: 200, workBytes: 1e9, streamBytes: 1e8 },
    providers: [],
    benchmarkVersion: '0',
    gates: runGates(home),
  };
  await runCampaign({ home, plan, prepare: async (cell) => cells[cell]!, environment });
}

function agentOf(script: ScriptedAgent): Agent {
  let starts = 0;
  const lines = script.trace.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
  return {
    name: 'sql',
    needsModel: false,
    isHandedTheAnswer: false,
    skillFolder: '.skills',
    efforts: [],
    autoEffort: 'default',
    probe: async () => ({ available: true, detail: 'built in' }),
    launch: async () => {
      starts += 1;
      // Every attempt asks twice: for its mounts, and to be started.
      if (starts <= (script.failedStarts ?? 0)) throw new Error('the machine did not start');
      return {
        command: ['sh', 'play.sh'],
        environment: {},
        inputs: [],
        workFiles: [
          { path: 'trace.txt', content: { text: `${lines.join('\n')}\n` } },
          { path: 'stderr.in', content: { text: script.stderr ?? '' } },
          ...(script.output === undefined ? [] : [{ path: 'rows.csv', content: { text: script.output } }]),
          {
            path: 'play.sh',
            content: {
              text: `cat trace.txt; cat stderr.in >&2; ${script.output === undefined ? 'true' : 'cp rows.csv output.csv'}\n`,
            },
          },
        ],
      };
    },
    readTranscript: readCodexTrace,
    readTrace: async (path) => readingOf(await readCodexTrace(path)),
  };
}
