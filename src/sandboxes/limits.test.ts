import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableCandidates, play, playScript, processesNaming, withSandbox } from './test-sandboxes.js';

const candidates = await availableCandidates();
const MEGABYTE = 1024 ** 2;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-limits-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A word in a command line by which leftovers can be found. */
const mark = (): string => `m4b-mark-${randomBytes(6).toString('hex')}`;

describe.each(candidates)('$name: limits', ({ sandbox, holdsForkBombs }) => {
  it('end a command at its time limit, grandchildren in sessions of their own included', async () => {
    const name = mark();
    const stubborn = `trap "" TERM INT HUP; while :; do sleep 0.2; done`;
    const played = await playScript(
      sandbox,
      `setsid bash -c '${stubborn}' ${name} & (setsid nohup bash -c '${stubborn}' ${name} >/dev/null 2>&1 &) ; bash -c '${stubborn}' ${name}`,
      // A container takes its own time to come up, and must have set its traps by then.
      { limits: { timeoutSeconds: 4 } },
    );
    expect(played).toMatchObject({ exitCode: null, endedBy: 'time' });
    // Four seconds, then five of grace, since they ignore the request to end.
    expect(played.seconds).toBeGreaterThan(8.5);
    await pause(100);
    expect(processesNaming(name)).toEqual([]);
  });

  it('let a command tidy up after SIGTERM', async () => {
    // Time counts from the start of the sandbox, and a container takes its own to come up.
    await withSandbox(sandbox, { limits: { timeoutSeconds: 4 } }, async (prepared) => {
      const played = await play(prepared, [
        'bash',
        '-c',
        'trap "echo partial > output.csv; exit 0" TERM; while :; do sleep 0.1; done',
      ]);
      expect(played).toMatchObject({ exitCode: null, endedBy: 'time' });
      const report = await prepared.copyOut(join(folder, mark()), { maxFileBytes: 100, maxTotalBytes: 100 });
      expect(report.files).toEqual([{ path: 'output.csv', bytes: 8 }]);
    });
  });

  it('do not count what a finished command leaves running: it is ended with it', async () => {
    const name = mark();
    const played = await playScript(
      sandbox,
      `(setsid nohup bash -c 'while :; do sleep 0.2; done' ${name} >/dev/null 2>&1 &); sleep 0.2; echo done`,
    );
    expect(played).toMatchObject({ exitCode: 0, endedBy: null, stdout: 'done\n' });
    await pause(100);
    expect(processesNaming(name)).toEqual([]);
  });

  it('end a command on abort', async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 300);
    await withSandbox(sandbox, {}, async (prepared) => {
      const played = await play(prepared, ['sleep', '60'], { signal: abort.signal });
      expect(played).toMatchObject({ exitCode: null, endedBy: 'abort' });
      const again = await play(prepared, ['sleep', '60'], { signal: abort.signal });
      expect(again.endedBy).toBe('abort');
    });
  });

  it('end a command that takes too much memory', async () => {
    const script = 'const held = []; setInterval(() => held.push(Buffer.alloc(20 * 1024 * 1024, 1)), 20)';
    const limits = { memoryBytes: 300 * MEGABYTE };
    await withSandbox(sandbox, { limits }, async (prepared) => {
      const played = await play(prepared, ['node', '-e', script]);
      expect(played).toMatchObject({ exitCode: null, endedBy: 'memory' });
    });
  });

  it('do not mistake memory that forked processes share for memory taken twice', async () => {
    // One parent with 100 MB and eight children that only look at it: 100 MB, not 900.
    const script = `held=$(head -c 100M /dev/zero | tr '\\0' a); for i in 1 2 3 4 5 6 7 8; do ( sleep 1.5; : "\${#held}" ) & done; wait; echo done`;
    const limits = { memoryBytes: 400 * MEGABYTE };
    await withSandbox(sandbox, { limits }, async (prepared) => {
      const played = await play(prepared, ['bash', '-c', script]);
      expect(played).toMatchObject({ exitCode: 0, endedBy: null, stdout: 'done\n' });
    });
  });

  it('end a command with too many processes', async () => {
    const name = mark();
    const played = await playScript(
      sandbox,
      `for i in $(seq 150); do bash -c 'sleep 20; :' ${name} & done 2>/dev/null; wait; sleep 20`,
      { limits: { processes: 60 } },
    );
    expect(played).toMatchObject({ exitCode: null, endedBy: 'processes' });
    await pause(100);
    expect(processesNaming(name)).toEqual([]);
  });

  it.runIf(holdsForkBombs)('hold a fork bomb', async () => {
    const name = mark();
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, processesNaming(name).length);
    }, 200);
    const played = await playScript(
      sandbox,
      `exec bash -c 'bomb() { bomb | bomb & }; bomb; sleep 20' ${name} 2>/dev/null`,
      {
        limits: { processes: 80 },
      },
    );
    clearInterval(watch);
    expect(['processes', 'time']).toContain(played.endedBy);
    expect(most).toBeLessThanOrEqual(80);
    await pause(100);
    expect(processesNaming(name)).toEqual([]);
  });

  it('hold one big file at the size of the work folder', async () => {
    await withSandbox(sandbox, { limits: { workBytes: 20 * MEGABYTE } }, async (prepared) => {
      const played = await play(prepared, ['bash', '-c', 'head -c 300M /dev/zero > big; sleep 5']);
      expect(played.endedBy).toBe('disk');
      const report = await prepared.copyOut(join(folder, mark()), { maxFileBytes: 1e9, maxTotalBytes: 1e9 });
      expect(report.files[0]!.bytes).toBeLessThanOrEqual(20 * MEGABYTE);
    });
  });

  it('end a command whose many files together fill the work folder', async () => {
    const played = await playScript(
      sandbox,
      'for i in $(seq 100); do head -c 1M /dev/zero > f$i; sleep 0.02; done; sleep 10',
      { limits: { workBytes: 20 * MEGABYTE } },
    );
    expect(played).toMatchObject({ exitCode: null, endedBy: 'disk' });
  });

  it('end a command that writes too much, and keep exactly what fits', async () => {
    const limits = { streamBytes: 100_000 };
    for (const [script, stream] of [
      ['yes', 'out'],
      ['yes >&2', 'err'],
    ] as const) {
      await withSandbox(sandbox, { limits }, async (prepared) => {
        const paths = { stdoutPath: join(folder, 'out'), stderrPath: join(folder, 'err') };
        const outcome = await prepared.execute({
          command: ['bash', '-c', script],
          environment: {},
          ...paths,
        });
        expect(outcome).toMatchObject({ exitCode: null, endedBy: 'stream' });
        expect(statSync(join(folder, stream)).size).toBe(100_000);
        expect(stream === 'out' ? outcome.stdoutBytes : outcome.stderrBytes).toBeGreaterThan(100_000);
      });
    }
  });

  it('leave alone a command that stays within all of them', async () => {
    const script =
      'head -c 900000 /dev/zero > a; yes | head -c 90000; for i in 1 2 3 4 5; do sleep 0.1 & done; wait';
    const limits = { workBytes: MEGABYTE, streamBytes: 90_000, processes: 60, timeoutSeconds: 5 };
    expect(await playScript(sandbox, script, { limits })).toMatchObject({
      exitCode: 0,
      endedBy: null,
      stdoutBytes: 90_000,
    });
  });
});

describe.each(candidates.filter(({ sandbox }) => sandbox.isIsolated))(
  '$name: streams and scratch space',
  ({ sandbox }) => {
    it('cannot rewrite what was said before', async () => {
      const played = await playScript(
        sandbox,
        'echo first; : > /dev/stdout; truncate -s 0 /proc/self/fd/1; echo second',
      );
      expect(played.stdout).toContain('first\n');
    });

    it('limits what fits into the temporary folders', async () => {
      const limits = { workBytes: 10 * MEGABYTE };
      for (const path of ['/tmp', '/dev/shm', '/home/agent']) {
        const script = `for i in 1 2 3 4; do head -c 5M /dev/zero > ${path}/f$i || exit 9; done`;
        expect(await playScript(sandbox, script, { limits })).toMatchObject({ exitCode: 9, endedBy: null });
      }
    });
  },
);
