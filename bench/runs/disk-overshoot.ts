/**
 * How far over the size of its work folder a command gets that writes as fast as it can, before it is ended.
 *
 *     npx tsx bench/runs/disk-overshoot.ts [--limit-mb N] [--trials N] [--sandbox KIND]… [--rootfs-home DIR]
 *
 * Files of 16 MB, of zeros, two writers at once: the limit of the size of one file plays no part. Printed are the bytes that lie
 * in the work folder when the command has ended, how it ended, and after how many seconds.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { currentRootfs } from '../../src/sandboxes/rootfs.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { homeAt } from '../../src/support/home.js';

const { values: options } = parseArgs({
  options: {
    'limit-mb': { type: 'string', default: '256' },
    trials: { type: 'string', default: '5' },
    sandbox: { type: 'string', multiple: true, default: ['bubblewrap'] },
    'rootfs-home': { type: 'string' },
  },
});
const MEGABYTE = 1024 ** 2;
const limit = Number(options['limit-mb']) * MEGABYTE;
const WRITER = `write() { for at in $(seq 4000); do head -c 16M /dev/zero > $1-$at || sleep 0.2; done; }; write a & write b; wait`;
const run = promisify(execFile);

const folder = await mkdtemp(join(tmpdir(), 'm4bench-overshoot-'));
try {
  console.log(`load ${loadavg()[0]!.toFixed(1)}, limit ${limit / MEGABYTE} MB`);
  const rootfsHome = options['rootfs-home'];
  const rootfs = rootfsHome === undefined ? undefined : await currentRootfs(homeAt(rootfsHome));
  for (const kind of options.sandbox) {
    for (let trial = 0; trial < Number(options.trials); trial += 1) {
      await using prepared = await sandboxOf(kind, rootfs).prepare({
        inputs: [],
        workFiles: [],
        limits: { timeoutSeconds: 60, memoryBytes: 4e9, processes: 100, workBytes: limit, streamBytes: 1e6 },
      });
      const { endedBy, seconds } = await prepared.execute({
        command: ['/bin/bash', '-c', WRITER],
        environment: {},
        stdoutPath: join(folder, 'out'),
        stderrPath: join(folder, 'err'),
      });
      const { folder: host } = prepared as unknown as { readonly folder: string };
      const { stdout } = await run('du', ['-sm', join(host, 'work')]);
      const held = Number(stdout.split('\t')[0]);
      console.log(
        `${kind}: ended by ${endedBy} after ${seconds.toFixed(2)} s with ${held} MB, ${(held - limit / MEGABYTE).toFixed(0)} MB over`,
      );
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
