import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { build } from 'tsup';
import { packageRoot } from '../../src/support/home.js';

/** What one call of the command line left behind. */
export interface CliCall {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

let bundled: Promise<string> | undefined;

/**
 * The command line in one file, built once per test file: it starts in a quarter of the time that the sources take.
 * The file lies in the repository, since the program finds its content from where it is.
 */
export function bundledCli(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const cache = join(packageRoot(), '.cache');
  await removeThoseOfDeadProcesses(cache);
  const folder = join(cache, `cli-${process.pid}-${randomBytes(4).toString('hex')}`);
  await build({
    config: false,
    entry: { main: join(packageRoot(), 'src', 'cli', 'main.ts') },
    outDir: folder,
    format: ['esm'],
    platform: 'node',
    target: 'node20',
    silent: true,
    // `npm run test:coverage` counts what the processes run, and needs the way back to the sources.
    sourcemap: process.env.NODE_V8_COVERAGE !== undefined,
  });
  return join(folder, 'main.js');
}

async function removeThoseOfDeadProcesses(cache: string): Promise<void> {
  for (const name of await readdir(cache).catch(() => [])) {
    const pid = /^cli-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      await rm(join(cache, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Runs the command line in a process of its own. */
export async function m4bench(
  home: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CliCall> {
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    [await bundledCli(), ...words, '--home', home],
    { cwd: packageRoot(), env: environment, reject: false, stdin: 'ignore' },
  );
  return { exitCode, stdout, stderr };
}

/** Starts the command line and kills it with SIGKILL after a while; true when it was still running. */
export async function m4benchKilledAfter(
  home: string,
  words: readonly string[],
  milliseconds: number,
): Promise<boolean> {
  const child = execa(
    process.execPath,
    ['--import', 'tsx', join(packageRoot(), 'src', 'cli', 'main.ts'), ...words, '--home', home],
    { cwd: packageRoot(), reject: false, stdin: 'ignore', timeout: milliseconds, killSignal: 'SIGKILL' },
  );
  return (await child).timedOut;
}

/** Folder with the open demo data and their expected results, or undefined where they are not. */
export function testData(): string | undefined {
  const folder = resolve(process.env.M4BENCH_TEST_DATA ?? join(packageRoot(), '..', 'shared'));
  return existsSync(join(folder, 'data', 'mimic-iv-demo')) ? folder : undefined;
}
