import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { homeAt } from '../support/home.js';
import { openIndex, readIndex } from './campaign-index.js';
import { JournalWriter, readJournal } from './journal.js';
import { type CampaignFolder, campaignFolder } from './plan.js';
import { recordTestRun, testPlan } from './test-campaign.js';

let root: string;
let folder: CampaignFolder;
const plan = testPlan(3, 2);
const of = { campaign: plan.name, planHash: plan.planHash };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-journal-'));
  folder = campaignFolder(homeAt(root), plan.name);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const kinds = async (): Promise<readonly string[]> =>
  (await readJournal(folder.journal))!.lines.map(({ kind }) => kind);

/** Opens the index as a scheduler does, and closes it. */
async function bringUpToDate(): Promise<ReadonlyMap<string, unknown>> {
  await using index = await openIndex(folder, plan);
  return index.results;
}

async function record(run: number, ...outcomes: Parameters<typeof recordTestRun>[3] & object): Promise<void> {
  const planned = plan.runs[run]!;
  await recordTestRun(join(folder.runs, planned.runId), plan, planned, outcomes.length > 0 ? outcomes : [{}]);
}

describe('the chain', () => {
  test('every line names the hash of the line before it, and the last hash is the head', async () => {
    {
      await using journal = await JournalWriter.open(folder.journal, of);
      await Promise.all(
        ['a', 'b', 'c'].map((runId) => journal.append({ kind: 'error', runId, code: 'X', message: 'y' })),
      );
    }
    const lines = (await readFile(folder.journal, 'utf8')).trimEnd().split('\n');
    const hashes = lines.map((line) => createHash('sha256').update(line).digest('hex'));
    expect(lines.map((line) => (JSON.parse(line) as { previous: string }).previous)).toEqual([
      '0'.repeat(64),
      ...hashes.slice(0, -1),
    ]);
    expect(lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual([1, 2, 3, 4]);
    expect((await readJournal(folder.journal))!.head).toBe(hashes.at(-1));
  });

  test.each([
    ['changed', (lines: string[]) => lines.with(2, lines[2]!.replace('"b"', '"B"')), 4],
    ['removed', (lines: string[]) => lines.toSpliced(2, 1), 3],
    ['put in twice', (lines: string[]) => lines.toSpliced(2, 0, lines[2]!), 4],
    ['replaced by other text', (lines: string[]) => lines.with(1, 'not a line'), 2],
  ])('a line that was %s is refused, by its number', async (_how, damage, line) => {
    {
      await using journal = await JournalWriter.open(folder.journal, of);
      for (const runId of ['a', 'b', 'c'])
        await journal.append({ kind: 'error', runId, code: 'X', message: 'y' });
    }
    const lines = (await readFile(folder.journal, 'utf8')).trimEnd().split('\n');
    await writeFile(folder.journal, `${damage(lines).join('\n')}\n`);
    await expect(readJournal(folder.journal)).rejects.toMatchObject({
      code: 'JOURNAL_BROKEN',
      message: expect.stringContaining(`Line ${line} of`) as string,
    });
  });

  test('a journal of another plan is refused', async () => {
    await (await JournalWriter.open(folder.journal, of))[Symbol.asyncDispose]();
    await expect(
      JournalWriter.open(folder.journal, { campaign: plan.name, planHash: '0'.repeat(64) }),
    ).rejects.toMatchObject({ code: 'JOURNAL_BROKEN' });
  });
});

describe('the index against the files', () => {
  test('a torn last line is cut off, said so, and its run read from its files again', async () => {
    await record(0);
    await record(1);
    await bringUpToDate();
    const whole = await readFile(folder.journal);
    await truncate(folder.journal, whole.length - 20);
    expect((await readIndex(folder, plan)).size).toBe(1);
    expect((await bringUpToDate()).size).toBe(2);
    expect(await kinds()).toEqual(['opened', 'rebuilt', 'result', 'repaired', 'result']);
    await appendFile(folder.journal, '{"sequence":6,"prev');
    await bringUpToDate();
    expect((await kinds()).slice(-1)).toEqual(['repaired']);
  });

  test('a missing journal is made again from the result files, and says that it was', async () => {
    await record(0, { reward: 0.25, tokens: 7, cost: 0.5 });
    await record(3, { class: 'infrastructure', tokens: 100, cost: 2 }, { reward: 1, tokens: 10, cost: 1 });
    const results = await bringUpToDate();
    expect(results.get(plan.runs[0]!.runId)).toMatchObject({
      reward: 0.25,
      seconds: 2,
      spent: { tokens: 7, cost: 0.5 },
    });
    // Two attempts of two seconds; the first was paid for although it does not count.
    expect(results.get(plan.runs[3]!.runId)).toMatchObject({
      attempts: ['infrastructure', 'judged'],
      seconds: 4,
      cost: 1,
      spent: { tokens: 110, cost: 3 },
    });
    expect(await kinds()).toEqual(['opened', 'rebuilt', 'result', 'result']);
    await rm(folder.journal);
    await bringUpToDate();
    expect(await kinds()).toEqual(['opened', 'rebuilt', 'result', 'result']);
  });

  test('a result line names the exact bytes of its file', async () => {
    await record(2);
    await bringUpToDate();
    const bytes = await readFile(join(folder.runs, plan.runs[2]!.runId, 'result.json'));
    const entry = (await readIndex(folder, plan)).get(plan.runs[2]!.runId)!;
    expect(entry.resultSha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(entry.resultBytes).toBe(bytes.length);
  });

  test('a result that is gone is marked lost and its run is open again', async () => {
    await record(0);
    await record(1);
    await bringUpToDate();
    await rm(join(folder.runs, plan.runs[0]!.runId), { recursive: true });
    expect([...(await bringUpToDate()).keys()]).toEqual([plan.runs[1]!.runId]);
    expect((await kinds()).slice(-1)).toEqual(['lost']);
    await bringUpToDate();
    expect((await kinds()).filter((kind) => kind === 'lost')).toHaveLength(1);
  });

  test('a result of other inputs, or broken, is no result', async () => {
    await record(0);
    const path = join(folder.runs, plan.runs[0]!.runId, 'result.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"effort": "auto"', '"effort": "high"'));
    expect((await bringUpToDate()).size).toBe(0);
    await writeFile(path, text.slice(0, 100));
    expect((await bringUpToDate()).size).toBe(0);
  });

  test('nothing new writes nothing', async () => {
    await record(0);
    await bringUpToDate();
    const before = await readFile(folder.journal, 'utf8');
    await bringUpToDate();
    expect(await readFile(folder.journal, 'utf8')).toBe(before);
  });
});
