import { describe, expect, test } from 'vitest';
import { callsOf, recorded, transcriptOf } from './test-trace.js';
import { readTranscript } from './trace-formats.js';
import { readingOf } from './transcript.js';

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
