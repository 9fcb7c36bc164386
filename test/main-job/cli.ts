import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { packageRoot } from '../../src/support/home.js';

/** What one call of the command line left behind. */
export interface CliCall {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line from its sources in a process of its own. */
export async function m4bench(
  home: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CliCall> {
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    ['--import', 'tsx', join(packageRoot(), 'src', 'cli', 'main.ts'), ...words, '--home', home],
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
