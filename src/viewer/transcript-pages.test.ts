import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transcript, Turn } from '../agents/transcript.js';
import { TranscriptStore, transcriptPage, turnPart } from './transcript-pages.js';

const turnWith = (text: string, output = ''): Turn => ({
  model: null,
  startedAt: null,
  seconds: null,
  tokens: null,
  reasoning: '',
  text,
  calls: [
    {
      tool: 'shell',
      command: `echo ${text}`,
      input: '',
      output,
      exitCode: 0,
      status: 'completed',
      startedAt: null,
      seconds: null,
    },
  ],
});

const transcriptOf = (turns: Turn[]): Transcript => ({
  schemaVersion: 1,
  format: 'codex',
  cliVersion: null,
  models: [],
  skills: [],
  startedAt: null,
  seconds: null,
  turns,
  tokens: null,
  finalText: null,
  errors: [],
  ending: 'completed',
  timing: 'none',
  damage: { unreadableLines: 0, unknownEvents: 0, cutTexts: 0 },
});

/** Numbers of all turns, page by page. */
function pagesOf(transcript: Transcript, search = ''): readonly (readonly number[])[] {
  const { pages } = transcriptPage(transcript, { page: 1, search });
  return Array.from({ length: pages }, (_, page) =>
    transcriptPage(transcript, { page: page + 1, search }).turns.map(({ number }) => number),
  );
}

describe('pages of a transcript', () => {
  it('hold every turn once, at most 100 on a page', () => {
    const pages = pagesOf(transcriptOf(Array.from({ length: 250 }, (_, turn) => turnWith(`t${turn}`))));
    expect(pages.map((page) => page.length)).toEqual([100, 100, 50]);
    expect(pages.flat()).toEqual(Array.from({ length: 250 }, (_, turn) => turn + 1));
  });

  it('are shorter where turns are long; a turn counts with what is shown of it', () => {
    // 6,000 characters of each output are shown: 19 turns of about 6,200 stay under 120,000.
    const pages = pagesOf(transcriptOf(Array.from({ length: 40 }, () => turnWith('t', 'x'.repeat(20_000)))));
    expect(pages.map((page) => page.length)).toEqual([19, 19, 2]);
  });

  it('of a search hold the turns with the words, wherever they stand', () => {
    const transcript = transcriptOf([
      turnWith('a'),
      turnWith('b', 'Sepsis'),
      turnWith('SEPSIS'),
      turnWith('d'),
    ]);
    expect(pagesOf(transcript, 'sepsis')).toEqual([[2, 3]]);
    expect(pagesOf(transcript, 'nothing')).toEqual([[]]);
  });

  it('are bounded: a page beyond the last is the last', () => {
    const transcript = transcriptOf([turnWith('a')]);
    expect(transcriptPage(transcript, { page: 99, search: '' })).toMatchObject({ page: 1, pages: 1 });
    expect(transcriptPage(transcriptOf([]), { page: 1, search: '' })).toMatchObject({ page: 1, pages: 1 });
  });

  it('lead to the whole of what they cut', () => {
    const transcript = transcriptOf([turnWith('a', 'x'.repeat(9_000))]);
    expect(turnPart(transcript, 1, 1, 'output')).toHaveLength(9_000);
    expect(turnPart(transcript, 1, 2, 'output')).toBeUndefined();
    expect(turnPart(transcript, 2, null, 'text')).toBeUndefined();
  });
});

describe('transcripts of attempts', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4b-transcripts-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('are the normalised file where there is one, else read from the trace, else absent', async () => {
    const store = new TranscriptStore();
    const [withFile, withTrace, without] = ['file', 'trace', 'none'].map((name) => join(folder, name));
    for (const place of [withFile, withTrace, without]) await mkdir(place!);
    await writeFile(join(withFile!, 'transcript.json'), JSON.stringify(transcriptOf([turnWith('kept')])));
    await writeFile(join(withTrace!, 'trace.jsonl'), 'plain words\n');
    expect((await store.read(withFile!))?.turns[0]?.text).toBe('kept');
    expect(await store.read(withTrace!)).toMatchObject({ format: 'text', finalText: 'plain words' });
    expect(await store.read(without!)).toBeUndefined();
  });

  it('are read again when they grew, as while a run goes on', async () => {
    const store = new TranscriptStore();
    const place = join(folder, 'growing');
    await mkdir(place);
    await writeFile(join(place, 'trace.jsonl'), 'one\n');
    expect((await store.read(place))?.finalText).toBe('one');
    await writeFile(join(place, 'trace.jsonl'), 'one\ntwo\n');
    expect((await store.read(place))?.finalText).toBe('one\ntwo');
  });
});
