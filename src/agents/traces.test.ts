import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTranscript, traceFormatNamed, traceFormatOf, traceFormats } from './trace-formats.js';
import { readingOf, type TraceFormat, type Transcript, transcriptSchema } from './transcript.js';

// Recorded from the real CLIs in bubblewrap by test/agents/record-traces.ts, all from the same scenarios.
const TRACES = join(import.meta.dirname, 'traces');
const recorded = (format: TraceFormat, name: string): string => join(TRACES, `${format}-${name}.jsonl`);
const structured = traceFormats.filter((format) => format !== 'text');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-trace-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function transcriptOf(format: TraceFormat, content: string | Uint8Array): Promise<Transcript> {
  const path = join(folder, 'trace.jsonl');
  await writeFile(path, content);
  return readTranscript(format, path);
}

const callsOf = (transcript: Transcript) => transcript.turns.flatMap((turn) => turn.calls);

describe.each(structured)('a recorded trace of %s', (format) => {
  test('of an answered run has five turns, four commands with their results, and the totals', async () => {
    const transcript = await readTranscript(format, recorded(format, 'answered'));
    expect(transcriptSchema.parse(transcript)).toEqual(transcript);
    expect(transcript.turns.map(({ text, calls }) => [text, calls.map(({ command }) => command)])).toEqual([
      ['I read the task.', ['cat instruction.md']],
      ['', ['echo out; echo error >&2; exit 3']],
      ['', ['sleep 1']],
      ['', ["printf 'stay_id,sirs\\n30000001,2\\n' > output.csv"]],
      ['Wrote output.csv with one row.', []],
    ]);
    const [reading, failing, ...others] = callsOf(transcript);
    expect(reading?.output).toContain('Write SIRS of each stay to output.csv.');
    expect(reading?.status).toBe('completed');
    // Gemini CLI tells a failing status only of a command that printed nothing.
    if (format === 'gemini') expect(failing).toMatchObject({ status: 'completed', exitCode: null });
    else expect(failing).toMatchObject({ status: 'failed', exitCode: 3 });
    expect(failing?.output).toContain('out');
    expect(failing?.output).toContain('error');
    expect(others.map(({ status }) => status)).toEqual(['completed', 'completed']);
    // The scripted model stated 1000, 1100 … 1400 tokens in, of them 0, 10 … 40 cached, and 50 … 54 out.
    expect(transcript.tokens).toMatchObject({ input: 6000, cachedInput: 100, cacheWrite: 0, output: 260 });
    expect(transcript.ending).toBe('completed');
    expect(transcript.finalText).toBe('Wrote output.csv with one row.');
    expect(transcript.damage).toEqual({ unreadableLines: 0, unknownEvents: 0, cutTexts: 0 });
  });

  test('of a run with retries goes on to its end', async () => {
    const transcript = await readTranscript(format, recorded(format, 'retried'));
    expect(transcript.ending).toBe('completed');
    expect(callsOf(transcript).map(({ command }) => command)).toEqual(['cat instruction.md']);
    expect(transcript.finalText).toBe('Done.');
    // Steps 1 and 3 of `usageOfStep`.
    expect(transcript.tokens).toMatchObject({ input: 2400, cachedInput: 40, output: 104 });
  });

  test('of a killed run holds the command that was running, and no totals', async () => {
    const transcript = await readTranscript(format, recorded(format, 'killed'));
    const commands = callsOf(transcript).map(({ command }) => command);
    // OpenCode tells of a command when it has ended.
    expect(commands).toEqual(
      format === 'opencode' ? ['cat instruction.md'] : ['cat instruction.md', 'sleep 60'],
    );
    expect(transcript.turns).toHaveLength(2);
    expect(transcript.ending).toBe('unstated');
    expect(transcript.tokens).toBeNull();
  });

  test('of a run whose request was refused holds what the provider said', async () => {
    const transcript = await readTranscript(format, recorded(format, 'refused'));
    expect(transcript.errors.join('\n')).toContain('The scenario asked for status 400.');
    expect(transcript.turns).toHaveLength(1);
    expect(transcript.ending).toBe('failed');
  });

  test('is told by itself', async () => {
    for (const name of ['answered', 'retried', 'killed', 'refused'])
      expect(await traceFormatOf(recorded(format, name))).toBe(format);
  });

  test('has times in the order of the turns, or none', async () => {
    const { turns, timing } = await readTranscript(format, recorded(format, 'answered'));
    const starts = turns.flatMap(({ startedAt }) => (startedAt === null ? [] : [Date.parse(startedAt)]));
    expect([...starts].sort((a, b) => a - b)).toEqual(starts);
    expect(timing).toBe(starts.length > 0 ? 'trace' : 'none');
  });
});

describe('all formats', () => {
  test('give transcripts of the same shape', async () => {
    const shapes = await Promise.all(
      structured.map(async (format) => {
        const transcript = await readTranscript(format, recorded(format, 'answered'));
        return {
          transcript: Object.keys(transcript),
          turn: Object.keys(transcript.turns[0]!),
          call: Object.keys(callsOf(transcript)[0]!),
        };
      }),
    );
    for (const shape of shapes) expect(shape).toEqual(shapes[0]);
  });

  test('are named on the command line', () => {
    for (const format of traceFormats) expect(traceFormatNamed(format)).toBe(format);
    expect(() => traceFormatNamed('claud')).toThrow(
      expect.objectContaining({
        code: 'TRACE_FORMAT_UNKNOWN',
        remedy: expect.stringContaining('Did you mean "claude"?'),
      }),
    );
  });

  test('recorded traces hold nothing of the machine that recorded them', async () => {
    for (const name of readdirSync(TRACES)) {
      const text = await readFile(join(TRACES, name), 'utf8');
      expect(text, name).not.toMatch(/\/root|\/home\/(?!agent)|sk-scripted|"\/tmp\/(?!claude|opencode)/);
    }
  });
});

describe.each(traceFormats)('a damaged trace of %s', (format) => {
  test('that does not exist or is empty reads as nothing', async () => {
    for (const transcript of [
      await readTranscript(format, join(folder, 'missing.jsonl')),
      await transcriptOf(format, ''),
    ]) {
      expect(readingOf(transcript)).toEqual({ models: [], turns: 0, commands: [], errors: [] });
      expect(transcript).toMatchObject({ finalText: null, ending: 'unstated', tokens: null });
    }
  });
});

describe.each(structured)('a damaged trace of %s', (format) => {
  test('cut in its last line keeps what stood before', async () => {
    const lines = (await readFile(recorded(format, 'answered'), 'utf8')).trimEnd().split('\n');
    const whole = await readTranscript(format, recorded(format, 'answered'));
    const cut = await transcriptOf(
      format,
      `${lines.slice(0, -1).join('\n')}\n${lines.at(-1)!.slice(0, -20)}`,
    );
    expect(callsOf(cut)).toEqual(callsOf(whole));
    expect(cut.damage.unreadableLines).toBe(1);
  });

  test('with foreign lines, null items, unknown events and wrong types reads past them', async () => {
    const text = await readFile(recorded(format, 'answered'), 'utf8');
    const lines = text.split('\n').flatMap((line) => [...ODD_LINES, line]);
    const transcript = await transcriptOf(format, lines.join('\r\n'));
    const whole = await readTranscript(format, recorded(format, 'answered'));
    expect(transcriptSchema.safeParse(transcript).success).toBe(true);
    const commands = (one: Transcript) => readingOf(one).commands;
    expect(commands(transcript)).toEqual(commands(whole));
    expect(transcript.turns.map((turn) => turn.text).join('')).toBe(
      whole.turns.map((turn) => turn.text).join(''),
    );
    expect(transcript.tokens).toEqual(whole.tokens);
    expect(transcript.damage.unreadableLines).toBeGreaterThan(0);
    expect(transcript.damage.unknownEvents).toBeGreaterThan(0);
  });

  test('never throws, keeps the shape and invents no command, wherever bytes are lost or replaced', async () => {
    const bytes = await readFile(recorded(format, 'answered'));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.nat(600),
        fc.uint8Array({ maxLength: 40 }),
        async (start, removed, inserted) => {
          const transcript = await transcriptOf(
            format,
            Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)]),
          );
          expect(transcriptSchema.safeParse(transcript).success).toBe(true);
          // A changed id may make one call appear twice.
          expect(callsOf(transcript).length).toBeLessThanOrEqual(5);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('reads any JSON objects at all without throwing', async () => {
    const types = (await readFile(recorded(format, 'answered'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...types), fc.jsonValue({ maxDepth: 3 }), fc.nat(20)), {
          maxLength: 20,
        }),
        async (events) => {
          // Real events of which one field, at any depth, is replaced by any value.
          const lines = events.map(([event, value, at]) => JSON.stringify(withReplaced(event, at, value)));
          const transcript = await transcriptOf(format, lines.join('\n'));
          expect(transcriptSchema.safeParse(transcript).success).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** A copy of an object whose n-th field, counted depth first, has another value. */
function withReplaced(event: Record<string, unknown>, n: number, value: unknown): unknown {
  let left = n;
  const visit = (one: unknown): unknown => {
    if (typeof one !== 'object' || one === null) return one;
    if (Array.isArray(one)) return one.map(visit);
    return Object.fromEntries(
      Object.entries(one).map(([key, inner]) => {
        left -= 1;
        return [key, left === -1 ? value : visit(inner)];
      }),
    );
  };
  return visit(event);
}

const ODD_LINES: readonly string[] = [
  'WARNING: proceeding, even though',
  '{"type":"item.completed","item":null}',
  '{"type":"item.started"}',
  '{"type":"item.completed","item":{"id":7,"type":"command_execution","command":{"x":1}}}',
  '{"type":"turn.completed","usage":null}',
  '{"type":"assistant","message":null}',
  '{"type":"assistant","message":{"id":null,"content":[null,7,{"type":"tool_use"}]}}'.replace(
    '{"type":"tool_use"}',
    '{"type":"hologram"}',
  ),
  '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"never called"}]}}',
  '{"type":"message","role":null}',
  '{"type":"tool_result","tool_id":"never called","status":5}',
  '{"type":"message_end","message":null}',
  '{"type":"tool_execution_end","toolCallId":["x"]}',
  '{"type":"tool_use","part":null}',
  '{"type":"step_finish","part":{"tokens":"many"}}',
  '{"type":null}',
  '{"type":"hologram.shown","item":{"type":"hologram"}}',
  '[1,2,3]',
  'null',
  '{"type":"turn.comp',
  '\u0000\u0001',
];

describe('bounds', () => {
  const event = (id: string, command: string): string =>
    JSON.stringify({ type: 'item.completed', item: { id, type: 'command_execution', command } });

  test('an enormous line is skipped, and a long text is cut and says so', async () => {
    const transcript = await transcriptOf(
      'codex',
      [event('a', 'x'.repeat(9 * 1024 * 1024)), event('b', 'y'.repeat(25_000)), event('c', 'ls')].join('\n'),
    );
    expect(callsOf(transcript).map(({ command }) => command)).toEqual([
      `${'y'.repeat(20_000)}\n[5000 more characters]`,
      'ls',
    ]);
    expect(transcript.damage).toEqual({ unreadableLines: 1, unknownEvents: 0, cutTexts: 1 });
    expect(readingOf(transcript).commands).toEqual(['y'.repeat(2_000), 'ls']);
  });

  test('a flood of calls is kept up to a number', async () => {
    const lines = Array.from({ length: 20_100 }, (_, index) => event(String(index), 'ls'));
    const transcript = await transcriptOf('codex', lines.join('\n'));
    expect(callsOf(transcript).length).toBeLessThanOrEqual(20_000);
    expect(transcript.turns.length).toBeLessThanOrEqual(10_000);
  });

  test('absurd counts are taken as none', async () => {
    const usage =
      '{"input_tokens":-5,"cached_input_tokens":1e400,"output_tokens":1.5,"reasoning_output_tokens":"9"}';
    const { tokens } = await transcriptOf('codex', `{"type":"turn.completed","usage":${usage}}\n`);
    expect(tokens).toEqual({ input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 });
  });

  test('plain text is kept as the last words, its end only', async () => {
    const transcript = await transcriptOf('text', `${'a'.repeat(20_000)} the end\n`);
    expect(transcript.finalText).toHaveLength(9_999);
    expect(transcript.finalText?.endsWith('the end')).toBe(true);
    expect(transcript.turns).toEqual([]);
  });
});

describe('Codex', () => {
  test('with its default model, which runs commands from scripts, reads the same way', async () => {
    const transcript = await readTranscript('codex', recorded('codex', 'default-model'));
    expect(callsOf(transcript)).toHaveLength(2);
    expect(transcript.tokens?.input).toBe(3300);
    expect(transcript.errors).toEqual([]);
  });

  test('that ended at a rate limit names it once and states no tokens', async () => {
    const transcript = await readTranscript('codex', recorded('codex', 'rate-limited'));
    const limit = 'exceeded retry limit, last status: 429 Too Many Requests';
    expect(transcript.errors.filter((error) => error === limit)).toHaveLength(1);
    expect(transcript).toMatchObject({ tokens: null, ending: 'failed' });
  });

  test('adds up the usage of several turns of the conversation', async () => {
    const turn = '{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":3}}\n';
    const { tokens } = await transcriptOf('codex', turn.repeat(3));
    expect(tokens).toEqual({ input: 30, cachedInput: 0, cacheWrite: 0, output: 9, reasoning: 0 });
  });
});

describe('Claude Code', () => {
  const said = (id: string, content: unknown): string =>
    JSON.stringify({
      type: 'assistant',
      session_id: 's',
      message: {
        id,
        model: 'claude-x',
        usage: {
          input_tokens: 7,
          cache_read_input_tokens: 20,
          cache_creation_input_tokens: 3,
          output_tokens: 1,
        },
        content,
      },
    });

  test('repeats the usage of a call with every block, and it counts once', async () => {
    const transcript = await transcriptOf(
      'claude',
      [
        said('m1', [{ type: 'thinking', thinking: 'Hm.' }]),
        said('m1', [{ type: 'text', text: 'First.' }]),
        said('m1', [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }]),
        said('m2', [{ type: 'text', text: 'Second.' }]),
      ].join('\n'),
    );
    expect(transcript.turns).toHaveLength(2);
    expect(transcript.turns[0]).toMatchObject({ reasoning: 'Hm.', text: 'First.', model: 'claude-x' });
    // 7 + 20 + 3; the output is not known before the end.
    expect(transcript.turns[0]?.tokens).toEqual({
      input: 30,
      cachedInput: 20,
      cacheWrite: 3,
      output: null,
      reasoning: null,
    });
  });

  test('states totals per model at the end, background models included, and the last statement holds', async () => {
    const end = (haiku: number): string =>
      JSON.stringify({
        type: 'result',
        is_error: false,
        result: 'Done.',
        duration_ms: 1500,
        modelUsage: {
          'claude-x': {
            inputTokens: 10,
            outputTokens: 5,
            cacheReadInputTokens: 4,
            cacheCreationInputTokens: 1,
          },
          'claude-haiku': { inputTokens: haiku, outputTokens: 2 },
        },
      });
    const transcript = await transcriptOf('claude', [said('m1', []), end(1), end(8)].join('\n'));
    expect(transcript.tokens).toEqual({ input: 23, cachedInput: 4, cacheWrite: 1, output: 7, reasoning: 0 });
    expect(transcript.models).toEqual(['claude-x', 'claude-haiku']);
    expect(transcript.seconds).toBe(1.5);
  });

  test('names refused rate limits and model fallbacks as errors', async () => {
    const { errors, models } = await transcriptOf(
      'claude',
      [
        '{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning"}}',
        '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1775545200}}',
        '{"type":"system","subtype":"model_fallback","original_model":"a","fallback_model":"b"}',
      ].join('\n'),
    );
    expect(errors).toEqual(['rate limit: rejected', 'model fallback: a to b']);
    expect(models).toEqual(['b']);
  });

  test('lists the skills that it knows and its version', async () => {
    const transcript = await readTranscript('claude', recorded('claude', 'answered'));
    expect(transcript.skills).toEqual(['sirs-score']);
    expect(transcript.cliVersion).toMatch(/^2\.\d+\.\d+$/);
  });
});

describe('Gemini CLI', () => {
  const used = (id: string, command: string): string =>
    JSON.stringify({
      type: 'tool_use',
      tool_name: 'run_shell_command',
      tool_id: id,
      parameters: { command },
    });
  const result = (id: string, output: string): string =>
    JSON.stringify({ type: 'tool_result', tool_id: id, status: 'success', output });

  test('says the exit status of a silent command in words', async () => {
    const transcript = await transcriptOf(
      'gemini',
      [
        used('a', 'exit 3'),
        result('a', 'Command exited with code: 3'),
        used('b', 'ls'),
        result('b', 'x'),
      ].join('\n'),
    );
    expect(callsOf(transcript).map(({ exitCode, status }) => [exitCode, status])).toEqual([
      [3, 'failed'],
      [null, 'completed'],
    ]);
  });

  test('sends a message in pieces, which are joined without anything between', async () => {
    const piece = (content: string): string =>
      JSON.stringify({ type: 'message', role: 'assistant', content, delta: true });
    const pieces = Array.from('The answer is 4.', piece);
    const transcript = await transcriptOf(
      'gemini',
      [...pieces, used('a', 'ls'), piece('same turn')].join('\n'),
    );
    expect(transcript.turns.map(({ text }) => text)).toEqual(['The answer is 4.same turn']);
  });

  test('leaves thoughts out of its output tokens, and they are what is left of the total', async () => {
    const stats = { total_tokens: 130, input_tokens: 100, output_tokens: 20, cached: 30 };
    const { tokens } = await transcriptOf(
      'gemini',
      JSON.stringify({ type: 'result', status: 'success', stats }),
    );
    // 130 - 100 - 20 thoughts, which are part of the 30 generated.
    expect(tokens).toEqual({ input: 100, cachedInput: 30, cacheWrite: 0, output: 30, reasoning: 10 });
  });
});

describe('Pi', () => {
  const said = (stopReason: string, more: object = {}): string =>
    JSON.stringify({
      type: 'message_end',
      message: {
        role: 'assistant',
        model: 'm',
        timestamp: 1795986007590,
        stopReason,
        usage: { input: 10, output: 2, cacheRead: 5, cacheWrite: 1 },
        content: [{ type: 'thinking', thinking: 'Hm.' }],
        ...more,
      },
    });
  const end = '{"type":"agent_end","messages":[]}';

  test('counts the cached parts beside the input', async () => {
    const transcript = await transcriptOf('pi', [said('stop'), said('stop'), end].join('\n'));
    expect(transcript.tokens).toEqual({ input: 32, cachedInput: 10, cacheWrite: 2, output: 4, reasoning: 0 });
    expect(transcript.turns[0]).toMatchObject({
      reasoning: 'Hm.',
      startedAt: '2026-11-29T21:00:07.590Z',
      tokens: { input: 16, output: 2 },
    });
  });

  test('ends well when a request that failed was tried again', async () => {
    const failed = said('error', { errorMessage: 'overloaded', content: [] });
    const tried = await transcriptOf('pi', [failed, end, said('stop'), end].join('\n'));
    expect(tried).toMatchObject({ ending: 'completed', errors: ['overloaded'] });
    expect(tried.turns).toHaveLength(1);
    expect(await transcriptOf('pi', [said('stop'), failed, end].join('\n'))).toMatchObject({
      ending: 'failed',
    });
  });
});

describe('OpenCode', () => {
  test('counts cached input and reasoning beside the rest', async () => {
    const finish = (reason: string): string =>
      JSON.stringify({
        type: 'step_finish',
        timestamp: 1795986057095,
        part: {
          messageID: 'm1',
          reason,
          tokens: { input: 10, output: 3, reasoning: 2, cache: { read: 5, write: 1 } },
        },
      });
    const transcript = await transcriptOf('opencode', finish('stop'));
    expect(transcript.tokens).toEqual({ input: 16, cachedInput: 5, cacheWrite: 1, output: 5, reasoning: 2 });
    expect(transcript.ending).toBe('completed');
    expect(await transcriptOf('opencode', finish('tool-calls'))).toMatchObject({
      ending: 'unstated',
      tokens: null,
    });
  });
});
