import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CassettePlayer } from '../gateway/cassette-player.js';
import { CassetteRecorder } from '../gateway/cassette-recorder.js';
import { refuseOpenRecording } from '../runs/data-use.js';
import { sandboxOf } from '../sandboxes/sandboxes.js';
import { sha256 } from '../support/hashing.js';
import { auditRun } from './audit-run.js';
import { PLANTED_KEY, playRun, syntheticStays } from './test-run.js';

const bubblewrap = sandboxOf('bubblewrap');
const works = (await bubblewrap.probe()).available;
if (!works) console.warn('Skipped: bubblewrap does not work here');
const pinned = { ...bubblewrap, rootfsDigest: 'sha256:test' };

let home: string;
let path: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'm4bench-replayed-'));
  path = join(home, 'cassettes', 'one');
  if (works) await syntheticStays(home);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const openRecorder = (at: string): Promise<CassetteRecorder> =>
  CassetteRecorder.open(at, {
    providers: [
      {
        name: 'local',
        baseUrl: 'http://127.0.0.1:1',
        apiKey: PLANTED_KEY,
        keyHeader: 'authorization-bearer',
        protocols: ['openai-responses'],
      },
    ],
    benchmarkVersion: '0',
    keptOutOf: [join(home, 'campaigns')],
    guardedFolder: join(home, 'cassettes'),
  });

const auditedReasons = async (folder: string): Promise<readonly string[]> => {
  const { problems, reasons } = await auditRun(folder);
  expect(problems).toEqual([]);
  return reasons;
};

describe.runIf(works)('a run by replay', () => {
  it('ends as the recorded one did, says what it is, and cannot be published', async () => {
    const recorded = await (async () => {
      await using recorder = await openRecorder(path);
      return await playRun({ sandbox: pinned, home, output: { isRight: true }, environment: { recorder } });
    })();
    expect(recorded.result).toMatchObject({ reward: 1, publishable: true, replay: null });
    const bytes = readFileSync(path);
    expect(bytes.includes(PLANTED_KEY)).toBe(false);

    await using player = await CassettePlayer.open(path, { isStrict: true });
    const environment = { player, providers: player.providers };
    const { folder, result } = await playRun({
      sandbox: pinned,
      home,
      trial: 2,
      output: { isRight: true },
      environment,
    });
    expect(result).toMatchObject({
      reward: 1,
      tokens: recorded.result.tokens,
      skill: recorded.result.skill,
      replay: {
        cassette: sha256(bytes),
        isStrict: true,
        answers: 1,
        byTurn: 0,
        left: 0,
        mismatch: null,
      },
      dataUse: { provider: 'cassette', allowed: true },
      publishable: false,
      reasons: ['the answers came from a cassette, not from a model'],
    });
    expect(await auditedReasons(folder)).toEqual(result.reasons);
  });

  it('is unjudged, at once and with the reason, when it asks what was not recorded', async () => {
    await using player = await CassettePlayer.open(path, { isStrict: true });
    const { folder, result } = await playRun({
      sandbox: pinned,
      home,
      trial: 3,
      condition: 'no-skill',
      environment: { player, providers: player.providers },
    });
    expect(result.status).toBe('unjudged');
    expect(result.attempts).toHaveLength(1);
    expect(result.failureReason).toBe(
      'the cassette holds no answer: the request differs from the recorded one of turn 1 in input',
    );
    expect(result.replay).toMatchObject({ answers: 0, left: 1, mismatch: result.failureReason });
    expect(await auditedReasons(folder)).toEqual(result.reasons);
  });
});

describe('the data-use guard', () => {
  const dataset = { name: 'mimic-iv', class: 'credentialed' } as const;

  it('lets credentialed rows be recorded in the folder kept for that, and nowhere else', async () => {
    await using inside = await openRecorder(join(home, 'cassettes', 'two'));
    await using outside = await openRecorder(join(home, 'three'));
    expect(() => refuseOpenRecording(inside, dataset)).not.toThrow();
    expect(() => refuseOpenRecording(outside, dataset)).toThrow(/PhysioNet/);
    expect(() => refuseOpenRecording(outside, { ...dataset, class: 'open' })).not.toThrow();
  });
});
