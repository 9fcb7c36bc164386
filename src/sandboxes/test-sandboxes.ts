import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeAt } from '../support/home.js';
import { listProcesses } from '../support/process-tree.js';
import { bubblewrapSandbox } from './bubblewrap.js';
import { containerSandbox } from './container.js';
import { processSandbox } from './process.js';
import { currentRootfs } from './rootfs.js';
import type {
  CommandOutcome,
  CommandSpec,
  InputMount,
  PreparedSandbox,
  Sandbox,
  SandboxLimits,
  WorkFile,
} from './sandbox.js';

/** A sandbox that the conformance checks run against. */
export interface Candidate {
  readonly name: string;
  readonly sandbox: Sandbox;
  /** Whether the kernel itself holds the task limit, so that a real fork bomb may be tried. */
  readonly holdsForkBombs: boolean;
}

/**
 * Every sandbox of this version. M4BENCH_TEST_ROOTFS names a home folder with a root file system (`m4bench sandbox
 * build`); then bubblewrap over it, docker and podman are tested as well.
 */
async function everyCandidate(): Promise<readonly Candidate[]> {
  const own: readonly Candidate[] = [
    { name: 'bubblewrap', sandbox: bubblewrapSandbox(), holdsForkBombs: true },
    { name: 'process', sandbox: processSandbox(), holdsForkBombs: false },
  ];
  const home = process.env.M4BENCH_TEST_ROOTFS;
  const rootfs = home === undefined ? undefined : await currentRootfs(homeAt(home));
  if (rootfs === undefined) return own;
  return [
    ...own,
    { name: 'bubblewrap over a root file system', sandbox: bubblewrapSandbox(rootfs), holdsForkBombs: true },
    { name: 'docker', sandbox: containerSandbox('docker', rootfs), holdsForkBombs: true },
    {
      name: 'docker with a side-car',
      sandbox: containerSandbox('docker', rootfs, 'side-car'),
      holdsForkBombs: true,
    },
    { name: 'podman', sandbox: containerSandbox('podman', rootfs), holdsForkBombs: true },
  ];
}

/** The candidates that work here; says plainly which do not. */
export async function availableCandidates(): Promise<readonly Candidate[]> {
  const working: Candidate[] = [];
  for (const candidate of await everyCandidate()) {
    const { available, detail, remedy } = await candidate.sandbox.probe();
    if (available) working.push(candidate);
    else console.warn(`Skipped: ${candidate.name}: ${detail}. ${remedy ?? ''}`);
  }
  return working;
}

export const ROOMY: SandboxLimits = {
  timeoutSeconds: 30,
  memoryBytes: 2 * 1024 ** 3,
  processes: 300,
  workBytes: 200 * 1024 ** 2,
  streamBytes: 4 * 1024 ** 2,
};

export interface Played extends CommandOutcome {
  readonly stdout: string;
  readonly stderr: string;
}

export interface Setting {
  readonly limits?: Partial<SandboxLimits>;
  readonly inputs?: readonly InputMount[];
  readonly workFiles?: readonly WorkFile[];
  readonly gatewaySocket?: string;
}

/** Prepares a sandbox, hands it to the body, and disposes it. */
export async function withSandbox<Result>(
  sandbox: Sandbox,
  setting: Setting,
  body: (prepared: PreparedSandbox) => Promise<Result>,
): Promise<Result> {
  const prepared = await sandbox.prepare({
    inputs: setting.inputs ?? [],
    workFiles: setting.workFiles ?? [],
    limits: { ...ROOMY, ...setting.limits },
    ...(setting.gatewaySocket === undefined ? {} : { gatewaySocket: setting.gatewaySocket }),
  });
  try {
    return await body(prepared);
  } finally {
    await prepared[Symbol.asyncDispose]();
  }
}

/** Runs a command in a prepared sandbox and reads both streams. */
export async function play(
  prepared: PreparedSandbox,
  command: readonly string[],
  more: Partial<Pick<CommandSpec, 'environment' | 'stdin' | 'signal' | 'homeFiles'>> = {},
): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'm4bench-streams-'));
  try {
    const outcome = await prepared.execute({
      command,
      environment: {},
      ...more,
      stdoutPath: join(folder, 'out'),
      stderrPath: join(folder, 'err'),
    });
    const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
    return { ...outcome, stdout: text('out'), stderr: text('err') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs one bash script in a sandbox of its own. */
export function playScript(sandbox: Sandbox, script: string, setting: Setting = {}): Promise<Played> {
  return withSandbox(sandbox, setting, (prepared) => play(prepared, ['/bin/bash', '-c', script]));
}

/** Process ids on this machine whose command line holds a text. */
export function processesNaming(text: string): readonly number[] {
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    });
}
