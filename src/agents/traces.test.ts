import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callsOf, RECORDED_TRACES, recorded, transcriptOf } from './test-trace.js';
import { readTranscript, traceFormatNamed, traceFormatOf, traceFormats } from './trace-formats.js';
import { readingOf, type Transcript, transcriptSchema } from './transcript.js';

const structured = traceFormats.filter((format) => format !== 'text');

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
    for (const name of readdirSync(RECORDED_TRACES)) {
      const text = await readFile(join(RECORDED_TRACES, name), 'utf8');
      expect(text, name).not.toMatch(/\/root|\/home\/(?!agent)|sk-scripted|"\/tmp\/(?!claude|opencode)/);
    }
  });
});

describe.each(traceFormats)('a damaged trace of %s', (format) => {
  test('that does not exist or is empty reads as nothing', async () => {
    for (const transcript of [
      await readTranscript(format, join(RECORDED_TRACES, 'missing.jsonl')),
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
