import { homedir } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Agent, Effort } from '../agents/agent.js';
import { agentNamed } from '../agents/agents.js';
import { resolveEffort } from '../agents/effort.js';
import { loginNotOffered } from '../agents/login-files.js';
import { runGates } from '../audit/gates.js';
import { parseSchema } from '../conditions/presented-names.js';
import { chooseDataset, type DatabaseKind, type Dataset, openDataset } from '../datasets/dataset.js';
import { readPrices } from '../gateway/prices.js';
import { providersFromEnvironment } from '../gateway/providers.js';
import type { RunEnvironment } from '../runs/attempt.js';
import { readAttestations } from '../runs/data-use.js';
import { type CellRequest, defaultSchemaSeed } from '../runs/prepare.js';
import { currentRootfs, placeForAgents } from '../sandboxes/rootfs.js';
import type { SandboxLimits } from '../sandboxes/sandbox.js';
import { sandboxOf } from '../sandboxes/sandboxes.js';
import { perturbations, type SchemaName } from '../schemas/presentation.js';
import { M4BenchError } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { defaultProtocolName, loadProtocol, type Protocol } from '../tasks/protocol.js';
import type { Task } from '../tasks/task.js';
import { benchmarkVersion } from '../version.js';
import { type CassetteOptions, openCassette } from './cassette-options.js';
import { collect, flagOf, wholeNumber } from './options.js';

/** Options of every command that makes runs. */
export interface RunOptions extends CassetteOptions {
  readonly agent: string;
  readonly model?: string;
  readonly effort: Effort;
  readonly provider?: string;
  readonly dataset?: string;
  readonly protocol: string;
  readonly schema: string;
  readonly schemaSeed: string;
  readonly perturb?: readonly string[];
  readonly sandbox: string;
  readonly timeout?: number;
  readonly memory: number;
  /** Budgets of one attempt. */
  readonly maxTokens?: number;
  readonly maxCost?: number;
  /** Use the CLI's own subscription login. */
  readonly login?: boolean;
  /** SQL file for the agent `sql`; `{task}` and `{condition}` are filled in. */
  readonly sql?: string;
}

/** Adds the options of single runs to a command. */
export function withRunOptions(command: Command): Command {
  return withAgentOptions(
    command
      .requiredOption('--agent <name>', agentHelp)
      .option('--model <name>', "model, default the agent's own choice")
      .option('--protocol <name>', 'named set of benchmark choices', defaultProtocolName)
      .option(
        '--schema <name>',
        'how the database is presented: native, obfuscated or restructured',
        'native',
      ),
  );
}

export const agentHelp =
  'codex, claude, gemini, opencode, pi, basic, a TOML file, or the built-in sql, reference, empty';

/** Adds the options that single runs and campaigns share. */
export function withAgentOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--effort <level>', 'reasoning effort')
        .choices(['auto', 'default', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
        .default('auto'),
    )
    .option(
      '--provider <name>',
      'model service: openai, anthropic or local, configured by environment variables',
    )
    .option(
      '--dataset <names>',
      'default: the fullest dataset of the kind the task needs; one per kind, comma separated',
    )
    .option('--schema-seed <text>', 'seed of the names of a transformed schema', defaultSchemaSeed)
    .option(
      '--perturb <list>',
      `in a transformed schema, also change values: ${perturbations.join(', ')}`,
      collect,
    )
    .option(
      '--sandbox <kind>',
      'bubblewrap, docker, podman, or process (no isolation, for development)',
      'bubblewrap',
    )
    .option(
      '--timeout <seconds>',
      "wall time of one attempt, default the protocol's",
      wholeNumber('--timeout'),
    )
    .option('--memory <MiB>', 'memory of the sandbox', wholeNumber('--memory', 64), 4096)
    .option(
      '--max-tokens <n>',
      'tokens of one attempt, input and output together',
      wholeNumber('--max-tokens'),
    )
    .option(
      '--login',
      "use the CLI's own subscription login (claude, codex) through tunnels to its provider; the result says so",
    )
    .option('--max-cost <dollars>', 'US dollars of one attempt by the price table', dollars)
    .option('--sql <file>', 'query that the agent sql plays; {task} and {condition} are filled in');
}

/** An amount of money as an option. */
export function dollars(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('It must be a number above 0, such as 2.50.');
}

/** Disposing closes the cassette, where there is one. */
export interface RunSetup extends AsyncDisposable {
  readonly environment: RunEnvironment;
  readonly protocol: Protocol;
  readonly agent: Agent;
  /** The request for a task and condition, by default as the options say. */
  cellFor(task: Task, condition: string, more?: CellChoice): Promise<CellRequest>;
}

/** What differs between the cells of one campaign, beside task and condition. */
export interface CellChoice {
  readonly schema: SchemaName;
  /** Null: the agent's own choice. */
  readonly model: string | null;
}

/** Checks everything that can be checked before the first run: agent, sandbox, provider, dataset, protocol. */
export async function setUpRuns(
  home: Home,
  options: RunOptions,
  processEnvironment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<RunSetup> {
  const rootfs = await currentRootfs(home);
  const sandbox = sandboxOf(options.sandbox, rootfs);
  const agent = agentNamed(options.agent, {
    environment: processEnvironment,
    userHome: homedir(),
    ...(rootfs === undefined || sandbox.rootfsDigest === null ? {} : { rootfs: placeForAgents(rootfs) }),
  });
  resolveEffort(agent, options.effort);
  const availability = await agent.probe();
  if (!availability.available) {
    throw new M4BenchError(
      'AGENT_NOT_AVAILABLE',
      `Agent ${agent.name} cannot be used here: ${availability.detail}.`,
      availability.remedy ?? 'Run m4bench doctor.',
      {
        party: 'environment',
      },
    );
  }
  const sandboxState = await sandbox.probe();
  if (!sandboxState.available) {
    throw new M4BenchError(
      'SANDBOX_NOT_AVAILABLE',
      `Sandbox ${sandbox.kind} cannot be used here: ${sandboxState.detail}.`,
      sandboxState.remedy ?? 'Run m4bench doctor.',
      {
        party: 'environment',
      },
    );
  }
  if (agent.name === 'sql' && options.sql === undefined) {
    throw new M4BenchError(
      'SQL_MISSING',
      'The agent sql plays an SQL file, and none was given.',
      'Add --sql FILE.',
    );
  }
  const protocol = await loadProtocol(options.protocol);
  if (options.login) await checkLogin(agent, options, protocol);
  const configured = () =>
    options.login ? [] : agent.needsModel ? pickProviders(options.provider, processEnvironment) : [];
  const cassette = await openCassette(home, agent, options, configured);
  const providers = cassette.player?.providers ?? configured();
  const datasets = new Map<string, Promise<Dataset>>();
  return {
    protocol,
    agent,
    environment: {
      sandbox,
      providers,
      ...(options.provider === undefined ? {} : { provider: options.provider }),
      benchmarkVersion,
      limits: limitsOf(options, protocol),
      gates: runGates(home),
      prices: await readPrices(),
      attestations: await readAttestations(home),
      ...cassette,
      ...(options.login ? { login: {} } : {}),
      budget: {
        ...(options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }),
        ...(options.maxCost === undefined ? {} : { maxCost: options.maxCost }),
      },
    },
    [Symbol.asyncDispose]: async () => {
      await cassette.recorder?.[Symbol.asyncDispose]();
      await cassette.player?.[Symbol.asyncDispose]();
    },
    cellFor: async (task, condition, more) => {
      const known = datasets.get(task.database) ?? datasetOf(home, task.database, options.dataset);
      datasets.set(task.database, known);
      const model = more === undefined ? options.model : (more.model ?? undefined);
      return {
        task,
        condition,
        protocol,
        dataset: await known,
        schema: more?.schema ?? parseSchema(options.schema),
        schemaSeed: options.schemaSeed,
        // In a campaign of several schemas the perturbation is for the transformed ones.
        ...(options.perturb === undefined || more?.schema === 'native' ? {} : { perturb: options.perturb }),
        agent,
        cliVersion: availability.version ?? null,
        cliSource: availability.source ?? null,
        rootfsDigest: sandbox.rootfsDigest,
        ...(options.login ? { auth: 'login' as const } : {}),
        ...(model === undefined ? {} : { model }),
        effort: options.effort,
        ...(options.sql === undefined || agent.name !== 'sql'
          ? {}
          : { queryFile: options.sql.replaceAll('{task}', task.name).replaceAll('{condition}', condition) }),
      };
    },
  };
}

/** The dataset named for this kind of database, or the fullest one. */
async function datasetOf(home: Home, kind: DatabaseKind, names: string | undefined): Promise<Dataset> {
  const named = names?.split(',').map((name) => name.trim()) ?? [];
  if (named.length <= 1) return await chooseDataset(home, kind, named[0]);
  const opened = await Promise.all(named.map((name) => openDataset(home, name)));
  const fitting = opened.find((dataset) => dataset.kind === kind);
  return await chooseDataset(home, kind, fitting?.name ?? named[0]);
}

/** Refuses a login that cannot be used, and what cannot be promised with one. */
export async function checkLogin(agent: Agent, options: RunOptions, protocol: Protocol): Promise<void> {
  if (agent.login === undefined) throw loginNotOffered(agent.name);
  const refused = (['maxTokens', 'maxCost', 'record', 'replay', 'provider'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (refused !== undefined) {
    const option = flagOf(refused);
    throw new M4BenchError(
      'LOGIN_OPTIONS',
      `${option} cannot hold with --login: nobody sees what goes through the tunnels of the CLI.`,
      `Leave ${option} away, or use an API key.`,
    );
  }
  await agent.login.read({ now: new Date(), seconds: limitsOf(options, protocol).timeoutSeconds });
}

function limitsOf(options: RunOptions, protocol: Protocol): SandboxLimits {
  return {
    timeoutSeconds: options.timeout ?? protocol.timeLimitSeconds,
    memoryBytes: options.memory * 1024 ** 2,
    processes: 512,
    workBytes: 8 * 1024 ** 3,
    streamBytes: 256 * 1024 ** 2,
  };
}

/** The model service asked for, or all that the environment names; none is an error with the variable to set. */
function pickProviders(
  name: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): RunEnvironment['providers'] {
  const configured = providersFromEnvironment(environment);
  const picked = name === undefined ? configured : configured.filter((provider) => provider.name === name);
  if (picked.length > 0) return picked;
  throw new M4BenchError(
    'PROVIDER_MISSING',
    name === undefined ? 'No model service is configured.' : `Model service ${name} is not configured.`,
    'Set OPENAI_API_KEY, ANTHROPIC_API_KEY, or M4BENCH_LOCAL_BASE_URL for a local OpenAI-compatible server.',
  );
}
