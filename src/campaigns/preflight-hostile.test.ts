import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandboxOf } from '../sandboxes/sandboxes.js';
import { type Home, homeAt } from '../support/home.js';
import { hostileFinding } from './preflight-hostile.js';

const bubblewrap = sandboxOf('bubblewrap');
const works = (await bubblewrap.probe()).available;
const limits = { timeoutSeconds: 1, memoryBytes: 2e9, processes: 200, workBytes: 1e8, streamBytes: 1e6 };

let home: Home;
beforeAll(async () => {
  home = homeAt(await mkdtemp(join(tmpdir(), 'm4bench-hostile-preflight-')));
  await mkdir(home.references, { recursive: true });
});
afterAll(() => rm(home.root, { recursive: true, force: true }));

describe.runIf(works)('the hostile agent before a campaign', () => {
  test('gets out of a sandbox that isolates by no way, and leaves no marker', async () => {
    expect(await hostileFinding(home, { sandbox: bubblewrap, limits }, homedir())).toEqual({
      code: 'HOSTILE',
      state: 'ok',
      detail: expect.stringMatching(/^0 of ([4-9]\d|\d{3,}) attempts to get out of bubblewrap succeeded$/),
      remedy: '',
    });
    expect(await readdir(home.root)).toEqual(['references']);
    expect(await readdir(home.references)).toEqual([]);
  }, 320_000);

  test('is a problem where it gets out, and names by which ways', async () => {
    const finding = await hostileFinding(home, { sandbox: sandboxOf('process'), limits }, homedir());
    expect(finding).toMatchObject({
      state: 'problem',
      detail: expect.stringMatching(/^[1-9]\d+ of \d+ attempts .*find a planted marker.* and \d+ more$/),
      remedy: expect.stringContaining('sandbox check'),
    });
  }, 320_000);

  test('is a problem when it is ended before it has tried all', async () => {
    const cramped = { ...limits, streamBytes: 10 };
    const finding = await hostileFinding(home, { sandbox: sandboxOf('process'), limits: cramped }, homedir());
    expect(finding).toMatchObject({
      state: 'problem',
      detail: 'the hostile agent did not come to its end in process (stream), so that nothing is shown',
    });
  }, 320_000);
});
