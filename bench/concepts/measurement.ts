import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/support/home.js';

/** What one build of all concepts cost. */
export interface BuildMeasurement {
  readonly seconds: number;
  /** Processor time of all threads. */
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly tables: readonly {
    readonly table: string;
    readonly rows: number;
    readonly seconds: number;
    /** Processor time; null where several are built at a time. */
    readonly cpuSeconds: number | null;
    /** Peak of resident memory while this table was built; null where several are built at a time. */
    readonly peakBytes: number | null;
  }[];
}

/** Runs a script of this folder in a process of its own and reads the JSON that it prints. */
export async function runApart(script: string, ...options: readonly string[]): Promise<unknown> {
  const path = join(packageRoot(), 'bench', 'concepts', script);
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', path, ...options], {
    cwd: packageRoot(),
    maxBuffer: 64 * 1024 ** 2,
  });
  return JSON.parse(stdout) as unknown;
}
