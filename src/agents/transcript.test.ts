import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attestedSkills } from './attested-skills.js';
import { type MeasuredExchange, readMeasuredExchanges, withGatewayTimes } from './gateway-times.js';
import { readTranscript } from './trace-formats.js';
import type { Transcript } from './transcript.js';
import { escaped, transcriptHtml } from './transcript-html.js';
import { transcriptText } from './transcript-text.js';

let folder: string;
let codex: Transcript;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-transcript-'));
  codex = await readTranscript('codex', join(import.meta.dirname, 'traces', 'codex-answered.jsonl'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** One turn with a call, all of whose texts are the given one. */
function transcriptSaying(text: string): Transcript {
  const call = { ...codex.turns[0]!.calls[0]!, tool: text, command: text, input: text, output: text };
  const turn = { ...codex.turns[0]!, model: text, reasoning: text, text, calls: [call] };
  const names = { models: [text], skills: [text], errors: [text], cliVersion: text, finalText: `${text}!` };
  return { ...codex, ...names, turns: [turn, { ...turn, calls: [{ ...call, command: null }] }] };
}

/** The tags of a page, and the text outside of them. */
function partsOf(html: string): { readonly tags: readonly string[]; readonly text: string } {
  const body = html.slice(html.indexOf('</style>'));
  return { tags: body.match(/<[^>]*>/g) ?? [], text: body.replace(/<[^>]*>/g, '') };
}

describe('the page of a transcript', () => {
  test('shows every turn with its command and result, and the totals', () => {
    const html = transcriptHtml(codex, { title: 'A run' });
    expect(html).toContain('<title>A run</title>');
    expect(html).toContain('6000 in (100 from cache, 0 to cache), 260 out');
    expect(html.match(/<h2>Turn /g)).toHaveLength(5);
    expect(html).toContain('<pre>cat instruction.md</pre>');
    expect(html).toContain('exit status 3');
    expect(html).toContain('Wrote output.csv with one row.');
  });

  test('loads nothing and runs nothing', () => {
    const html = transcriptHtml(codex, { title: 'x' });
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/<(script|img|link|iframe|object)|src=|href=|url\(/i);
  });

  test.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</pre></details></title></style><svg onload=alert(1)>',
    '<!-- ]]> &lt;b&gt;',
    'javascript:alert(1)',
    '\u0000\u001b[31mred\u202Egnirts\ud800',
  ])('shows the hostile text %j as text', (text) => {
    const plain = partsOf(transcriptHtml(transcriptSaying('harmless'), { title: 'harmless' }));
    const html = transcriptHtml(transcriptSaying(text), { title: text });
    expect(partsOf(html).tags).toEqual(plain.tags);
    expect(html).not.toMatch(/[^\P{Cc}\n]|\u202E|\p{Cs}/u);
  });

  test('keeps its tags whatever the agent wrote', () => {
    const plain = partsOf(transcriptHtml(transcriptSaying('harmless'), { title: 'harmless' }));
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const html = transcriptHtml(transcriptSaying(`.${text}`), { title: text });
        expect(partsOf(html).tags).toEqual(plain.tags);
      }),
      { numRuns: 200 },
    );
  });

  test('escapes so that the text can be read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const back = escaped(text)
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        expect(back).toBe(text);
      }),
    );
  });
});

describe('the text of a transcript', () => {
  test('shows commands, results and totals in order', () => {
    const lines = transcriptText(codex).split('\n');
    expect(lines[0]).toContain('5 turns; 6000 tokens in, 260 out');
    expect(lines).toContain('$ cat instruction.md');
    expect(lines).toContain('  Write SIRS of each stay to output.csv.');
    expect(lines).toContain('  [failed, exit status 3]');
    expect(lines.at(-1)).toBe('Wrote output.csv with one row.');
  });

  test('sends no control character to a terminal', () => {
    const text = transcriptText(transcriptSaying('\u001b]0;title\u0007\u009b2J\r\u202Eabc\tdef'));
    expect(text).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
  });
});

describe('times from the gateway', () => {
  const exchange = (second: number, more: Partial<MeasuredExchange> = {}): MeasuredExchange => ({
    startedAt: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`,
    seconds: 2,
    model: 'gpt-x',
    refusal: null,
    failure: null,
    tokens: { input: second, cachedInput: 0, cacheWrite: 0, output: 1, reasoning: 0 },
    ...more,
  });
  const five = [0, 10, 20, 30, 40].map((second) => exchange(second));

  test('go to the turns where there are as many answers as turns', () => {
    const timed = withGatewayTimes(codex, five);
    expect(timed.timing).toBe('gateway');
    expect(timed.turns.map(({ startedAt }) => startedAt)).toEqual(five.map(({ startedAt }) => startedAt));
    expect(timed.turns.map(({ seconds }) => seconds)).toEqual([2, 2, 2, 2, 2]);
    expect(timed.turns.map(({ tokens }) => tokens?.input)).toEqual([0, 10, 20, 30, 40]);
    // From the end of one answer, 2 s after its begin, to the begin of the next.
    expect(timed.turns.map(({ calls }) => calls[0]?.seconds)).toEqual([8, 8, 8, 8, undefined]);
    expect(timed).toMatchObject({ startedAt: five[0]!.startedAt, seconds: 42, models: ['gpt-x'] });
  });

  test('leave failed and refused exchanges out, in whatever order they were logged', () => {
    const others = [
      exchange(5, { failure: 'upstream-status', tokens: null }),
      exchange(6, { refusal: 'path not allowed', tokens: null }),
      exchange(7, { tokens: null }),
    ];
    expect(withGatewayTimes(codex, [...five, ...others].reverse())).toEqual(withGatewayTimes(codex, five));
  });

  test('change nothing where the numbers differ', () => {
    expect(withGatewayTimes(codex, five.slice(1))).toBe(codex);
    expect(withGatewayTimes(codex, [])).toBe(codex);
  });

  test('are read from a log whose damaged lines are passed over', async () => {
    const path = join(folder, 'gateway.jsonl');
    const lines = [JSON.stringify(five[0]), '{"startedAt":"yesterday"}', '{"cut', JSON.stringify(five[1])];
    await writeFile(path, lines.join('\n'));
    expect(await readMeasuredExchanges(path)).toEqual([five[0], five[1]]);
    expect(await readMeasuredExchanges(join(folder, 'missing'))).toEqual([]);
  });
});

test('skills are attested by the list of the CLI and by what was read', async () => {
  const claude = await readTranscript('claude', join(import.meta.dirname, 'traces', 'claude-answered.jsonl'));
  const skill = (name: string, bodyProbe: string) => ({ name, description: 'd', bodyProbe });
  const planted = [
    skill('sirs-score', 'never read'),
    skill('other', 'Write SIRS of\n  each stay to output.csv.'),
    skill('third', ''),
  ];
  // The trace lists `sirs-score`; the second text is what `cat instruction.md` printed.
  expect(attestedSkills(claude, planted)).toEqual({ offered: ['sirs-score', 'other'], opened: ['other'] });
  expect(attestedSkills(codex, planted.slice(0, 1))).toEqual({ offered: [], opened: [] });
});

test('a transcript is made of the recorded bytes alone', async () => {
  const path = join(import.meta.dirname, 'traces', 'codex-answered.jsonl');
  const copy = join(folder, 'elsewhere.txt');
  await writeFile(copy, await readFile(path));
  expect(await readTranscript('codex', copy)).toEqual(codex);
});
