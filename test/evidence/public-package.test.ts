import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { datasetsToGuard } from '../../src/evidence/identifiers.js';
import { type Packed, packCampaign } from '../../src/evidence/pack.js';
import { lineageSchema, sanitisationSchema } from '../../src/evidence/package-manifest.js';
import { loadRuleset } from '../../src/evidence/ruleset.js';
import { verifyPackage } from '../../src/evidence/verify.js';
import { type DemoFacts, demoFacts, findings, packageFiles } from './independent-scanner.js';
import { type PlantedLeak, plantedLeaks } from './planted-leaks.js';
import { demoFolder, type PlayedCampaign, playedCampaign } from './played-campaign.js';

const demo = demoFolder();
if (demo === undefined)
  console.warn('Evidence of the open demo is skipped: it is not present (M4BENCH_TEST_DATA).');

describe.skipIf(demo === undefined)('a public package of a campaign on the open demo', () => {
  let campaign: PlayedCampaign;
  let facts: DemoFacts;
  let leaks: readonly PlantedLeak[];
  let packed: Packed;
  let files: ReadonlyMap<string, Buffer>;
  let allBytes: string;

  beforeAll(async () => {
    facts = demoFacts(demo!);
    const ids = [...facts.patients];
    const times = [...facts.times].filter((time) => time.length === 19);
    leaks = plantedLeaks({ id: () => ids.pop()!, time: () => times.splice(times.length >> 1, 1)[0]! });
    const cast = {
      'no-skill': {
        trace: [{ type: 'thread.started' }, ...leaks.map(({ event }) => event), { type: 'turn.completed' }],
        output: `stay_id,meld\n${ids
          .slice(0, 20)
          .map((id, n) => `${id},${n}.5`)
          .join('\n')}\n`,
        stderr: `warning: stay ${ids[0]}\n`,
      },
      'with-skill': { trace: [], output: undefined, failedStarts: 1 },
    };
    campaign = await playedCampaign('planted', cast, 'demo');
    packed = await packCampaign({
      home: campaign.home,
      campaign: 'planted',
      mode: 'public',
      out: join(campaign.home.root, 'planted.tar.zst'),
    });
    files = await packageFiles(packed.archive.path);
    allBytes = [...files].map(([name, bytes]) => `${name}\n${bytes.toString('utf8')}`).join('\n');
  });
  afterAll(() => campaign?.[Symbol.asyncDispose]());

  test('the scanner finds what is planted in the originals', async () => {
    const folder = join(campaign.folder, 'runs');
    const names = await readdir(folder, { recursive: true });
    const traces = names.filter((name) => name.endsWith('trace.jsonl') || name.endsWith('output.csv'));
    const originals = new Map(
      await Promise.all(traces.map(async (name) => [name, await readFile(join(folder, name))] as const)),
    );
    expect(findings(originals, facts).length).toBeGreaterThan(30);
    expect(leaks.length).toBeGreaterThanOrEqual(30);
  });

  test('holds no identifier and no time of the demo', () => {
    expect(findings(files, facts)).toEqual([]);
  });

  test('holds none of the planted leaks', () => {
    const left = leaks.filter(({ needles }) => needles.some((needle) => allBytes.includes(needle)));
    expect(
      left.map(({ shape, needles }) => `${shape}: ${needles.find((needle) => allBytes.includes(needle))}`),
    ).toEqual([]);
  });

  test('is the same byte by byte when it is made again', async () => {
    const out = join(campaign.home.root, 'again', 'planted.tar.zst');
    const again = await packCampaign({ home: campaign.home, campaign: 'planted', mode: 'public', out });
    expect(await readFile(out)).toEqual(await readFile(packed.archive.path));
    expect(again.archive.tarSha256).toBe(packed.archive.tarSha256);
    expect(await readFile(`${out}.sha256`, 'utf8')).toBe(`${packed.archive.sha256}  planted.tar.zst\n`);
    expect((await readdir(join(campaign.home.root, 'again'))).sort()).toEqual([
      'planted.tar.zst',
      'planted.tar.zst.manifest.json',
      'planted.tar.zst.sha256',
    ]);
  });

  test('is found good, with and without the dataset at hand, and against the originals', async () => {
    const ruleset = await loadRuleset();
    const archive = packed.archive.path;
    const atHand = await verifyPackage({
      archive,
      ruleset,
      home: campaign.home,
      originals: campaign.folder,
    });
    expect(atHand.problems).toEqual([]);
    expect(atHand.notes.join(' ')).toContain('No identifier and no date of mimic-iv-demo was found');
    const alone = await verifyPackage({ archive, ruleset });
    expect(alone.problems).toEqual([]);
    expect(alone.notes.join(' ')).toContain('by their shape only');
    // One output was judged; the other run left none.
    expect(alone.scores).toBe(1);
  });

  test('keeps what the agent did: commands, words, the tools that it used', () => {
    const [transcript] = [...files].filter(
      ([name, bytes]) => name.endsWith('transcript.json') && bytes.length > 5000,
    );
    const text = transcript![1].toString('utf8');
    expect(text).toContain('select * from icustays where stay_id = <id>');
    expect(text).toContain('It began on <date> in the ward.');
    expect(text).toMatch(/\[withheld: 3 lines, \d+ bytes\]/);
    expect(text).toContain('<table of 3 rows, 3 columns>');
    // Kinds of events that nobody knows are counted and not kept.
    expect(JSON.parse(text).damage).toMatchObject({ unknownEvents: 2, unreadableLines: 1 });
  });

  test('counts every hit by its rule', () => {
    const report = sanitisationSchema.parse(
      JSON.parse(files.get('evidence/sanitisation.json')!.toString('utf8')),
    );
    const hits = new Map(report.rules.map(({ id, hits: count }) => [id, count]));
    expect(hits.get('identifiers')).toBeGreaterThan(15);
    expect(hits.get('dates')).toBeGreaterThan(7);
    expect(hits.get('tables')).toBeGreaterThan(7);
    expect(hits.get('encoded')).toBeGreaterThan(6);
    const inFiles = report.files.flatMap((file) => Object.values(file.hits)).reduce((sum, n) => sum + n, 0);
    expect(inFiles).toBe([...hits.values()].reduce((sum, n) => sum + n, 0));
  });

  test('says of every file what became of it, also of those that the run did not make', () => {
    const lines = files.get('evidence/lineage.jsonl')!.toString('utf8').trim().split('\n');
    const lineage = lines.map((line) => lineageSchema.parse(JSON.parse(line)));
    expect(lineage).toHaveLength(2);
    const state = (condition: string, attempt: number, file: string) =>
      lineage
        .find(({ runId }) => runId.includes(condition))!
        .attempts.find(({ n }) => n === attempt)!
        .files.find((one) => one.file === file)!;
    expect(state('no-skill', 1, 'output.csv')).toMatchObject({
      state: 'withheld',
      sha256: expect.any(String),
    });
    expect(state('no-skill', 1, 'trace.jsonl')).toMatchObject({ state: 'withheld' });
    expect(state('no-skill', 1, 'transcript.json').state).toBe('redacted');
    expect(state('with-skill', 2, 'output.csv')).toMatchObject({
      state: 'absent',
      reason: 'The agent left no output: no output.csv.',
      sha256: null,
    });
    // The attempt that failed before the agent started is published with its reason.
    expect(state('with-skill', 1, 'output.csv').reason).toContain('the machine did not start');
    expect(state('with-skill', 1, 'attempt.json').state).toBe('packaged');
  });

  test('has a table of all attempts, superseded ones too', () => {
    const [header, ...rows] = files.get('evidence/tables/attempts.csv')!.toString('utf8').trim().split('\n');
    const column = header!.split(',').indexOf('status');
    const ofRetried = rows.filter((row) => row.includes('with-skill')).map((row) => row.split(',')[column]);
    expect(rows).toHaveLength(3);
    expect(ofRetried).toEqual(['superseded', 'counts']);
  });

  test('is refused when the dataset is not at hand, in that content', async () => {
    const wanted = { name: 'mimic-iv-demo', contentHash: '0'.repeat(64) };
    await expect(datasetsToGuard(campaign.home, await loadRuleset(), [wanted])).rejects.toMatchObject({
      code: 'EVIDENCE_DATASET_MISSING',
    });
  });
});
