import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentLaunch, AgentRequest, LoginMaterial } from '../agents/agent.js';
import { attestedSkills } from '../agents/attested-skills.js';
import { readMeasuredExchanges, withGatewayTimes } from '../agents/gateway-times.js';
import { loginNotOffered } from '../agents/login-files.js';
import { readingOf, type Transcript } from '../agents/transcript.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { evaluateOutput } from '../evaluation/evaluate.js';
import type { Evaluation } from '../evaluation/evaluation.js';
import type { CassettePlayer, ReplaySession } from '../gateway/cassette-player.js';
import type { CassetteRecorder } from '../gateway/cassette-recorder.js';
import { Gateway } from '../gateway/gateway.js';
import type { GatewayBudget, GatewaySummary, Provider } from '../gateway/gateway-types.js';
import { describeLocalModel, type LocalModel } from '../gateway/local-models.js';
import type { PriceTable } from '../gateway/prices.js';
import type { TunnelOptions, TunnelSummary } from '../gateway/tunnels.js';
import type {
  CommandOutcome,
  CopyOutReport,
  Sandbox,
  SandboxLimits,
  WorkFile,
} from '../sandboxes/sandbox.js';
import { buildTaskDatabase, type TaskDatabase } from '../schemas/task-database.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import { readTextIfPresent, writeFileAtomic, writeJsonAtomic } from '../support/files.js';
import { sha256, sha256File } from '../support/hashing.js';
import { killPoint } from '../support/kill-point.js';
import { createScratchFolder } from '../support/runtime-folders.js';
import { emptyAttempt } from './attempt-record.js';
import { type Attestation, isLoopback } from './data-use.js';
import { type AttemptVerdict, verdictOf } from './failure.js';
import type { CanaryReport, RunGates } from './gates.js';
import { observedModels } from './observed-models.js';
import type { PreparedCell } from './prepare.js';
import type { Attempt } from './result.js';

/** Where and with what runs are made; the same for every run of a campaign. */
export interface RunEnvironment {
  readonly sandbox: Sandbox;
  readonly limits: SandboxLimits;
  readonly providers: readonly Provider[];
  /** The one that agents are sent to, default the one their CLI is made for. */
  readonly provider?: string;
  readonly benchmarkVersion: string;
  /** Canaries, lint and egress; a run without them records that they were not run and cannot be published. */
  readonly gates?: RunGates;
  /** Spending limits of one attempt; reaching one ends it. */
  readonly budget?: GatewayBudget;
  readonly prices?: PriceTable;
  /** What the user attests of each provider, by name. */
  readonly attestations?: ReadonlyMap<string, Attestation>;
  /** Takes down what models answer. */
  readonly recorder?: CassetteRecorder;
  /** Answers instead of models; `providers` are its own then. */
  readonly player?: CassettePlayer;
  /** The CLI signs in by itself, with the user's subscription; `providers` is empty then. */
  readonly login?: Pick<TunnelOptions, 'connect'>;
}

export interface AttemptRequest {
  readonly n: number;
  readonly runId: string;
  /** `attempts/<n>/`, not there yet. */
  readonly folder: string;
  readonly prepared: PreparedCell;
  readonly signal?: AbortSignal;
}

/** An attempt as it ended, or undefined when it was interrupted from outside (then nothing is recorded). */
export interface AttemptOutcome {
  readonly attempt: Attempt;
  readonly evaluation: Evaluation | null;
}

const maxOutputBytes = 2 * 1024 ** 3;
const seconds = (since: number): number => Math.round((performance.now() - since) / 10) / 100;

/** One try at a run: prepares the sandbox, plays the agent, copies its output out, judges it, records it. */
export async function executeAttempt(
  environment: RunEnvironment,
  request: AttemptRequest,
): Promise<AttemptOutcome | undefined> {
  const started = performance.now();
  const startedAt = new Date().toISOString();
  await mkdir(request.folder, { recursive: true });
  await writeContext(request);
  let played: PlayedAgent;
  try {
    played = await playAgent(environment, request);
  } catch (thrown) {
    if (request.signal?.aborted) return undefined;
    if (thrown instanceof M4BenchError && thrown.party === 'user') throw thrown;
    const attempt = await setUpFailure(request, environment, startedAt, started, messageOf(thrown));
    return { attempt, evaluation: null };
  }
  if (request.signal?.aborted) return undefined;
  return judge(environment, request, played, { startedAt, started });
}

/** What the agent was given, kept beside what it made of it. */
async function writeContext({ folder, prepared }: AttemptRequest): Promise<void> {
  await writeFileAtomic(join(folder, 'instruction.md'), prepared.context.instruction);
  for (const file of prepared.context.workFiles) {
    if ('text' in file.content) await writeFileAtomic(join(folder, 'context', file.path), file.content.text);
  }
}

interface PlayedAgent {
  readonly outcome: CommandOutcome;
  readonly verdict: AttemptVerdict;
  readonly gateway: GatewaySummary | undefined;
  readonly transcript: Transcript;
  /** Model slots that the adapter set. */
  readonly overrides: readonly string[];
  readonly canaries: CanaryReport | undefined;
  /** Texts of planted markers. */
  readonly markers: readonly string[];
  readonly copied: CopyOutReport;
  readonly setupSeconds: number;
  readonly replay: ReplaySession | undefined;
  readonly tunnels: TunnelSummary | undefined;
  readonly localModel: LocalModel | null;
  /** Texts that may appear in no record: keys and tokens. */
  readonly secrets: readonly string[];
}

/** Runs the agent in a fresh sandbox; every resource is gone when this returns. */
async function playAgent(
  environment: RunEnvironment,
  { folder, prepared, signal, runId, n }: AttemptRequest,
): Promise<PlayedAgent> {
  const setupStarted = performance.now();
  const { agent, model, effort } = prepared.request;
  const scratch = await createScratchFolder('attempt');
  try {
    const login = environment.login === undefined ? undefined : await loginOf(environment, prepared);
    const secrets = [...environment.providers.map(({ apiKey }) => apiKey), ...(login?.secrets ?? [])];
    const database = await databaseFor(environment.sandbox, prepared, scratch);
    const spent = new AbortController();
    const session = `${runId}/${n}`;
    const replay = environment.player?.session(session);
    await using gateway = agent.needsModel
      ? await Gateway.start({
          logPath: join(folder, 'gateway.jsonl'),
          providers: environment.providers,
          skills: prepared.context.skills,
          ...(environment.budget === undefined ? {} : { budget: environment.budget }),
          ...(environment.prices === undefined ? {} : { prices: environment.prices }),
          ...(login === undefined
            ? {}
            : {
                tunnels: {
                  hosts: agent.login!.hosts,
                  logPath: join(folder, 'egress.jsonl'),
                  ...environment.login,
                },
              }),
          onBudgetSpent: (reason) => spent.abort(reason),
          ...(environment.recorder === undefined ? {} : { recording: environment.recorder.session(session) }),
          ...(replay === undefined ? {} : { replay, onReplayMismatch: (reason) => spent.abort(reason) }),
        })
      : undefined;
    const asked: Omit<AgentRequest, 'workPath' | 'gatewayUrl'> = {
      ...(model === undefined ? {} : { model }),
      effort,
      instruction: prepared.context.instruction,
      ...(environment.provider === undefined ? {} : { provider: environment.provider }),
      ...(login === undefined ? {} : { usesLogin: true }),
      ...(prepared.queryText === undefined ? {} : { sqlText: prepared.queryText }),
      ...(agent.isHandedTheAnswer ? { answerFile: await answerCsv(prepared, scratch) } : {}),
    };
    const launchAt = (workPath: string, gatewayUrl: string | undefined): Promise<AgentLaunch> =>
      agent.launch({ ...asked, workPath, gatewayUrl });
    // The mounts an agent needs do not depend on where the work folder and the gateway appear inside.
    const inputs = [...database.mounts, ...(await launchAt('/work', 'http://127.0.0.1')).inputs];
    await using canaries = await environment.gates?.armCanaries({
      attemptFolder: folder,
      sandbox: environment.sandbox,
      inputs,
      secrets,
    });
    await using sandbox = await environment.sandbox.prepare({
      inputs,
      workFiles: [...baseFiles(prepared, database), ...(canaries?.workFiles ?? [])],
      ...(gateway === undefined ? {} : { gatewaySocket: gateway.socketPath }),
      limits: environment.limits,
    });
    const launch = await launchAt(sandbox.workPath, sandbox.gatewayUrl);
    await sandbox.addWorkFiles(launch.workFiles);
    const canaryReport = await canaries?.probe(sandbox);
    if (canaryReport !== undefined) await recordCanaries(folder, canaryReport, environment.sandbox);
    const setupSeconds = seconds(setupStarted);
    const stdoutPath = join(folder, 'trace.jsonl');
    const running = sandbox.execute({
      command: launch.command,
      environment: launch.environment,
      ...(launch.stdin === undefined ? {} : { stdin: launch.stdin }),
      ...(login === undefined ? {} : { homeFiles: login.files }),
      stdoutPath,
      stderrPath: join(folder, 'stderr.txt'),
      signal: signal === undefined ? spent.signal : AbortSignal.any([signal, spent.signal]),
    });
    await killPoint('spawned', () => sleep(20));
    const outcome = await running;
    const copied = await sandbox.copyOut(folder, {
      only: ['output.csv'],
      maxFileBytes: maxOutputBytes,
      maxTotalBytes: maxOutputBytes,
    });
    const hasOutput = copied.files.some((file) => file.path === 'output.csv');
    const transcript = await agent.readTranscript(stdoutPath);
    const tunnels = await gateway?.endTunnels();
    const mismatch = replay?.mismatch ?? null;
    const verdict: AttemptVerdict =
      mismatch !== null
        ? { class: 'infrastructure', reason: mismatch }
        : outcome.endedBy === 'abort' && spent.signal.aborted && !signal?.aborted
          ? { class: 'agent', reason: String(spent.signal.reason) }
          : verdictOf({
              needsModel: agent.needsModel,
              outcome,
              hasOutput,
              ...(tunnels === undefined
                ? { gateway: gateway?.summary() }
                : {
                    gateway: undefined,
                    login: { tunnels: tunnels.opened, errors: readingOf(transcript).errors },
                  }),
            });
    const markers = canaries?.markers ?? [];
    const summary = gateway?.summary();
    return {
      outcome,
      verdict,
      gateway: summary,
      transcript,
      overrides: launch.overrides ?? [],
      canaries: canaryReport,
      markers,
      copied,
      setupSeconds,
      replay,
      tunnels,
      localModel: await localModelOf(environment, prepared),
      secrets,
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Writes `canary.json`. Where isolation is promised and does not hold, no agent is started. */
async function recordCanaries(folder: string, report: CanaryReport, sandbox: Sandbox): Promise<void> {
  await writeJsonAtomic(join(folder, 'canary.json'), report);
  if (report.passed || !sandbox.isIsolated) return;
  const broken = [...report.checks, ...report.controls].filter(({ held }) => !held);
  throw new M4BenchError(
    'CANARY_REACHED',
    `The ${sandbox.kind} sandbox does not hold here: ${broken.map(({ name, detail }) => `not "${name}" (${detail})`).join('; ')}.`,
    'Run m4bench sandbox check, and m4bench doctor.',
    { party: 'environment' },
  );
}

/** Without isolation nothing but a private copy of the farm keeps an agent away from the lake's bytes. */
async function databaseFor(sandbox: Sandbox, prepared: PreparedCell, scratch: string): Promise<TaskDatabase> {
  if (sandbox.isIsolated) return prepared.taskDatabase;
  return buildTaskDatabase(prepared.relations, {
    farmRoot: join(scratch, 'farm'),
    folder: join(scratch, 'views'),
    emptySchemas: prepared.emptySchemas,
    copies: true,
  });
}

function baseFiles(prepared: PreparedCell, database: TaskDatabase): readonly WorkFile[] {
  return [
    { path: 'database.duckdb', content: { copyOf: database.path } },
    { path: 'instruction.md', content: { text: prepared.context.instruction } },
    ...prepared.context.workFiles,
  ];
}

/** The reference as a CSV for the agent that is handed the answer. */
async function answerCsv(prepared: PreparedCell, scratch: string): Promise<string> {
  const path = join(scratch, 'answer.csv');
  await using session = await DuckSession.open();
  await session.run(
    `copy (from read_parquet(${literal(prepared.reference.parquetPath)})) to ${literal(path)} (format csv, header)`,
  );
  await chmod(path, 0o644);
  return path;
}

async function judge(
  environment: RunEnvironment,
  { folder, prepared, n }: AttemptRequest,
  played: PlayedAgent,
  clock: { readonly startedAt: string; readonly started: number },
): Promise<AttemptOutcome> {
  const evaluationStarted = performance.now();
  const output = join(folder, 'output.csv');
  const hasOutput = played.copied.files.some((file) => file.path === 'output.csv');
  let evaluation: Evaluation | null = null;
  if (hasOutput) {
    const judged = await evaluateOutput({
      task: prepared.request.task,
      dataset: prepared.request.dataset.name,
      outputPath: output,
      referencePath: prepared.reference.parquetPath,
    });
    evaluation = judged.evaluation;
    await writeJsonAtomic(join(folder, 'evaluation.json'), evaluation);
    await writeJsonAtomic(join(folder, 'evaluation.private.json'), judged.examples, { mode: 0o600 });
  }
  const { verdict, gateway } = played;
  const transcript = withGatewayTimes(
    played.transcript,
    await readMeasuredExchanges(join(folder, 'gateway.jsonl')),
  );
  await writeJsonAtomic(join(folder, 'transcript.json'), transcript);
  const lint = await environment.gates?.lint({
    attemptFolder: folder,
    prepared,
    transcript,
    markers: played.markers,
    secrets: played.secrets,
    evaluation,
  });
  const trace = readingOf(transcript);
  const fileHash = (name: string): Promise<string | null> => sha256File(join(folder, name)).catch(() => null);
  const base = emptyAttempt(n, clock.startedAt, prepared, environment);
  const logText = await readTextIfPresent(join(folder, 'gateway.jsonl'));
  const { tunnels } = played;
  const egress = environment.gates?.egress(
    logText,
    base.allowedHosts,
    prepared.request.agent.needsModel,
    ...(tunnels === undefined ? [] : [{ log: await readTextIfPresent(join(folder, 'egress.jsonl')) }]),
  );
  const attempt: Attempt = {
    ...base,
    seconds: {
      total: seconds(clock.started),
      setup: played.setupSeconds,
      agent: Math.round(played.outcome.seconds * 100) / 100,
      model: gateway?.modelSeconds ?? 0,
      evaluation: seconds(evaluationStarted),
    },
    class: verdict.class,
    failureReason: verdict.reason,
    outcome: { ...played.outcome },
    observed: {
      cliVersion: prepared.request.cliVersion,
      cliSource: prepared.request.cliSource ?? null,
      models: [...new Set([...(gateway?.models ?? []), ...trace.models])],
      overrides: [...played.overrides],
      localModel: played.localModel,
      ...observedModels(gateway?.routes ?? [], prepared.request.model),
    },
    gateway:
      gateway === undefined
        ? null
        : { requests: gateway.requests, refused: gateway.refused, failed: gateway.failed },
    // In tunnels nobody counts; there is the CLI's own word only.
    tokens: gateway === undefined || tunnels !== undefined ? null : { ...gateway.tokens },
    agentTokens: trace.tokens === undefined ? null : { ...trace.tokens },
    skill: skillRecord(prepared, played),
    hostedToolsRemoved: [...(gateway?.hostedToolsRemoved ?? [])],
    cost: tunnels === undefined ? (gateway?.cost ?? null) : null,
    replay: replayRecord(environment, played),
    login:
      tunnels === undefined
        ? null
        : { provider: prepared.request.agent.login!.provider, ...tunnels, hosts: [...tunnels.hosts] },
    integrity: {
      canaries: played.canaries?.passed ?? null,
      lint: lint?.passed ?? null,
      egress: egress?.passed ?? null,
      hostedToolCalls: [...(gateway?.hostedToolCalls ?? [])],
    },
    files: { copied: [...played.copied.files], refused: [...played.copied.refused] },
    hashes: {
      output: hasOutput ? await sha256File(output) : null,
      trace: await fileHash('trace.jsonl'),
      stderr: await fileHash('stderr.txt'),
      gateway: await fileHash('gateway.jsonl'),
      canary: await fileHash('canary.json'),
      lint: await fileHash('lint.json'),
      transcript: await fileHash('transcript.json'),
      egress: await fileHash('egress.jsonl'),
      instruction: sha256(prepared.context.instruction),
      evaluation: evaluation === null ? null : sha256(`${JSON.stringify(evaluation, null, 2)}\n`),
    },
    // An output made by a run that failed is judged aside (evaluation.json); it never counts.
    reward: verdict.class === 'judged' ? (evaluation?.reward ?? 0) : verdict.class === 'agent' ? 0 : null,
  };
  await writeJsonAtomic(join(folder, 'attempt.json'), attempt);
  return { attempt, evaluation: verdict.class === 'judged' ? evaluation : null };
}

/** The user's login as far as it may come into a sandbox. */
function loginOf({ limits }: RunEnvironment, { request: { agent } }: PreparedCell): Promise<LoginMaterial> {
  if (agent.login !== undefined) return agent.login.read({ now: new Date(), seconds: limits.timeoutSeconds });
  throw loginNotOffered(agent.name);
}

/** Skills as the gateway saw them in requests, or with a login of the CLI as its own trace tells. */
function skillRecord(
  { context }: PreparedCell,
  { gateway, tunnels, transcript }: PlayedAgent,
): Attempt['skill'] {
  const placed = context.skills.map((skill) => skill.name);
  if (tunnels !== undefined) {
    const { offered, opened } = attestedSkills(transcript, context.skills);
    return { placed, offered: [...offered], opened: [...opened], source: 'attested' };
  }
  const { skillsOffered = [], skillsOpened = [] } = gateway ?? {};
  return { placed, offered: [...skillsOffered], opened: [...skillsOpened], source: 'gateway' };
}

/** Asks the server of a local model what it runs, once the agent has used it and it is loaded. */
function localModelOf(environment: RunEnvironment, { request }: PreparedCell): Promise<LocalModel | null> {
  const { providers, provider: name, attestations, player } = environment;
  const provider = providers.find((one) => name === undefined || one.name === name);
  const isLocal =
    provider !== undefined &&
    (isLoopback(provider.baseUrl) || attestations?.get(provider.name)?.kind === 'local');
  if (!isLocal || player !== undefined || request.model === undefined) return Promise.resolve(null);
  return describeLocalModel(provider, request.model);
}

function replayRecord({ player }: RunEnvironment, { replay, gateway }: PlayedAgent): Attempt['replay'] {
  if (player === undefined || replay === undefined) return null;
  const { answers, byTurn } = gateway?.replayed ?? { answers: 0, byTurn: 0 };
  const { left, mismatch } = replay;
  return { cassette: player.sha256, isStrict: player.isStrict, answers, byTurn, left, mismatch };
}

async function setUpFailure(
  { folder, prepared, n }: AttemptRequest,
  environment: RunEnvironment,
  startedAt: string,
  started: number,
  reason: string,
): Promise<Attempt> {
  const base = emptyAttempt(n, startedAt, prepared, environment);
  const canary = await readTextIfPresent(join(folder, 'canary.json'));
  const attempt: Attempt = {
    ...base,
    ...(canary === undefined
      ? {}
      : {
          integrity: { ...base.integrity, canaries: (JSON.parse(canary) as CanaryReport).passed },
          hashes: { ...base.hashes, canary: sha256(canary) },
        }),
    seconds: { total: seconds(started), setup: seconds(started), agent: 0, model: 0, evaluation: 0 },
    failureReason: `set-up: ${reason}`,
  };
  await writeJsonAtomic(join(folder, 'attempt.json'), attempt);
  return attempt;
}
