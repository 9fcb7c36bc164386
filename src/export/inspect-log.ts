import type { Transcript } from '../agents/transcript.js';
import type { RunResult } from '../runs/result.js';
import { hashOf } from '../support/hashing.js';

/**
 * Evaluation logs of Inspect AI in its JSON form, `version` 2, as its reference documents it (`inspect_ai.log`, 0.3.x of
 * 2026). One log is one cell: the task is its one sample, its trials are the epochs.
 */
export const inspectLogVersion = 2;

export type InspectValue = null | boolean | number | string | readonly InspectValue[] | InspectObject;
export interface InspectObject {
  readonly [key: string]: InspectValue;
}

/** A run with what is needed of its files. */
export interface InspectRun {
  readonly result: RunResult;
  readonly instruction: string;
  /** Absent: messages hold the instruction alone. */
  readonly transcript?: Transcript;
}

export interface InspectLog {
  /** As Inspect names its files, so that its tools list them. */
  readonly fileName: string;
  readonly log: InspectObject;
}

const SCORER = 'm4bench';

/** The logs of a campaign, one per cell, in the order of the cells' first runs. */
export function inspectLogs(runs: readonly InspectRun[], benchmarkVersion: string): readonly InspectLog[] {
  const cells = new Map<string, InspectRun[]>();
  for (const run of runs) {
    const key = hashOf(run.result.cell);
    cells.set(key, [...(cells.get(key) ?? []), run]);
  }
  return [...cells].map(([key, ofCell]) =>
    logOf(
      key,
      [...ofCell].sort((a, b) => a.result.trial - b.result.trial),
      benchmarkVersion,
    ),
  );
}

function logOf(key: string, runs: readonly InspectRun[], benchmarkVersion: string): InspectLog {
  const { cell, campaign, sandbox, dataset } = runs[0]!.result;
  const starts = runs.map(({ result }) => startOf(result)).sort();
  const ends = runs.map(({ result }) => endOf(result)).sort();
  const model = cell.model ?? `none/${cell.agent}`;
  const judged = runs.filter(({ result }) => result.reward !== null);
  const log = {
    version: inspectLogVersion,
    status: 'success',
    eval: {
      eval_id: key.slice(0, 22),
      run_id: hashOf(campaign).slice(0, 22),
      created: starts[0]!,
      task: cell.task,
      task_id: hashOf([campaign, key]).slice(0, 22),
      task_version: 0,
      task_display_name: cell.task,
      task_attribs: {},
      task_args: {
        condition: cell.condition,
        schema: cell.schema,
        protocol: cell.protocol,
        effort: cell.effort,
      },
      task_args_passed: {},
      solver: cell.agent,
      solver_args: { cli_version: cell.cliVersion },
      tags: [cell.condition, cell.schema, cell.protocol],
      dataset: { name: dataset.name, location: null, samples: 1, sample_ids: [cell.task], shuffled: false },
      model,
      model_generate_config: {},
      model_args: {},
      config: {
        epochs: Math.max(...runs.map(({ result }) => result.trial)),
        epochs_reducer: ['mean'],
        fail_on_error: false,
      },
      packages: { m4bench: benchmarkVersion },
      metadata: {
        campaign,
        sandbox: sandbox.kind,
        rootfs_digest: sandbox.rootfsDigest,
        dataset_content_hash: dataset.contentHash,
        dataset_verified: dataset.verified,
        cell_hashes: { ...cell.hashes },
      },
      scorers: [{ name: SCORER, options: {} }],
    },
    plan: { name: 'plan', steps: [{ solver: cell.agent, params: {}, params_passed: {} }], config: {} },
    results: {
      total_samples: runs.length,
      completed_samples: judged.length,
      scores: [
        {
          name: SCORER,
          scorer: SCORER,
          reducer: 'mean',
          scored_samples: judged.length,
          unscored_samples: runs.length - judged.length,
          params: {},
          metrics: metricsOf(judged.map(({ result }) => result.reward!)),
        },
      ],
    },
    stats: {
      started_at: starts[0]!,
      completed_at: ends.at(-1)!,
      model_usage: usageOf(model, runs),
      role_usage: {},
    },
    samples: runs.map((run) => sampleOf(run, model)),
  };
  const stamp = starts[0]!.replace(/\.\d+/, '').replace(/:/g, '-');
  const name = `${stamp}_${cell.task}_${key.slice(0, 22)}.json`;
  return { fileName: name, log: log as unknown as InspectObject };
}

/** ISO 8601 with an offset, as Inspect writes times. */
const zoned = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '+00:00');

function startOf(result: RunResult): string {
  return zoned(Date.parse(result.attempts.at(-1)?.startedAt ?? '1970-01-01T00:00:00Z'));
}

function endOf(result: RunResult): string {
  return zoned(Date.parse(startOf(result)) + result.seconds.total * 1000);
}

/** Mean and the standard error over trials, as Inspect's `mean` and `stderr`; no error for one trial. */
function metricsOf(rewards: readonly number[]): InspectObject {
  if (rewards.length === 0) return {};
  const n = rewards.length;
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / n;
  const squares = rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  const metric = (name: string, value: number): InspectObject => ({ name, value, params: {} });
  return {
    mean: metric('mean', mean),
    ...(n > 1 ? { stderr: metric('stderr', Math.sqrt(squares / (n - 1) / n)) } : {}),
  };
}

function usageOf(model: string, runs: readonly InspectRun[]): InspectObject {
  const all = runs.flatMap(({ result }) => {
    const tokens = result.tokens ?? result.agentTokens;
    return tokens === null ? [] : [tokens];
  });
  if (all.length === 0) return {};
  const sum = (of: (tokens: (typeof all)[number]) => number): number =>
    all.reduce((total, tokens) => total + of(tokens), 0);
  // Inspect counts input without what came from, or went into, the cache; here `input` holds all of it.
  return {
    [model]: {
      input_tokens: sum(({ input, cachedInput, cacheWrite }) => input - cachedInput - cacheWrite),
      output_tokens: sum(({ output }) => output),
      total_tokens: sum(({ input, output }) => input + output),
      input_tokens_cache_write: sum(({ cacheWrite }) => cacheWrite),
      input_tokens_cache_read: sum(({ cachedInput }) => cachedInput),
      reasoning_tokens: sum(({ reasoning }) => reasoning),
    },
  };
}

function sampleOf(run: InspectRun, model: string): InspectObject {
  const { result, instruction, transcript } = run;
  const { evaluation } = result;
  const last = transcript?.finalText ?? '';
  const error =
    result.status === 'unjudged'
      ? { message: result.failureReason ?? 'unjudged', traceback: '', traceback_ansi: '' }
      : null;
  return {
    id: result.cell.task,
    epoch: result.trial,
    input: instruction,
    target: '',
    messages: messagesOf(instruction, transcript) as unknown as InspectValue,
    output: {
      model,
      choices: [{ message: { role: 'assistant', content: last, source: 'generate' }, stop_reason: 'stop' }],
    },
    scores:
      result.reward === null
        ? null
        : {
            [SCORER]: {
              value: result.reward,
              answer: null,
              explanation: result.failureReason ?? evaluation?.error ?? null,
              metadata: {
                reward_robust: result.rewardRobust,
                strict_pass: evaluation?.strictPass ?? false,
                match_rates: { ...evaluation?.matchRates },
                key_f1: evaluation?.keyF1 ?? null,
                failure_class: result.failureClass,
              },
            },
          },
    metadata: {
      run_id: result.runId,
      publishable: result.publishable,
      reasons: [...result.reasons],
      attempts: result.attempts.length,
      skills_placed: [...result.skill.placed],
      skills_opened: [...result.skill.opened],
      output_sha256: result.hashes.output,
    },
    store: {},
    events: [],
    model_usage: usageOf(model, [run]),
    started_at: startOf(result),
    completed_at: endOf(result),
    total_time: result.seconds.total,
    working_time: result.seconds.agent,
    uuid: hashOf(result.runId).slice(0, 22),
    error,
    attachments: {},
  };
}

/** The conversation: the instruction, then every reply with its tool calls, and what the tools gave back. */
function messagesOf(instruction: string, transcript: Transcript | undefined): readonly InspectObject[] {
  const messages: InspectObject[] = [{ role: 'user', content: instruction, source: 'input' }];
  for (const [index, turn] of (transcript?.turns ?? []).entries()) {
    const calls = turn.calls.map((call, at) => ({
      id: `call_${index + 1}_${at + 1}`,
      function: call.tool,
      arguments: call.command === null ? argumentsIn(call.input) : { command: call.command },
      type: 'function',
    }));
    messages.push({
      role: 'assistant',
      content: [
        ...(turn.reasoning === '' ? [] : [{ type: 'reasoning', reasoning: turn.reasoning }]),
        { type: 'text', text: turn.text },
      ],
      source: 'generate',
      model: turn.model,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    });
    for (const [at, call] of turn.calls.entries())
      if (call.output !== null)
        messages.push({
          role: 'tool',
          content: call.output,
          tool_call_id: `call_${index + 1}_${at + 1}`,
          function: call.tool,
        });
  }
  return messages;
}

function argumentsIn(input: string): InspectObject {
  try {
    const value = JSON.parse(input) as InspectValue;
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as InspectObject;
  } catch {
    // Not JSON: kept as the text that it is.
  }
  return input === '' ? {} : { input };
}
