import { execFile } from 'node:child_process';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { M4BenchError, messageOf } from '../support/errors.js';
import { readJson } from '../support/files.js';
import type { Progress } from '../support/progress.js';
import { AGENTS_IN_ROOTFS } from './rootfs.js';
import { toolsFolder } from './tools.js';

const run = promisify(execFile);

/** `package-lock.json` of npm, version 3, and `node_modules/.package-lock.json`, which has the same form. */
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});
export type PackageLock = z.infer<typeof lockSchema>;

/** An agent CLI as it was installed. */
export interface InstalledAgent {
  /** Name of the npm package. */
  readonly name: string;
  readonly version: string;
  /** Of its archive, as the lock has it: `sha512-…`. */
  readonly integrity: string;
}

const locksFolder = (): string => join(toolsFolder(), 'agents');

/** Agents whose CLI a root file system can hold: those with a lock in `sandbox-tools/agents/`. */
export async function lockedAgents(): Promise<readonly string[]> {
  return (await readdir(locksFolder())).sort();
}

/** What differs between a lock and what npm installed from it, in words; nothing when all of it was locked. */
export function departuresFrom(lock: PackageLock, installed: PackageLock): readonly string[] {
  return Object.entries(installed.packages).flatMap(([path, { version, integrity }]) => {
    const locked = lock.packages[path];
    if (locked === undefined) return [`${path} is not in the lock`];
    if (locked.version !== version) return [`${path} is ${version} and not ${locked.version}`];
    if (locked.integrity === undefined) return [`${path} has no checksum in the lock`];
    return locked.integrity === integrity ? [] : [`${path} has another checksum`];
  });
}

/** The CLI that a lock is for: the one dependency of its `package.json`. */
function cliOf(folder: string, lock: PackageLock, manifest: unknown): InstalledAgent {
  const { dependencies } = z.object({ dependencies: z.record(z.string(), z.string()) }).parse(manifest);
  const [name] = Object.keys(dependencies);
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  if (name !== undefined && version !== undefined && integrity !== undefined)
    return { name, version, integrity };
  throw new M4BenchError(
    'AGENT_LOCK_INVALID',
    `The lock in ${folder} does not pin the program that it is for.`,
    'Make it again with: npm install --package-lock-only',
    { party: 'internal' },
  );
}

/**
 * Installs the CLIs of agents into a root file system with the npm outside, each from its own lock, without running
 * any script of theirs. Not with `npm ci`: it refuses a lock where the registry lacks packages of other platforms.
 * What it promises is checked here instead: nothing but what is locked, by version and checksum.
 */
export async function installAgents(
  root: string,
  names: readonly string[],
  progress: Progress,
): Promise<readonly InstalledAgent[]> {
  const known = await lockedAgents();
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new M4BenchError(
      'AGENT_NOT_LOCKED',
      `There is no lock for an agent ${JSON.stringify(unknown)}.`,
      `Name some of: ${known.join(', ')}.`,
    );
  }
  const installed: InstalledAgent[] = [];
  for (const name of names) {
    progress.update(`agent ${name}`);
    installed.push(await installAgent(join(locksFolder(), name), join(root, AGENTS_IN_ROOTFS, name)));
  }
  return installed;
}

async function installAgent(from: string, folder: string): Promise<InstalledAgent> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  for (const file of ['package.json', 'package-lock.json']) await cp(join(from, file), join(folder, file));
  const lock = lockSchema.parse(await readJson(join(from, 'package-lock.json')));
  const agent = cliOf(from, lock, await readJson(join(from, 'package.json')));
  const words = ['install', '--no-save', '--ignore-scripts', '--omit=dev', '--include=optional'];
  try {
    await run('npm', [...words, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      maxBuffer: 16 * 1024 * 1024,
      // The npm of the running Node, where it has one.
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}` },
    });
  } catch (thrown) {
    throw buildFailure(`npm could not install ${agent.name} (${messageOf(thrown).slice(0, 300)})`, thrown);
  }
  const departures = departuresFrom(
    lock,
    lockSchema.parse(await readJson(join(folder, 'node_modules', '.package-lock.json'))),
  );
  if (departures.length > 0)
    throw buildFailure(`${agent.name} did not come as it is locked: ${departures.slice(0, 3).join('; ')}`);
  return agent;
}

function buildFailure(what: string, cause?: unknown): M4BenchError {
  return new M4BenchError(
    'ROOTFS_BUILD_FAILED',
    `${what}.`,
    'Check that npm is there and its registry can be reached, or build without agents: --agents none.',
    { party: 'environment', ...(cause === undefined ? {} : { cause }) },
  );
}
