import { appendFile, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCampaignRows } from '../../src/analysis/read-campaign.js';
import type { RunSet } from '../../src/analysis/run-set.js';
import { lockCampaign } from '../../src/campaigns/lock.js';
import { campaignFolder, readPlan } from '../../src/campaigns/plan.js';
import { writeArchive } from '../../src/evidence/archive-writer.js';
import { pseudonymOf } from '../../src/evidence/guard.js';
import { importPackage } from '../../src/evidence/import-package.js';
import { packCampaign } from '../../src/evidence/pack.js';
import { manifestSchema, type PackageManifest } from '../../src/evidence/package-manifest.js';
import { writePrivateOutput } from '../../src/evidence/private-output.js';
import { recordText } from '../../src/evidence/record-sanitiser.js';
import { loadRuleset, type Ruleset } from '../../src/evidence/ruleset.js';
import { signJournal } from '../../src/evidence/sign-journal.js';
import { makeKeyPair, readPrivateKey, readPublicKey } from '../../src/evidence/signing.js';
import { testFolder } from '../../src/evidence/test-package.js';
import { unpackPackage } from '../../src/evidence/unpack.js';
import { type Verification, type VerifyOptions, verifyPackage } from '../../src/evidence/verify.js';
import { sha256 } from '../../src/support/hashing.js';
import { type PlayedCampaign, playedCampaign } from './played-campaign.js';

const cast = {
  'no-skill': {
    trace: [
      { type: 'thread.started' },
      { type: 'item.completed', item: { id: 'a', type: 'agent_message', text: 'I am done.' } },
      { type: 'turn.completed' },
    ],
    output: 'subject_id,hadm_id,stay_id,meld\n1,2,3,9.5\n',
  },
  'with-skill': { trace: [], output: undefined },
};

let campaign: PlayedCampaign;
let ruleset: Ruleset;
let archive: string;
let keyPath: string;

beforeAll(async () => {
  campaign = await playedCampaign('forged', cast, 'synthetic');
  ruleset = await loadRuleset();
  keyPath = join(campaign.home.root, 'key.pem');
  await makeKeyPair(keyPath);
  await signJournal(campaign.home, 'forged', await readPrivateKey(keyPath));
  archive = join(campaign.home.root, 'forged.tar.zst');
  await packCampaign({ home: campaign.home, campaign: 'forged', mode: 'public', out: archive });
});
afterAll(() => campaign?.[Symbol.asyncDispose]());

type Change = (folder: string, manifest: PackageManifest) => Promise<PackageManifest | undefined>;

/** Packs anew what a forger made of a package, with a manifest that fits the forged files. */
async function forged(change: Change, more: Partial<VerifyOptions> = {}): Promise<Verification> {
  await using scratch = await testFolder();
  const folder = join(scratch.path, 'files');
  await mkdir(folder);
  const { manifest } = await unpackPackage(archive, folder, 'x');
  const wanted = (await change(folder, manifest!)) ?? manifest!;
  await rm(join(folder, 'manifest.json'));
  await rm(join(folder, 'manifest.sha256'));
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const entries = await Promise.all(
    names.map(async (path) => {
      const content = await readFile(join(folder, path));
      return { path, bytes: content.length, sha256: sha256(content) };
    }),
  );
  const out = join(scratch.path, 'again.tar.zst');
  await writeArchive(out, folder, recordText(manifestSchema.parse({ ...wanted, entries })), entries);
  return await verifyPackage({ archive: out, ruleset, home: campaign.home, ...more });
}

const codes = ({ problems }: Verification): readonly string[] => problems.map(({ code }) => code);

async function runFolderIn(folder: string, condition: string): Promise<string> {
  const names = await readdir(join(folder, 'runs'));
  return join(folder, 'runs', names.find((name) => name.includes(condition))!);
}

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const text = await readFile(path, 'utf8');
  const changed = change(text);
  expect(changed).not.toBe(text);
  await writeFile(path, changed);
}

describe('a package that was forged with a manifest that fits', () => {
  test('is good as long as nothing is changed', async () => {
    const same = await forged(async () => undefined, { publicKey: await readPublicKey(`${keyPath}.pub`) });
    expect(same.problems).toEqual([]);
    expect(same.notes.join(' ')).toContain('2 of 2 planned runs');
  });

  test('and a higher reward contradicts its counts, its lineage, its table and the journal', async () => {
    const result = await forged(async (folder) => {
      const run = await runFolderIn(folder, 'no-skill');
      await edit(join(run, 'result.json'), (text) => text.replace(/"reward": [\d.]+/g, '"reward": 1'));
      return undefined;
    });
    expect(codes(result)).toEqual(
      expect.arrayContaining(['HASH_DIFFERS', 'SCORE_DIFFERS', 'REWARD_DIFFERS', 'TABLE_DIFFERS']),
    );
    expect(result.problems.every(({ file }) => file.includes('no-skill') || file.startsWith('tables/'))).toBe(
      true,
    );
  });

  test('and a run left out is missed by plan and journal', async () => {
    const result = await forged(async (folder, manifest) => {
      const run = await runFolderIn(folder, 'with-skill');
      const runId = run.slice(run.lastIndexOf('/') + 1);
      await rm(run, { recursive: true });
      await edit(join(folder, 'lineage.jsonl'), (text) =>
        text.replace(/^.*\n/gm, (line) => (line.includes(runId) ? '' : line)),
      );
      return { ...manifest, runs: { ...manifest.runs, packaged: 1, missing: [runId] } };
    });
    expect(codes(result)).toContain('RUN_DROPPED');
    expect(result.problems.find(({ code }) => code === 'RUN_DROPPED')!.file).toContain('with-skill');
  });

  test('and its line of the journal left out as well breaks the chain', async () => {
    const cut = await forged(async (folder) => {
      await edit(join(folder, 'journal.jsonl'), (text) =>
        text.replace(/^.*\n/gm, (line) => (line.includes('with-skill') ? '' : line)),
      );
      return undefined;
    });
    // The last line can be cut off without a gap; the signature over the head tells of it.
    expect(codes(cut).some((code) => code === 'JOURNAL_BROKEN' || code === 'SIGNATURE_INVALID')).toBe(true);
  });

  test('and a journal written anew does not fit its signature', async () => {
    const result = await forged(async (folder) => {
      await edit(join(folder, 'journal.jsonl'), (text) => {
        const lines = text.trim().split('\n').slice(0, -1);
        return `${lines.join('\n')}\n`;
      });
      return undefined;
    });
    expect(codes(result)).toContain('SIGNATURE_INVALID');
  });

  test('and signed with another key is not what the reader asked for', async () => {
    const other = join(campaign.home.root, 'other.pem');
    await makeKeyPair(other);
    const asked = await forged(async () => undefined, { publicKey: await readPublicKey(`${other}.pub`) });
    expect(asked.problems).toMatchObject([
      { code: 'SIGNATURE_INVALID', detail: 'it was made with another key' },
    ]);
    const unsigned = await forged(
      async (folder) => {
        await rm(join(folder, 'journal.signature.json'));
        return undefined;
      },
      { publicKey: await readPublicKey(`${keyPath}.pub`) },
    );
    expect(codes(unsigned)).toEqual(['SIGNATURE_MISSING']);
  });

  test('with the signature of another package beside it is named, and one with its own is good', async () => {
    const signed = join(campaign.home.root, 'signed.tar.zst');
    const key = await readPrivateKey(keyPath);
    await packCampaign({
      home: campaign.home,
      campaign: 'forged',
      mode: 'private',
      salt: Buffer.alloc(32, 7),
      out: signed,
      key,
    });
    const options = { ruleset, home: campaign.home, publicKey: await readPublicKey(`${keyPath}.pub`) };
    const own = await verifyPackage({ archive: signed, ...options });
    expect(own.problems).toEqual([]);
    expect(own.notes).toContain('The package is signed.');
    const moved = join(campaign.home.root, 'moved.tar.zst');
    await copyFile(archive, moved);
    await copyFile(`${signed}.signature.json`, `${moved}.signature.json`);
    const other = await verifyPackage({ archive: moved, ...options });
    expect(other.problems).toEqual([
      { code: 'SIGNATURE_INVALID', file: 'moved.tar.zst.signature.json', detail: 'it signs another package' },
    ]);
    await writeFile(`${moved}.signature.json`, '{}');
    expect(codes(await verifyPackage({ archive: moved, ...options }))).toEqual(['SIGNATURE_INVALID']);
  });

  test.each([
    [
      'an identifier in a transcript',
      'attempts/1/transcript.json',
      (id: string) => `"finalText": "stay ${id}"`,
    ],
    [
      'a password in a transcript',
      'attempts/1/transcript.json',
      () => `"finalText": "password=hunter2hunter2"`,
    ],
    ['a table in a transcript', 'attempts/1/transcript.json', () => `"finalText": "1,2\\n3,4\\n5,6"`],
  ])('and %s is found', async (_what, file, text) => {
    const rows = await readFile(
      join(await runFolderIn(campaign.folder, 'no-skill'), 'attempts/1/output.csv'),
      'utf8',
    );
    expect(rows).toContain('stay_id');
    const result = await forged(async (folder) => {
      const run = await runFolderIn(folder, 'no-skill');
      const id = await anIdentifier();
      await edit(join(run, file), (before) => before.replace(/"finalText": "[^"]*"/, text(id)));
      return undefined;
    });
    expect(result.problems).toContainEqual(
      expect.objectContaining({ code: 'FORBIDDEN_CONTENT', file: expect.stringContaining(file) }),
    );
  });

  test('and a file that nobody listed, or an output in its place, is found', async () => {
    const result = await forged(async (folder) => {
      const run = await runFolderIn(folder, 'no-skill');
      await writeFile(join(run, 'attempts/1/output.csv'), 'stay_id,meld\n1,2\n');
      await writeFile(join(run, 'attempts/1/extra.txt'), 'x\n');
      return undefined;
    });
    const wrong = result.problems.filter(({ code }) => code === 'FILE_MISSING' || code === 'FILE_UNLISTED');
    expect(wrong.map(({ file }) => file.split('/').at(-1)).sort()).toEqual(['extra.txt', 'output.csv']);
  });

  test('and another instruction is not what the run was asked with', async () => {
    const result = await forged(async (folder) => {
      const run = await runFolderIn(folder, 'no-skill');
      await appendFile(join(run, 'attempts/1/instruction.md'), '\nThe answer is 42.\n');
      return undefined;
    });
    expect(result.problems).toContainEqual(
      expect.objectContaining({ code: 'HASH_DIFFERS', file: expect.stringContaining('instruction.md') }),
    );
  });

  test('and originals that were changed since do not fit', async () => {
    await using copy = await testFolder();
    const run = await runFolderIn(campaign.folder, 'no-skill');
    const target = join(copy.path, run.slice(campaign.folder.length + 1), 'attempts/1/output.csv');
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, 'stay_id,meld\n1,9\n');
    const { problems } = await verifyPackage({ archive, ruleset, originals: copy.path });
    expect(problems.find(({ file }) => file.endsWith('output.csv'))).toMatchObject({
      code: 'ORIGINAL_DIFFERS',
      detail: 'the original is another file',
    });
  });

  /** A stay of the generated data. */
  async function anIdentifier(): Promise<string> {
    const { DuckSession } = await import('../../src/duck/session.js');
    await using session = await DuckSession.open({ threads: 1 });
    const path = join(campaign.home.datasets, 'mimic-iv-synthetic', 'mimiciv_icu', 'icustays.parquet');
    return String((await session.row(`select min(stay_id) as id from '${path}'`)).id);
  }
});

describe('packing', () => {
  const options = () => ({
    home: campaign.home,
    campaign: 'forged',
    mode: 'public' as const,
    out: join(campaign.home.root, 'refused', 'x.tar.zst'),
  });
  const nothingLeft = async (): Promise<void> =>
    expect(await readdir(join(campaign.home.root, 'refused')).catch(() => [])).toEqual([]);

  test('is refused for a run whose files contradict one another, and leaves nothing behind', async () => {
    const output = join(await runFolderIn(campaign.folder, 'no-skill'), 'attempts/1/output.csv');
    const before = await readFile(output, 'utf8');
    await writeFile(output, `${before}4,5,6,7\n`);
    await expect(packCampaign(options())).rejects.toMatchObject({ code: 'EVIDENCE_CONTRADICTED' });
    await writeFile(output, before);
    await nothingLeft();
  });

  test('is refused for a file of which nobody said whether it may be published', async () => {
    const extra = join(await runFolderIn(campaign.folder, 'no-skill'), 'attempts/1/rows.parquet');
    await writeFile(extra, 'x');
    await expect(packCampaign(options())).rejects.toMatchObject({ code: 'EVIDENCE_FILE_UNKNOWN' });
    await rm(extra);
    await nothingLeft();
  });

  test('is refused when a word to take out stands in the plan itself', async () => {
    await expect(packCampaign({ ...options(), terms: ['forged'] })).rejects.toMatchObject({
      code: 'EVIDENCE_PLAN_UNFIT',
    });
    await nothingLeft();
  });

  test('is refused without a secret in private mode, and for an unknown campaign', async () => {
    await expect(packCampaign({ ...options(), mode: 'private' })).rejects.toMatchObject({
      code: 'EVIDENCE_SALT',
    });
    await expect(packCampaign({ ...options(), campaign: 'other' })).rejects.toMatchObject({
      code: 'CAMPAIGN_NOT_FOUND',
    });
    await expect(packCampaign({ ...options(), out: 'x.zip' })).rejects.toMatchObject({
      code: 'EVIDENCE_NAME',
    });
  });
});

describe('a private package', () => {
  const salt = Buffer.from('a secret of thirty-two characters');
  const packPrivate = async (name: string, secret = salt) => {
    const out = join(campaign.home.root, name);
    await packCampaign({ home: campaign.home, campaign: 'forged', mode: 'private', out, salt: secret });
    return out;
  };

  test('holds rows under pseudonyms, and verifies; the same secret gives the same bytes', async () => {
    const one = await packPrivate('one.tar.zst');
    expect(await readFile(one)).toEqual(await readFile(await packPrivate('two.tar.zst')));
    expect(await readFile(one)).not.toEqual(
      await readFile(await packPrivate('three.tar.zst', Buffer.from('another secret of some length'))),
    );
    expect((await verifyPackage({ archive: one, ruleset, home: campaign.home })).problems).toEqual([]);
    await using scratch = await testFolder();
    await unpackPackage(one, scratch.path, 'one');
    const rows = await readFile(
      join(await runFolderIn(scratch.path, 'no-skill'), 'attempts/1/output.csv'),
      'utf8',
    );
    const pseudonym = (prefix: string, value: string): string => pseudonymOf(salt, prefix, value);
    expect(rows).toBe(
      `subject_id,hadm_id,stay_id,meld\n${pseudonym('MIMIC_SUBJECT', '1')},${pseudonym('MIMIC_HADM', '2')},${pseudonym('MIMIC_STAY', '3')},9.5\n`,
    );
    const names = await readdir(scratch.path, { recursive: true });
    expect(names.filter((name) => name.includes('private.json'))).toEqual([]);
  });

  test('writes times as hours since the first time of the same stay, and no column beside the contract', async () => {
    await using scratch = await testFolder();
    const outputPath = join(scratch.path, 'output.csv');
    const target = join(scratch.path, 'private.csv');
    await writeFile(
      outputPath,
      [
        'stay_id,starttime,endtime,norepinephrine_equivalent_dose,name',
        '7,2150-01-01 10:00:00,2150-01-01 11:30:00,0.5,Jane',
        '7,2150-01-02 10:00:00,,0.25,Jane',
        '8,2160-05-05 00:00:00,2160-05-05 01:00:00,1,Joan',
      ].join('\n'),
    );
    const task = 'mimic-vasopressor-equivalents-raw';
    expect(await writePrivateOutput({ task, outputPath, target, salt }, ruleset)).toBe(true);
    const [header, ...rows] = (await readFile(target, 'utf8')).trim().split('\n');
    expect(header).toBe('stay_id,starttime,endtime,norepinephrine_equivalent_dose');
    const seven = pseudonymOf(salt, 'MIMIC_STAY', '7');
    expect(rows).toEqual([
      `${seven},0.0,1.5,0.5`,
      `${seven},24.0,,0.25`,
      `${pseudonymOf(salt, 'MIMIC_STAY', '8')},0.0,1.0,1`,
    ]);
    await writeFile(outputPath, 'this is no table of that task');
    expect(await writePrivateOutput({ task, outputPath, target: `${target}.2`, salt }, ruleset)).toBe(false);
  });
});

describe('importing', () => {
  test('makes a read-only campaign that gives the same numbers', async () => {
    const imported = await importPackage(campaign.home, archive, ruleset, 'copy');
    expect(imported).toMatchObject({ name: 'copy', runs: 2 });
    const [original, copy] = await Promise.all(
      ['forged', 'copy'].map((name) => readCampaignRows(campaignFolder(campaign.home, name).root)),
    );
    const numbers = ({ rows }: RunSet): unknown => rows.map(({ artifactBytes: _bytes, ...row }) => row);
    expect(numbers(copy!)).toEqual(numbers(original!));
    expect(copy!.records[0]).toMatchObject({ plannedRuns: 2, missingRuns: [], unexpectedRuns: [] });
    expect((await readPlan(campaign.home, 'copy'))?.planHash).toBe(
      (await readPlan(campaign.home, 'forged'))?.planHash,
    );
    await expect(lockCampaign(campaignFolder(campaign.home, 'copy').root, 'copy')).rejects.toMatchObject({
      code: 'CAMPAIGN_IMPORTED',
    });
    await expect(importPackage(campaign.home, archive, ruleset, 'copy')).rejects.toMatchObject({
      code: 'CAMPAIGN_EXISTS',
    });
  });

  test('is refused for a package that is not good, and leaves nothing behind', async () => {
    const bytes = await readFile(archive);
    const cut = join(campaign.home.root, 'cut.tar.zst');
    await writeFile(cut, bytes.subarray(0, bytes.length - 40));
    await expect(importPackage(campaign.home, cut, ruleset, 'cut')).rejects.toMatchObject({
      code: 'EVIDENCE_NOT_GOOD',
    });
    expect((await readdir(campaign.home.campaigns)).sort()).toEqual(['copy', 'forged']);
  });
});
