import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  cleanLeftovers,
  cleanScratchFolders,
  createRuntimeFolder,
  createScratchFolder,
  removeTree,
} from '../support/runtime-folders.js';
import { availableCandidates, processesNaming } from './test-sandboxes.js';

const candidates = await availableCandidates();

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'm4bench-leftovers-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A benchmark process that runs one endless command and says which folder it uses. */
async function startRunner(
  kind: string,
  mark: string,
): Promise<{ readonly runner: ChildProcess; readonly folder: string }> {
  const program = join(scratch, `${kind}.mts`);
  const sandboxes = fileURLToPath(new URL('./sandboxes.ts', import.meta.url));
  writeFileSync(
    program,
    `import { sandboxOf } from ${JSON.stringify(sandboxes)};
const limits = { timeoutSeconds: 60, memoryBytes: 1e9, processes: 100, workBytes: 1e8, streamBytes: 1e6 };
const prepared = await sandboxOf(${JSON.stringify(kind)}).prepare({ inputs: [], workFiles: [], limits });
setTimeout(() => console.log(prepared.folder), 500);
await prepared.execute({
  command: ['bash', '-c', 'while :; do sleep 0.1; done', ${JSON.stringify(mark)}],
  environment: {},
  stdoutPath: ${JSON.stringify(join(scratch, 'out'))},
  stderrPath: ${JSON.stringify(join(scratch, 'err'))},
});
`,
  );
  const runner = spawn(process.execPath, ['--import', 'tsx', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const folder = await new Promise<string>((resolve, reject) => {
    runner.stdout!.once('data', (chunk) => resolve(String(chunk).trim()));
    runner.once('exit', () => reject(new Error('the runner ended early')));
  });
  return { runner, folder };
}

describe('leftovers of a crash', () => {
  it.each(candidates.map(({ sandbox }) => sandbox.kind))(
    'of a %s sandbox are found and removed',
    async (kind) => {
      const mark = `m4b-crash-${kind}-${process.pid}`;
      const { runner, folder } = await startRunner(kind, mark);
      expect(processesNaming(mark).length).toBeGreaterThan(0);
      // Nothing is taken from a process that runs.
      expect(await cleanLeftovers()).not.toContain(folder);
      const ended = new Promise((resolve) => runner.once('exit', resolve));
      runner.kill('SIGKILL');
      await ended;
      await pause(200);
      // bubblewrap dies with its parent; a plain process does not, and is ended by the cleaning.
      if (kind === 'bubblewrap') expect(processesNaming(mark)).toEqual([]);
      expect(existsSync(folder)).toBe(true);
      expect(await cleanLeftovers()).toContain(folder);
      expect(existsSync(folder)).toBe(false);
      await pause(200);
      expect(processesNaming(mark)).toEqual([]);
    },
  );

  it('do not include the folders of this process', async () => {
    const folder = await createRuntimeFolder('gateway');
    utimesSync(folder, 0, 0);
    expect(await cleanLeftovers()).not.toContain(folder);
    expect(existsSync(folder)).toBe(true);
    await removeTree(folder);
    expect(existsSync(folder)).toBe(false);
  });
});

describe('scratch folders', () => {
  it('of killed processes are removed, those of running ones and of others stay', async () => {
    const parent = join(scratch, 'temporary');
    mkdirSync(parent);
    const own = await createScratchFolder('spill', parent);
    writeFileSync(join(own, 'block'), 'x');
    const ended = spawn(process.execPath, ['-e', '']);
    const { pid } = ended;
    await new Promise((resolve) => ended.once('exit', resolve));
    const left = [`m4bench-spill-${pid}.123-abcdef`, `m4bench-attempt-${process.pid}.1-abcDE0`].map((name) =>
      join(parent, name),
    );
    const others = ['m4bench-spill-abcdef', 'm4bench-attempt-x.1-abcdef', 'other-spill-1.1-abcdef'].map(
      (name) => join(parent, name),
    );
    for (const folder of [...left, ...others]) mkdirSync(folder);
    writeFileSync(join(parent, `m4bench-lint-${pid}.1-abcdef`), 'a file');
    expect([...(await cleanScratchFolders(parent))].sort()).toEqual([...left].sort());
    expect(readdirSync(parent)).toHaveLength(others.length + 2);
    expect(existsSync(join(own, 'block'))).toBe(true);
  });
});
