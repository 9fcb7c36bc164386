import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, AgentRequest, TraceReading } from '../../src/agents/agent.js';
import type { AgentSettings } from '../../src/agents/agent-settings.js';
import type { Transcript } from '../../src/agents/transcript.js';
import { DuckSession } from '../../src/duck/session.js';
import { Gateway, type GatewayOptions } from '../../src/gateway/gateway.js';
import type { GatewayExchange, GatewaySummary, Provider } from '../../src/gateway/gateway-types.js';
import { verdictOf } from '../../src/runs/failure.js';
import { currentRootfs, placeForAgents } from '../../src/sandboxes/rootfs.js';
import type { CommandOutcome, WorkFile } from '../../src/sandboxes/sandbox.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { homeAt } from '../../src/support/home.js';
import type { ModelServer } from '../model-server/model-server.js';
import { settings, skillFiles } from './host-run.js';

/**
 * Over the root file system of M4BENCH_TEST_ROOTFS (a home folder) and with its own CLIs where that is set, else over
 * the host's `/usr` with those of this folder.
 */
const rootfs =
  process.env.M4BENCH_TEST_ROOTFS === undefined
    ? undefined
    : await currentRootfs(homeAt(process.env.M4BENCH_TEST_ROOTFS));
export const bubblewrap = sandboxOf('bubblewrap', rootfs);
export const sandboxSettings: AgentSettings = {
  ...settings,
  ...(rootfs === undefined ? {} : { rootfs: placeForAgents(rootfs) }),
};

/** Stands where a real provider key would; no agent may ever see it. */
export const PROVIDER_KEY = 'sk-scripted-provider-key';

export type Route = Omit<Provider, 'baseUrl' | 'apiKey'>;

const LOCAL: Route = {
  name: 'local',
  keyHeader: 'authorization-bearer',
  protocols: ['openai-responses', 'openai-chat', 'anthropic-messages'],
};
/** The providers that CLIs are made for, by agent. */
const ROUTES: Readonly<Record<string, Route>> = {
  gemini: { name: 'gemini', keyHeader: 'x-goog-api-key', protocols: ['gemini'] },
  codex: { name: 'openai', keyHeader: 'authorization-bearer', protocols: ['openai-responses'] },
  claude: { name: 'anthropic', keyHeader: 'x-api-key', protocols: ['anthropic-messages'] },
};

/** The provider at the gateway that an agent asks unless it is told otherwise. */
export function routeOf(agent: string): Route {
  return ROUTES[agent] ?? LOCAL;
}

/** The instruction of the task that the tests let agents solve. */
export const INSTRUCTION = 'Write SIRS of each stay to output.csv.';
/** A right answer to it, and what it gives. */
export const RIGHT_SQL =
  "copy (select stay_id, sirs from mimiciv_icu.icustays order by stay_id) to './output.csv' (format csv, header);";
export const RIGHT_OUTPUT = 'stay_id,sirs\n1,3\n2,1\n';

export interface Played {
  readonly outcome: CommandOutcome;
  readonly stderr: string;
  readonly output: string | undefined;
  readonly exchanges: readonly GatewayExchange[];
  readonly summary: GatewaySummary;
  readonly traceText: string;
  readonly trace: TraceReading;
  readonly transcript: Transcript;
  /** How a run would book it. */
  readonly verdict: ReturnType<typeof verdictOf>;
}

export interface PlayOptions {
  /** Default `scripted`; null asks for the CLI's own default. */
  readonly model?: string | null;
  readonly timeoutSeconds?: number;
  readonly request?: Partial<AgentRequest>;
  /** Default: with the skill. */
  readonly hasSkill?: boolean;
  readonly gateway?: Partial<GatewayOptions>;
  /** Beside those of the launch. */
  readonly workFiles?: readonly WorkFile[];
  readonly homeFiles?: readonly WorkFile[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A folder with a task database, from which agents are run in bubblewrap behind a gateway. */
export class SandboxedRuns implements AsyncDisposable {
  private constructor(private readonly folder: string) {}

  static async create(): Promise<SandboxedRuns> {
    const folder = await mkdtemp(join(tmpdir(), 'm4bench-sandboxed-'));
    await using session = await DuckSession.open({ path: join(folder, 'task.duckdb') });
    await session.run('create schema mimiciv_icu');
    await session.run(
      'create table mimiciv_icu.icustays as select * from (values (2, 1), (1, 3)) t(stay_id, sirs)',
    );
    return new SandboxedRuns(folder);
  }

  /** Runs an agent to its end; the server stands in for the provider of the route. */
  async play(
    agent: Agent,
    route: Route,
    server: Pick<ModelServer, 'baseUrl'>,
    options: PlayOptions = {},
  ): Promise<Played> {
    const run = await mkdtemp(join(this.folder, 'run-'));
    const path = (name: string): string => join(run, name);
    await using gateway = await Gateway.start({
      logPath: path('gateway.jsonl'),
      providers: [{ ...route, baseUrl: server.baseUrl, apiKey: PROVIDER_KEY }],
      skills: [
        {
          name: 'sirs-score',
          description: 'How SIRS is computed here, marker-of-the-description.',
          bodyProbe: 'Four criteria, marker-of-the-body.',
        },
      ],
      ...options.gateway,
    });
    const launchAt = (workPath: string, gatewayUrl: string | undefined) =>
      agent.launch({
        ...(options.model === null ? {} : { model: options.model ?? 'scripted' }),
        effort: 'auto',
        instruction: 'Read instruction.md.',
        workPath,
        gatewayUrl,
        ...options.request,
      });
    await using sandbox = await bubblewrap.prepare({
      inputs: (await launchAt('/work', 'http://127.0.0.1')).inputs,
      workFiles: this.#workFiles(agent, options.hasSkill ?? true),
      gatewaySocket: gateway.socketPath,
      limits: {
        timeoutSeconds: options.timeoutSeconds ?? 60,
        memoryBytes: 4 * 1024 ** 3,
        processes: 400,
        workBytes: 256 * 1024 ** 2,
        streamBytes: 16 * 1024 ** 2,
      },
    });
    const launch = await launchAt(sandbox.workPath, sandbox.gatewayUrl);
    await sandbox.addWorkFiles([...launch.workFiles, ...(options.workFiles ?? [])]);
    const outcome = await sandbox.execute({
      command: launch.command,
      environment: { ...launch.environment, ...options.environment },
      ...(options.homeFiles === undefined ? {} : { homeFiles: options.homeFiles }),
      ...(launch.stdin === undefined ? {} : { stdin: launch.stdin }),
      stdoutPath: path('trace.jsonl'),
      stderrPath: path('stderr.txt'),
    });
    const copied = await sandbox.copyOut(run, {
      only: ['output.csv'],
      maxFileBytes: 1e6,
      maxTotalBytes: 1e6,
    });
    const summary = gateway.summary();
    return {
      outcome,
      stderr: await readFile(path('stderr.txt'), 'utf8'),
      output: await readFile(path('output.csv'), 'utf8').catch(() => undefined),
      exchanges: await exchangesIn(path('gateway.jsonl')),
      summary,
      traceText: await readFile(path('trace.jsonl'), 'utf8'),
      trace: await agent.readTrace(path('trace.jsonl')),
      transcript: await agent.readTranscript(path('trace.jsonl')),
      verdict: verdictOf({
        needsModel: true,
        outcome,
        gateway: summary,
        hasOutput: copied.files.length > 0,
      }),
    };
  }

  #workFiles(agent: Agent, hasSkill: boolean): WorkFile[] {
    const skill = hasSkill ? skillFiles(agent.skillFolder) : {};
    return [
      { path: 'database.duckdb', content: { copyOf: join(this.folder, 'task.duckdb') } },
      { path: 'instruction.md', content: { text: INSTRUCTION } },
      ...Object.entries(skill).map(([path, text]) => ({ path, content: { text } })),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function exchangesIn(path: string): Promise<readonly GatewayExchange[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as GatewayExchange);
}
