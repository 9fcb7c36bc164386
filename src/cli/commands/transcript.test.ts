import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { transcriptSchema } from '../../agents/transcript.js';
import { packageRoot } from '../../support/home.js';
import { transcriptCommand } from './transcript.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-transcript-command-'));
  const recorded = join(packageRoot(), 'src', 'agents', 'traces', 'codex-answered.jsonl');
  await copyFile(recorded, join(folder, 'trace.jsonl'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the command as part of a program, and gives back what it printed. */
async function printed(...words: readonly string[]): Promise<string> {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const program = new Command().option('--json').exitOverride().addCommand(transcriptCommand());
  await program.parseAsync(['transcript', ...words], { from: 'user' });
  return written.join('');
}

test('prints a trace, named by itself or by the folder of its attempt', async () => {
  const text = await printed(join(folder, 'trace.jsonl'));
  expect(text).toContain('$ cat instruction.md');
  expect(await printed(folder)).toBe(text);
});

test('prints one JSON document with --json, with the times of the gateway log beside it', async () => {
  const exchange = (second: number) => ({
    startedAt: `2026-01-01T00:00:0${second}.000Z`,
    seconds: 1,
    model: 'gpt-x',
    refusal: null,
    failure: null,
    tokens: { input: 1, cachedInput: 0, cacheWrite: 0, output: 1, reasoning: 0 },
  });
  const log = [0, 2, 4, 6, 8].map((second) => JSON.stringify(exchange(second))).join('\n');
  await writeFile(join(folder, 'gateway.jsonl'), log);
  const transcript = transcriptSchema.parse(JSON.parse(await printed('--json', folder)));
  expect(transcript).toMatchObject({ format: 'codex', timing: 'gateway', models: ['gpt-x'] });
});

test('writes a page beside the trace, or where it is told', async () => {
  expect(await printed(folder, '--html')).toContain('trace.html (5 turns, format codex)');
  const page = join(folder, 'pages', 'run.html');
  await printed(folder, '--html', page);
  expect(await readFile(page, 'utf8')).toContain('<pre>cat instruction.md</pre>');
});

test('refuses what is no trace, and a format that it does not know', async () => {
  await mkdir(join(folder, 'empty'));
  for (const words of [[join(folder, 'empty')], [join(folder, 'missing.jsonl')]])
    await expect(printed(...words)).rejects.toThrow(expect.objectContaining({ code: 'TRACE_NOT_FOUND' }));
  await expect(printed(folder, '--format', 'codx')).rejects.toThrow(
    expect.objectContaining({ code: 'TRACE_FORMAT_UNKNOWN' }),
  );
});
