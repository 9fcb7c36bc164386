import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableCandidates, withSandbox } from './test-sandboxes.js';

const isolated = (await availableCandidates()).filter(({ sandbox }) => sandbox.isIsolated);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-inputs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// A file without any test would be an error.
if (isolated.length === 0) it.skip('needs a sandbox that isolates: apt-get install bubblewrap', () => {});

describe.each(isolated)('$name: inputs that cannot be shown', ({ sandbox }) => {
  it.each([
    ['relative/target', 'plain absolute path'],
    ['/tmp/../etc/x', 'plain absolute path'],
    ['/', 'plain absolute path'],
    ['/tmp', 'temporary folder'],
    ['/work/inside', '/work'],
    ['/usr/share/x', '/usr'],
    ['/etc/passwd', '/etc'],
    ['/opt', '/opt/m4bench/bin'],
    ['/home', '/home/agent'],
    ['/proc/x', '/proc'],
  ])('refuses the target %s', async (target, reason) => {
    const prepared = withSandbox(sandbox, { inputs: [{ source: folder, target }] }, async () => 'prepared');
    await expect(prepared).rejects.toMatchObject({
      code: 'SANDBOX_INPUT_INVALID',
      message: expect.stringContaining(reason) as string,
    });
  });

  it.runIf(process.getuid?.() === 0)(
    'says before the run that the agent, as another user, could not read an input',
    async () => {
      mkdirSync(join(folder, 'data'));
      writeFileSync(join(folder, 'data', 'stays.parquet'), '', { mode: 0o600 });
      chmodSync(folder, 0o755);
      await expect(
        withSandbox(sandbox, { inputs: [{ source: folder, target: '/data' }] }, async () => 0),
      ).rejects.toMatchObject({
        code: 'SANDBOX_INPUT_UNREADABLE',
        message: expect.stringContaining('stays.parquet') as string,
        remedy: `Run: chmod -R go+rX ${folder}`,
      });
    },
  );

  it('refuses a source that is not there, and a work file that leaves its folder', async () => {
    const missing = [{ source: join(folder, 'missing'), target: '/data' }];
    await expect(withSandbox(sandbox, { inputs: missing }, async () => 0)).rejects.toMatchObject({
      code: 'SANDBOX_INPUT_INVALID',
    });
    const workFiles = [{ path: '../escape', content: { text: '' } }];
    await expect(withSandbox(sandbox, { workFiles }, async () => 0)).rejects.toMatchObject({
      code: 'WORK_FILE_INVALID',
    });
  });
});
