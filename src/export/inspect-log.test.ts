import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Transcript } from '../agents/transcript.js';
import { planOf } from '../campaigns/plan.js';
import { recordTestRun, testCell } from '../campaigns/test-campaign.js';
import { testFolder } from '../evidence/test-package.js';
import type { RunResult } from '../runs/result.js';
import { type InspectRun, inspectLogs } from './inspect-log.js';

/**
 * The fields of a log that Inspect's reader demands, and the types of those that are written, from the reference of
 * `inspect_ai.log`, `inspect_ai.model` and `inspect_ai.scorer` (log version 2). Strict: a misspelt field is an error.
 */
const time = z.iso.datetime({ offset: true });
const anyObject = z.record(z.string(), z.unknown());
const usage = z.record(
  z.string(),
  z.strictObject({
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
    total_tokens: z.number().int(),
    input_tokens_cache_write: z.number().int().nullable(),
    input_tokens_cache_read: z.number().int().nullable(),
    reasoning_tokens: z.number().int().nullable(),
  }),
);
const content = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text'), text: z.string() }),
      z.strictObject({ type: z.literal('reasoning'), reasoning: z.string() }),
    ]),
  ),
]);
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content, source: z.literal('input') }),
  z.strictObject({
    role: z.literal('assistant'),
    content,
    source: z.literal('generate'),
    model: z.string().nullish(),
    tool_calls: z
      .array(
        z.strictObject({
          id: z.string(),
          function: z.string(),
          arguments: anyObject,
          type: z.enum(['function', 'custom']),
        }),
      )
      .optional(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    content,
    tool_call_id: z.string(),
    function: z.string(),
  }),
]);
const sample = z.strictObject({
  id: z.union([z.string(), z.number().int()]),
  epoch: z.number().int().positive(),
  input: z.string(),
  target: z.union([z.string(), z.array(z.string())]),
  messages: z.array(message),
  output: z.strictObject({
    model: z.string(),
    choices: z.array(z.strictObject({ message, stop_reason: z.literal('stop') })),
  }),
  scores: z
    .record(
      z.string(),
      z.strictObject({
        value: z.number(),
        answer: z.string().nullable(),
        explanation: z.string().nullable(),
        metadata: anyObject,
      }),
    )
    .nullable(),
  metadata: anyObject,
  store: anyObject,
  events: z.array(z.never()),
  model_usage: usage,
  started_at: time,
  completed_at: time,
  total_time: z.number(),
  working_time: z.number(),
  uuid: z.string(),
  error: z
    .strictObject({ message: z.string(), traceback: z.string(), traceback_ansi: z.string() })
    .nullable(),
  attachments: z.record(z.string(), z.string()),
});
const logSchema = z.strictObject({
  version: z.literal(2),
  status: z.enum(['started', 'success', 'cancelled', 'error']),
  eval: z.strictObject({
    eval_id: z.string().min(1),
    run_id: z.string().min(1),
    created: time,
    task: z.string(),
    task_id: z.string().min(1),
    task_version: z.union([z.number().int(), z.string()]),
    task_display_name: z.string().nullable(),
    task_attribs: anyObject,
    task_args: anyObject,
    task_args_passed: anyObject,
    solver: z.string().nullable(),
    solver_args: anyObject.nullable(),
    tags: z.array(z.string()),
    dataset: z.strictObject({
      name: z.string().nullable(),
      location: z.string().nullable(),
      samples: z.number().int(),
      sample_ids: z.array(z.string()),
      shuffled: z.boolean(),
    }),
    model: z.string(),
    model_generate_config: anyObject,
    model_args: anyObject,
    config: z.strictObject({
      epochs: z.number().int(),
      epochs_reducer: z.array(z.string()),
      fail_on_error: z.boolean(),
    }),
    packages: z.record(z.string(), z.string()),
    metadata: anyObject,
    scorers: z.array(z.strictObject({ name: z.string(), options: anyObject })),
  }),
  plan: z.strictObject({
    name: z.string(),
    steps: z.array(z.strictObject({ solver: z.string(), params: anyObject, params_passed: anyObject })),
    config: anyObject,
  }),
  results: z.strictObject({
    total_samples: z.number().int(),
    completed_samples: z.number().int(),
    scores: z.array(
      z.strictObject({
        name: z.string(),
        scorer: z.string(),
        reducer: z.string().nullable(),
        scored_samples: z.number().int(),
        unscored_samples: z.number().int(),
        params: anyObject,
        metrics: z.record(
          z.string(),
          z.strictObject({ name: z.string(), value: z.number(), params: anyObject }),
        ),
      }),
    ),
  }),
  stats: z.strictObject({
    started_at: time,
    completed_at: time,
    model_usage: usage,
    role_usage: anyObject,
  }),
  samples: z.array(sample),
});

/** Three trials of one cell, the last of which was never judged. */
async function threeTrials(): Promise<readonly RunResult[]> {
  await using folder = await testFolder();
  const plan = planOf({
    name: 'night',
    benchmarkVersion: '0',
    cells: [testCell({ agent: 'codex', model: 'openai/gpt-5.5' })],
    runs: [1, 2, 3].map((trial) => ({ cell: 0, trial })),
    seed: '1',
    sandbox: 'process',
    timeoutSeconds: 60,
  });
  const outcomes = [
    { reward: 0.5, tokens: 100 },
    { reward: 1 },
    { class: 'infrastructure' as const, reason: 'gone' },
  ];
  const results: RunResult[] = [];
  for (const run of plan.runs)
    results.push(await recordTestRun(`${folder.path}/${run.runId}`, plan, run, [outcomes[run.trial - 1]!]));
  return results;
}

const transcript: Transcript = {
  schemaVersion: 1,
  format: 'codex',
  cliVersion: null,
  models: [],
  skills: [],
  startedAt: null,
  seconds: null,
  turns: [
    {
      model: null,
      startedAt: null,
      seconds: null,
      tokens: null,
      reasoning: 'First I look.',
      text: 'Looking.',
      calls: [
        {
          tool: 'shell',
          command: 'ls',
          input: '',
          output: 'a\n',
          exitCode: 0,
          status: 'completed',
          startedAt: null,
          seconds: null,
        },
        {
          tool: 'edit',
          command: null,
          input: '{"path":"x"}',
          output: null,
          exitCode: null,
          status: 'unanswered',
          startedAt: null,
          seconds: null,
        },
        {
          tool: 'odd',
          command: null,
          input: 'not JSON',
          output: '',
          exitCode: null,
          status: 'completed',
          startedAt: null,
          seconds: null,
        },
      ],
    },
  ],
  tokens: null,
  finalText: 'Done.',
  errors: [],
  ending: 'completed',
  timing: 'none',
  damage: { unreadableLines: 0, unknownEvents: 0, cutTexts: 0 },
};

describe('an Inspect log of a cell', () => {
  test('has the fields of the published format, version 2, and no other', async () => {
    const runs = (await threeTrials()).map(
      (result): InspectRun => ({ result, instruction: 'Do it.', transcript }),
    );
    const logs = inspectLogs(runs, '1.2.3');
    expect(logs).toHaveLength(1);
    expect(logSchema.safeParse(JSON.parse(JSON.stringify(logs[0]!.log))).error).toBeUndefined();
    // Inspect lists JSON files as logs by the time at the beginning of their names.
    expect(logs[0]!.fileName).toMatch(
      /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\+00-00_mimic-meld-24h_[0-9a-f]{22}\.json$/,
    );
  });

  test('holds trials as epochs, rewards as scores, and unjudged runs as errors', async () => {
    const runs = (await threeTrials()).map((result): InspectRun => ({ result, instruction: 'Do it.' }));
    const log = logSchema.parse(JSON.parse(JSON.stringify(inspectLogs(runs, '1.2.3')[0]!.log)));
    expect(
      log.samples.map(({ epoch, scores, error }) => [epoch, scores?.m4bench?.value ?? null, error?.message]),
    ).toEqual([
      [1, 0.5, undefined],
      [2, 1, undefined],
      [3, null, 'gone'],
    ]);
    expect(log.results).toMatchObject({ total_samples: 3, completed_samples: 2 });
    // Mean of 0.5 and 1; their standard deviation is sqrt(0.125), over sqrt(2) that is 0.25.
    expect(log.results.scores[0]!.metrics).toMatchObject({ mean: { value: 0.75 }, stderr: { value: 0.25 } });
    expect(log.eval).toMatchObject({
      model: 'openai/gpt-5.5',
      task_args: { condition: 'no-skill' },
      solver: 'codex',
    });
    expect(log.stats.model_usage['openai/gpt-5.5']).toMatchObject({ input_tokens: 100, total_tokens: 100 });
    // Without transcripts nothing but the instruction is in the messages.
    expect(log.samples[0]!.messages).toEqual([{ role: 'user', content: 'Do it.', source: 'input' }]);
  });

  test('tells the conversation with its tool calls', async () => {
    const [result] = await threeTrials();
    const log = logSchema.parse(
      JSON.parse(
        JSON.stringify(inspectLogs([{ result: result!, instruction: 'Do it.', transcript }], '1')[0]!.log),
      ),
    );
    expect(log.samples[0]!.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [{ reasoning: 'First I look.' }, { text: 'Looking.' }],
        tool_calls: [
          { id: 'call_1_1', function: 'shell', arguments: { command: 'ls' } },
          { id: 'call_1_2', function: 'edit', arguments: { path: 'x' } },
          { id: 'call_1_3', function: 'odd', arguments: { input: 'not JSON' } },
        ],
      },
      { role: 'tool', content: 'a\n', tool_call_id: 'call_1_1' },
      { role: 'tool', content: '', tool_call_id: 'call_1_3' },
    ]);
    expect(log.samples[0]!.output.choices[0]!.message.content).toBe('Done.');
  });
});
