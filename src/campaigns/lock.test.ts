import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTimeOf } from '../support/process-tree.js';
import { lockCampaign, lockHolder } from './lock.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-lock-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function writeLock(generation: number, owner: Record<string, unknown>): Promise<string> {
  const file = join(root, 'lock', `${generation}.json`);
  await mkdir(join(root, 'lock'), { recursive: true });
  await writeFile(file, JSON.stringify({ token: 'other', startTime: null, ...owner }));
  return file;
}

const quick = { heartbeatMilliseconds: 20, patienceMilliseconds: 80 };

describe('the lock of a campaign', () => {
  test('one holds it, a second is refused, and after it is given back a third may', async () => {
    {
      await using _held = await lockCampaign(root, 'c', quick);
      await expect(lockCampaign(root, 'c', quick)).rejects.toMatchObject({
        code: 'CAMPAIGN_LOCKED',
        message: expect.stringContaining(`process ${process.pid} on ${hostname()}`) as string,
      });
      expect(await lockHolder(root)).toEqual({ pid: process.pid, host: hostname() });
    }
    expect(await lockHolder(root)).toBeUndefined();
    await using _again = await lockCampaign(root, 'c', quick);
    expect(await readdir(join(root, 'lock'))).toEqual(['1.json']);
  });

  test('of many that start at once at most one gets it', async () => {
    const settled = await Promise.allSettled(
      Array.from({ length: 20 }, () => lockCampaign(root, 'c', quick)),
    );
    const held = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(held.length).toBeLessThanOrEqual(1);
    for (const lock of held) await lock[Symbol.asyncDispose]();
    await (await lockCampaign(root, 'c', quick))[Symbol.asyncDispose]();
  });

  test('the lock of a dead process is taken over, even when its number is in use again', async () => {
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    await writeLock(4, { pid: child.pid, startTime: '1', host: hostname() });
    {
      await using _held = await lockCampaign(root, 'c', quick);
      expect(await readdir(join(root, 'lock'))).toEqual(['5.json']);
    }
    await writeLock(7, { pid: process.pid, startTime: '1', host: hostname() });
    await using _held = await lockCampaign(root, 'c', quick);
    expect(await readdir(join(root, 'lock'))).toEqual(['8.json']);
  });

  test('the lock of a living process of this machine is kept however old its file is', async () => {
    const file = await writeLock(1, {
      pid: process.pid,
      startTime: startTimeOf(process.pid),
      host: hostname(),
    });
    await utimes(file, new Date(0), new Date(0));
    await expect(lockCampaign(root, 'c', quick)).rejects.toMatchObject({ code: 'CAMPAIGN_LOCKED' });
  });

  test('of another machine: kept while its file is touched, taken over when it stands still', async () => {
    const file = await writeLock(1, { pid: 1, host: 'another-machine' });
    let seconds = 0;
    const beat = setInterval(() => {
      seconds += 1;
      void utimes(file, seconds, seconds);
    }, 10);
    try {
      await expect(lockCampaign(root, 'c', quick)).rejects.toMatchObject({ code: 'CAMPAIGN_LOCKED' });
    } finally {
      clearInterval(beat);
    }
    await using _held = await lockCampaign(root, 'c', quick);
  });
});
