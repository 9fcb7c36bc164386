import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CampaignPlan, campaignFolder, freezePlan } from '../campaigns/plan.js';
import type { Evaluation, EvaluationExamples } from '../evaluation/evaluation.js';
import { noMismatches } from '../evaluation/mismatch-kinds.js';
import { type Cell, runIdOf } from '../runs/cell.js';
import { type Attempt, attemptSchema, type RunResult, resultSchema } from '../runs/result.js';
import { hashOf, sha256 } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { type SeededRandom, seededRandom } from '../support/random.js';
import { loadTasks } from '../tasks/load-tasks.js';
import type { Task } from '../tasks/task.js';

export interface GeneratedCampaignOptions {
  readonly name: string;
  /** Default all tasks. */
  readonly tasks?: readonly string[];
  readonly conditions: readonly string[];
  readonly models: readonly string[];
  readonly trials: number;
  /** Share of runs that have a result, in the order of the plan; default 1. */
  readonly done?: number;
  /** Write attempt folders too, with this trace; default none. */
  readonly trace?: string;
}

/** A campaign that nobody ran, as this system writes it: for tests and measurements of pages. */
export interface GeneratedCampaign {
  readonly plan: CampaignPlan;
  readonly results: readonly RunResult[];
}

/** Writes the plan and results of a campaign with rewards drawn from a seed. */
export async function generateCampaign(
  home: Home,
  options: GeneratedCampaignOptions,
): Promise<GeneratedCampaign> {
  const tasks = (await loadTasks()).filter((task) => options.tasks?.includes(task.name) ?? true);
  const plan = planOf(options, tasks);
  await freezePlan(home, plan);
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const count = Math.round(plan.runs.length * (options.done ?? 1));
  const results: RunResult[] = [];
  for (const [index] of plan.runs.slice(0, count).entries()) {
    results.push(await finishRun(home, plan, index, byName, options.trace));
  }
  return { plan, results };
}

/** Writes the result of one planned run, as when it ends. */
export async function finishRun(
  home: Home,
  plan: CampaignPlan,
  index: number,
  tasks: ReadonlyMap<string, Task>,
  trace?: string,
): Promise<RunResult> {
  const run = plan.runs[index]!;
  const cell = plan.cells[run.cell]!;
  const random = seededRandom(run.runId);
  const result = resultOf(plan, cell, run, tasks.get(cell.task)!, random);
  const folder = join(campaignFolder(home, plan.name).runs, run.runId);
  await mkdir(folder, { recursive: true });
  if (trace !== undefined) await writeAttempt(folder, result, tasks.get(cell.task)!, trace);
  await writeFile(join(folder, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  return result;
}

function planOf(options: GeneratedCampaignOptions, tasks: readonly Task[]): CampaignPlan {
  const cells = tasks.flatMap((task) =>
    options.models.flatMap((model) =>
      options.conditions.map((condition): Cell => {
        const hash = (of: string): string => sha256(`${task.name} ${condition} ${of}`);
        return {
          task: task.name,
          condition,
          schema: 'native',
          protocol: 'm4bench-1',
          dataset: `${task.database}-demo`,
          datasetHash: hash('dataset'),
          agent: 'codex',
          cliVersion: '1.2.3',
          rootfsDigest: 'sha256:0123456789abcdef',
          model,
          effort: 'medium',
          hashes: {
            instruction: hash('instruction'),
            context: hash('context'),
            reference: hash('reference'),
            taskDatabase: hash('database'),
            query: null,
          },
        };
      }),
    ),
  );
  const random = seededRandom('generated');
  const runs = cells
    .flatMap((cell, index) =>
      Array.from({ length: options.trials }, (_, trial) => ({
        order: random.next(),
        run: { runId: runIdOf(cell, trial + 1), trial: trial + 1, cell: index },
      })),
    )
    .sort((a, b) => a.order - b.order)
    .map(({ run }) => run);
  const body = {
    schemaVersion: 1 as const,
    benchmarkVersion: '0.1.0',
    name: options.name,
    seed: 'generated',
    sandbox: 'bubblewrap',
    timeoutSeconds: 600,
    cells,
    runs,
  };
  return { ...body, planHash: hashOf(body) };
}

const rounded = (value: number, digits = 8): number => Number(value.toFixed(digits));

function resultOf(
  plan: CampaignPlan,
  cell: Cell,
  run: CampaignPlan['runs'][number],
  task: Task,
  random: SeededRandom,
): RunResult {
  const drawn = random.next();
  const failure = drawn < 0.02 ? 'infrastructure' : drawn < 0.05 ? 'agent' : null;
  const evaluation = failure === null ? evaluationOf(cell, task, random) : null;
  const reason =
    failure === 'agent'
      ? 'the time limit of 600 s was reached'
      : failure === 'infrastructure'
        ? 'the provider answered 529 three times'
        : null;
  const seconds = rounded(40 + 200 * random.next(), 2);
  const startedAt = new Date(
    Date.UTC(2026, 4, 1) + plan.runs.findIndex(({ runId }) => runId === run.runId) * 60_000,
  ).toISOString();
  const tokens = {
    input: 20_000 + random.integer(90_000),
    cachedInput: random.integer(18_000),
    cacheWrite: 0,
    output: 500 + random.integer(5_000),
    reasoning: 0,
  };
  return resultSchema.parse({
    schemaVersion: 1,
    benchmarkVersion: plan.benchmarkVersion,
    runId: run.runId,
    campaign: plan.name,
    cell,
    observed: {
      cliVersion: '1.2.3',
      models: [cell.model!],
      overrides: [],
      backgroundModels: [],
      routing: [],
    },
    trial: run.trial,
    status: failure === 'infrastructure' ? 'unjudged' : 'judged',
    attempt: failure === 'infrastructure' ? null : 1,
    attempts: [{ n: 1, class: failure ?? 'judged', reason, startedAt, seconds }],
    failureClass: failure,
    failureReason: reason,
    reward: failure === 'infrastructure' ? null : (evaluation?.reward ?? 0),
    rewardRobust: failure === 'infrastructure' ? null : (evaluation?.rewardRobust ?? 0),
    evaluation,
    tokens: { ...tokens, source: 'gateway' },
    agentTokens: tokens,
    cost: rounded((tokens.input * 1.25 + tokens.output * 10) / 1e6, 6),
    seconds: { total: seconds, setup: 0.5, agent: seconds - 2, model: seconds / 2, evaluation: 1.5 },
    skill: {
      placed: cell.condition === 'no-skill' ? [] : task.skills.map(({ name }) => name),
      offered: cell.condition === 'no-skill' ? [] : task.skills.map(({ name }) => name),
      opened: cell.condition === 'no-skill' ? [] : task.skills.map(({ name }) => name),
      source: 'gateway',
    },
    dataset: { name: cell.dataset, class: 'open', verified: true, contentHash: cell.datasetHash },
    sandbox: {
      kind: plan.sandbox,
      rootfsDigest: cell.rootfsDigest,
      limits: { asked: { timeoutSeconds: 600 }, enforced: ['time', 'memory'] },
    },
    dataUse: { provider: 'openai', attestation: null, allowed: true },
    hashes: {
      instruction: cell.hashes.instruction,
      context: cell.hashes.context,
      taskDatabase: cell.hashes.taskDatabase,
      reference: cell.hashes.reference,
      output: null,
      trace: null,
      gateway: null,
    },
    integrity: { canaries: true, lint: true, egress: true, hostedTools: [] },
    publishable: failure !== 'infrastructure',
    reasons: failure === 'infrastructure' ? ['only infrastructure failures happened'] : [],
  });
}

function evaluationOf(cell: Cell, task: Task, random: SeededRandom): Evaluation {
  const truthRows = 100;
  const level = cell.condition === 'with-skill' ? 0.8 : 0.45;
  const columns = task.contract.scoredColumns;
  const matched = columns.map(() => Math.min(truthRows, Math.round(truthRows * (level + random.next() / 3))));
  const rates = matched.map((count) => count / truthRows);
  const reward = rounded(rates.reduce((sum, rate) => sum + rate, 0) / rates.length);
  const each = <Value>(value: (index: number) => Value): Record<string, Value> =>
    Object.fromEntries(columns.map((column, index) => [column, value(index)]));
  const passed = rates.map((rate) => rate >= task.contract.accuracyThreshold);
  return {
    task: task.name,
    dataset: cell.dataset,
    reward,
    rewardRobust: reward,
    matchRates: each((index) => rates[index]!),
    columns: each((index) => ({
      comparison: 'numeric',
      matched: matched[index]!,
      total: truthRows,
      matchRate: rates[index]!,
      robustMatched: matched[index]!,
      robustTotal: truthRows,
      robustMatchRate: rates[index]!,
    })),
    checks: [
      { name: 'row coverage', passed: true, detail: '100 of 100 reference keys.' },
      ...columns.map((column, index) => ({
        name: `accuracy: ${column}`,
        passed: passed[index]!,
        detail: `${matched[index]} of ${truthRows} match.`,
      })),
    ],
    strictPass: passed.every(Boolean),
    keyPrecision: 1,
    keyRecall: 1,
    keyF1: 1,
    extraKeys: 0,
    missingKeys: 0,
    duplicateKeys: 0,
    uniqueKeys: truthRows,
    truthRows,
    outputRows: truthRows,
    orderedNmae: 0.1,
    nmae: { value: 0.1, columns: columns.length, coverage: 1 },
    mismatchKinds: each((index) => {
      const wrong = truthRows - matched[index]!;
      const missing = Math.floor(wrong / 3);
      return { ...noMismatches, valueMissing: missing, tooHigh: wrong - missing };
    }),
    confusion: {
      [columns[0]!]: [
        { truth: '0', output: '0', rows: matched[0]! - 10 },
        { truth: '0', output: '1', rows: truthRows - matched[0]! },
        { truth: '1', output: '1', rows: 10 },
      ],
    },
    components: null,
    errorKind: null,
    error: null,
  };
}

/** What an attempt leaves behind, as far as pages show it. */
async function writeAttempt(folder: string, result: RunResult, task: Task, trace: string): Promise<void> {
  const attempt = join(folder, 'attempts', '1');
  await mkdir(join(attempt, 'context'), { recursive: true });
  await writeFile(join(attempt, 'instruction.md'), task.instruction);
  if (result.cell.condition !== 'no-skill') {
    for (const skill of task.skills) {
      const place = join(attempt, 'context', '.skills', skill.name);
      await mkdir(place, { recursive: true });
      await writeFile(join(place, 'SKILL.md'), skill.text);
    }
  }
  await writeFile(join(attempt, 'trace.jsonl'), trace);
  await writeFile(join(attempt, 'output.csv'), `${task.contract.requiredColumns.join(',')}\n1,2,3\n`);
  if (result.evaluation !== null) {
    const examples: EvaluationExamples = {
      columns: { [task.contract.scoredColumns[0]!]: [{ keys: ['4711'], truth: '3', output: '4' }] },
    };
    await writeFile(join(attempt, 'evaluation.json'), JSON.stringify(result.evaluation));
    await writeFile(join(attempt, 'evaluation.private.json'), JSON.stringify(examples), { mode: 0o600 });
  }
  await writeFile(join(attempt, 'attempt.json'), JSON.stringify(attemptOf(result), null, 2));
}

function attemptOf(result: RunResult): Attempt {
  return attemptSchema.parse({
    schemaVersion: 1,
    n: 1,
    startedAt: result.attempts[0]!.startedAt,
    seconds: result.seconds,
    class: result.attempts[0]!.class,
    failureReason: result.failureReason,
    outcome: null,
    observed: result.observed,
    gateway: { requests: 4, refused: 0, failed: 0 },
    tokens: result.agentTokens,
    agentTokens: result.agentTokens,
    skill: result.skill,
    hostedToolsRemoved: [],
    cost: result.cost,
    allowedHosts: ['api.openai.com'],
    integrity: { canaries: true, lint: true, egress: true, hostedToolCalls: [] },
    limits: result.sandbox.limits,
    files: { copied: [{ path: 'output.csv', bytes: 24 }], refused: [] },
    hashes: {
      output: null,
      trace: null,
      gateway: null,
      instruction: result.hashes.instruction,
      evaluation: null,
      stderr: null,
      canary: null,
      lint: null,
    },
    reward: result.reward,
  });
}
