import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TraceReading } from './agent.js';
import { readCodexTrace } from './codex-trace.js';

// Recorded from version 0.171 against the scripted model, which stated the token counts used below.
const recorded = (name: string): string => join(import.meta.dirname, 'traces', `codex-${name}.jsonl`);

const READ_TASK = "/bin/bash -c 'cat instruction.md'";
const UNKNOWN_MODEL =
  'Model metadata for `scripted` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.';
const ANSWERED: TraceReading = {
  tokens: { input: 6000, cachedInput: 100, cacheWrite: 0, output: 260, reasoning: 35 },
  models: [],
  turns: 1,
  commands: [
    READ_TASK,
    "/bin/bash -c 'ls .codex/skills/sirs-score'",
    "/bin/bash -c 'nosuchcommand --version'",
    `/bin/bash -c "printf 'stay_id,sirs\\\\n30000001,2\\\\n' > output.csv"`,
  ],
  errors: [UNKNOWN_MODEL],
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-trace-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function readingOf(content: string | Uint8Array): Promise<TraceReading> {
  const path = join(folder, 'trace.jsonl');
  await writeFile(path, content);
  return readCodexTrace(path);
}

describe('a recorded trace', () => {
  test('of an answered run gives tokens, commands in order and the notice of the CLI', async () => {
    expect(await readCodexTrace(recorded('answered'))).toEqual(ANSWERED);
  });

  test('of the default model, which runs commands from scripts, reads the same way', async () => {
    const reading = await readCodexTrace(recorded('default-model'));
    expect(reading.commands).toHaveLength(2);
    expect(reading.tokens?.input).toBe(3300);
    expect(reading.errors).toEqual([]);
  });

  test('of a run that ended at a rate limit names it once and states no tokens', async () => {
    const reading = await readCodexTrace(recorded('rate-limited'));
    expect(reading.errors).toEqual([
      UNKNOWN_MODEL,
      'exceeded retry limit, last status: 429 Too Many Requests',
    ]);
    expect(reading.tokens).toBeUndefined();
    expect(reading.turns).toBe(0);
  });

  test('of a run with two broken streams names both', async () => {
    const { errors } = await readCodexTrace(recorded('reconnected'));
    expect(errors.filter((error) => error.startsWith('Reconnecting... 1/5'))).toHaveLength(2);
  });

  test('of a killed run holds the command that was running', async () => {
    const { commands } = await readCodexTrace(recorded('killed'));
    expect(commands).toEqual([READ_TASK, "/bin/bash -c 'sleep 60'"]);
  });
});

describe('a damaged trace', () => {
  test('that does not exist or is empty reads as nothing', async () => {
    const nothing = { models: [], turns: 0, commands: [], errors: [] };
    expect(await readCodexTrace(join(folder, 'missing.jsonl'))).toEqual(nothing);
    expect(await readingOf('')).toEqual(nothing);
  });

  test('cut in its last line keeps what stood before', async () => {
    const text = await readFile(recorded('answered'), 'utf8');
    const reading = await readingOf(text.slice(0, -20));
    expect(reading).toEqual({ models: [], turns: 0, commands: ANSWERED.commands, errors: ANSWERED.errors });
  });

  test('with foreign lines, null items, unknown events and wrong types reads past them', async () => {
    const text = await readFile(recorded('answered'), 'utf8');
    const odd = [
      'WARNING: proceeding, even though',
      '{"type":"item.completed","item":null}',
      '{"type":"item.started"}',
      '{"type":"item.completed","item":{"id":7,"type":"command_execution","command":{"x":1}}}',
      '{"type":"turn.completed","usage":null}',
      '{"type":"turn.failed","error":"text"}',
      '{"type":"error"}',
      '{"type":null}',
      '{"type":"hologram.shown","item":{"type":"hologram"}}',
      '[1,2,3]',
      'null',
      '{"type":"turn.comp',
      '\u0000\u0001',
    ];
    const lines = text.split('\n').flatMap((line) => [...odd, line]);
    const reading = await readingOf(lines.join('\r\n'));
    const oddTurns = lines.filter((line) => line === odd[4]).length;
    expect(reading).toEqual({ ...ANSWERED, turns: 1 + oddTurns });
  });

  test('with absurd counts takes none of them', async () => {
    const usage =
      '{"input_tokens":-5,"cached_input_tokens":1e400,"output_tokens":1.5,"reasoning_output_tokens":"9"}';
    const reading = await readingOf(`{"type":"turn.completed","usage":${usage}}\n`);
    expect(reading.tokens).toEqual({ input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 });
  });

  test('with several turns adds them up', async () => {
    const turn = '{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":3}}\n';
    const reading = await readingOf(turn.repeat(3));
    expect(reading.turns).toBe(3);
    expect(reading.tokens).toEqual({ input: 30, cachedInput: 0, cacheWrite: 0, output: 9, reasoning: 0 });
  });

  test('with an enormous line skips it and cuts long commands to 2,000 characters', async () => {
    const event = (command: string): string =>
      JSON.stringify({
        type: 'item.completed',
        item: { id: command.length, type: 'command_execution', command },
      });
    const reading = await readingOf(
      [event('x'.repeat(9 * 1024 * 1024)), event('y'.repeat(5_000)), event('ls')].join('\n'),
    );
    expect(reading.commands).toEqual(['y'.repeat(2_000), 'ls']);
  });

  test('never throws and never invents a command, wherever bytes are lost or replaced', async () => {
    const bytes = await readFile(recorded('answered'));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(bytes.length - 1),
        fc.nat(400),
        fc.uint8Array({ maxLength: 40 }),
        async (start, removed, inserted) => {
          const damaged = Buffer.concat([
            bytes.subarray(0, start),
            inserted,
            bytes.subarray(start + removed),
          ]);
          const reading = await readingOf(damaged);
          expect(reading.commands.length).toBeLessThanOrEqual(ANSWERED.commands.length + 1);
          expect(reading.turns).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 100 },
    );
  });
});
