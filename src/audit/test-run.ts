import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent, AgentLogin } from '../agents/agent.js';
import { readCodexTrace } from '../agents/codex-trace.js';
import { readingOf } from '../agents/transcript.js';
import { type Dataset, openDataset } from '../datasets/dataset.js';
import { synthesizeDataset } from '../datasets/synthesize.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { readPrices } from '../gateway/prices.js';
import { startTestProvider } from '../gateway/test-provider.js';
import { buildReferences } from '../references/build.js';
import { runIdOf } from '../runs/cell.js';
import { CellPreparation } from '../runs/prepare.js';
import type { RunResult } from '../runs/result.js';
import { executeRun, type RunEnvironment } from '../runs/run.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { type Home, homeAt } from '../support/home.js';
import { findTask } from '../tasks/load-tasks.js';
import { loadProtocol } from '../tasks/protocol.js';
import { runGates } from './gates.js';

/** The key that the gateway of the test runs holds; it must not appear in any file of a run. */
export const PLANTED_KEY = 'sk-planted-5e6f7a8b9c0d1e2f3a4b';

/** One call of a tool, in the words of `codex exec --json`. */
export const commandEvent = (command: string, output: string, exitCode = 0): string =>
  JSON.stringify({
    type: 'item.completed',
    item: {
      id: `item_${command.length}`,
      type: 'command_execution',
      command,
      aggregated_output: output,
      exit_code: exitCode,
      status: exitCode === 0 ? 'completed' : 'failed',
    },
  });

export interface ScriptedRun {
  readonly sandbox: Sandbox;
  readonly home: string;
  /** Events that the agent prints, beside those of a plain run. */
  readonly trace?: readonly string[];
  /** What the agent writes, or the reference itself; default a row without a patient. */
  readonly output?: string | { readonly isRight: true };
  /** Program text that runs inside before the output is written. */
  readonly script?: string;
  /** What the model answers. */
  readonly answer?: Readonly<Record<string, unknown>>;
  readonly exitCode?: number;
  /** Instead of the scripted one. */
  readonly agent?: Agent;
  /** The agent signs in by itself. */
  readonly login?: AgentLogin;
  /** Whether the cell says so; default whether the environment does. */
  readonly isCellWithLogin?: boolean;
  readonly condition?: string;
  readonly environment?: Partial<RunEnvironment>;
  readonly trial?: number;
}

/** An agent that asks its model once, prints a trace in Codex's form and writes an output. */
function scriptedAgent(run: ScriptedRun, output: string): Agent {
  const trace = [
    JSON.stringify({ type: 'thread.started' }),
    commandEvent('duckdb database.duckdb -c "show all tables"', 'eicu_crd.patient'),
    ...(run.trace ?? []),
    JSON.stringify({ type: 'turn.completed', usage: { input_tokens: 100, output_tokens: 7 } }),
  ];
  const program = `
const { existsSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const folder = '.codex/skills';
const skills = existsSync(folder)
  ? readdirSync(folder).map((name) => readFileSync(folder + '/' + name + '/SKILL.md', 'utf8'))
  : [];
(async () => {
  await fetch(process.env.M4BENCH_GATEWAY_URL + '/local/v1/responses', {
    method: 'POST', body: JSON.stringify({ model: 'gpt-5', input: skills.join() }),
    headers: { authorization: 'Bearer dummy' },
  }).then((answer) => answer.text());
  ${run.script ?? ''}
  for (const line of ${JSON.stringify(trace)}) console.log(line);
  writeFileSync('output.csv', ${JSON.stringify(output)});
  process.exitCode = ${run.exitCode ?? 0};
})();`;
  return {
    name: 'codex',
    needsModel: true,
    isHandedTheAnswer: false,
    skillFolder: '.codex/skills',
    efforts: ['high'],
    autoEffort: 'high',
    ...(run.login === undefined ? {} : { login: run.login }),
    probe: async () => ({ available: true, version: '0', detail: '' }),
    launch: async () => ({ command: ['node', '-e', program], environment: {}, inputs: [], workFiles: [] }),
    readTranscript: readCodexTrace,
    readTrace: async (path) => readingOf(await readCodexTrace(path)),
  };
}

export interface FinishedRun {
  readonly folder: string;
  readonly result: RunResult;
}

/** Makes a dataset of synthetic stays. */
export async function syntheticStays(home: string): Promise<void> {
  await synthesizeDataset(homeAt(home), { kind: 'eicu', stays: 20, seed: '1' });
}

/** The reference of the task as a CSV. */
async function rightOutput(home: Home, dataset: Dataset): Promise<string> {
  const [reference] = await buildReferences(home, dataset, { keys: ['gcs'] });
  const path = join(home.root, 'right.csv');
  await using session = await DuckSession.open();
  await session.run(
    `copy (from read_parquet(${literal(reference!.parquetPath)})) to ${literal(path)} (format csv, header)`,
  );
  return await readFile(path, 'utf8');
}

/** Plays one run of the eICU coma-scale task from beginning to end, with a provider on loopback. */
export async function playRun(run: ScriptedRun): Promise<FinishedRun> {
  const home = homeAt(run.home);
  const provider = await startTestProvider((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ model: 'gpt-5', usage: { input_tokens: 100, output_tokens: 7 }, ...run.answer }),
    );
  });
  try {
    const dataset = await openDataset(home, 'eicu-synthetic');
    const output =
      typeof run.output === 'object'
        ? await rightOutput(home, dataset)
        : (run.output ?? 'patientunitstayid,gcs_min\n1,15\n');
    const prepared = await new CellPreparation(home).prepare({
      task: await findTask('eicu-gcs'),
      condition: run.condition ?? 'with-skill',
      protocol: await loadProtocol('m4bench-1'),
      dataset,
      agent: run.agent ?? scriptedAgent(run, output),
      cliVersion: run.agent === undefined ? '0' : null,
      rootfsDigest: run.sandbox.rootfsDigest,
      ...((run.isCellWithLogin ?? run.environment?.login !== undefined) ? { auth: 'login' as const } : {}),
      effort: run.agent === undefined ? 'high' : 'auto',
    });
    const trial = run.trial ?? 1;
    const runId = runIdOf(prepared.cell, trial);
    const folder = join(home.campaigns, 'adhoc', 'runs', runId);
    const result = await executeRun(
      {
        sandbox: run.sandbox,
        limits: { timeoutSeconds: 60, memoryBytes: 1e9, processes: 200, workBytes: 1e9, streamBytes: 1e7 },
        providers: [
          {
            name: 'local',
            baseUrl: `${provider.origin}/v1`,
            apiKey: PLANTED_KEY,
            keyHeader: 'authorization-bearer',
            protocols: ['openai-responses'],
          },
        ],
        benchmarkVersion: '0',
        gates: runGates(home),
        prices: await readPrices(),
        ...run.environment,
      },
      { campaign: 'adhoc', runId, runFolder: folder, trial, prepared },
    );
    return { folder, result: result! };
  } finally {
    await provider[Symbol.asyncDispose]();
  }
}
