import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { M4BenchError, messageOf } from '../support/errors.js';
import { startTimeOf } from '../support/process-tree.js';
import { OWNER_LABEL, SANDBOX_LABEL } from './container-arguments.js';
import { type Advice, type DockerInfo, dockerAdvice, isVirtualEngine } from './host-advice.js';
import { type Rootfs, shortDigest } from './rootfs.js';
import type { SandboxAvailability } from './sandbox.js';

const run = promisify(execFile);

/** An installed container engine that answers. */
export interface ContainerEngine {
  readonly kind: 'docker' | 'podman';
  readonly program: string;
  readonly version: string;
  /** For people: rootless, control groups. */
  readonly detail: string;
  /** Whether its containers are processes of this machine, and not of a virtual one. */
  readonly sharesProcesses: boolean;
  /** Whether it holds what it is asked to hold; docker only. */
  readonly advice?: Advice;
  /** What the client needs of the user's environment, and nothing else of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Words between the program and its command. */
  readonly globalWords: readonly string[];
}

const CLIENT_VARIABLES = [
  'PATH',
  'HOME',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'CONTAINER_HOST',
  'XDG_RUNTIME_DIR',
];

function clientEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of CLIENT_VARIABLES) if (environment[name] !== undefined) kept[name] = environment[name];
  return kept;
}

/** The engine of a kind, or why there is none and what to do. */
export async function findEngine(
  kind: 'docker' | 'podman',
  processEnvironment: NodeJS.ProcessEnv = process.env,
): Promise<ContainerEngine | SandboxAvailability> {
  const environment = clientEnvironment(processEnvironment);
  const program = (environment.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, kind))
    .find((path) => existsSync(path));
  if (program === undefined) {
    const remedy = `Install it with: apt-get install ${kind === 'docker' ? 'docker.io' : 'podman'}`;
    return { available: false, detail: `${kind} is not installed`, remedy };
  }
  try {
    const format = kind === 'docker' ? '{{json .}}' : 'json';
    const { stdout } = await run(program, ['info', '--format', format], {
      env: environment,
      timeout: 20_000,
    });
    const info = JSON.parse(stdout) as EngineInfo;
    if (info.ServerErrors !== undefined && info.ServerErrors.length > 0)
      throw new Error(info.ServerErrors.join('; '));
    return { kind, program, environment, globalWords: globalWordsOf(kind, info), ...factsOf(kind, info) };
  } catch (thrown) {
    return {
      available: false,
      detail: `${kind} does not answer (${messageOf(thrown).slice(0, 200)})`,
      remedy: remedyFor(kind),
    };
  }
}

interface EngineInfo extends DockerInfo {
  readonly ServerErrors?: readonly string[];
  readonly ServerVersion?: string;
  readonly version?: { readonly Version?: string };
  readonly host?: { readonly cgroupVersion?: string; readonly security?: { readonly rootless?: boolean } };
}

function factsOf(
  kind: 'docker' | 'podman',
  info: EngineInfo,
): Pick<ContainerEngine, 'version' | 'detail' | 'sharesProcesses' | 'advice'> {
  const isRootless =
    kind === 'docker'
      ? (info.SecurityOptions ?? []).some((option) => option.includes('rootless'))
      : info.host?.security?.rootless === true;
  const groups = kind === 'docker' ? info.CgroupVersion : info.host?.cgroupVersion;
  return {
    version: (kind === 'docker' ? info.ServerVersion : info.version?.Version) ?? 'of unknown version',
    detail: `${isRootless ? 'rootless' : 'with a daemon of root'}, control groups ${(groups ?? 'unknown').replace(/^v?/, 'v')}`,
    sharesProcesses: !isVirtualEngine(info, process.platform),
    ...(kind === 'docker' ? { advice: dockerAdvice(info, process.platform) } : {}),
  };
}

/** On control groups v1 (and their hybrid with v2), which crun refuses, podman works with runc where it is there. */
function globalWordsOf(kind: 'docker' | 'podman', info: EngineInfo): readonly string[] {
  if (kind !== 'podman' || info.host?.cgroupVersion !== 'v1') return [];
  const runtime = ['/usr/sbin/runc', '/usr/bin/runc'].find((path) => existsSync(path));
  return runtime === undefined ? [] : ['--runtime', runtime, '--cgroup-manager', 'cgroupfs'];
}

function remedyFor(kind: 'docker' | 'podman'): string {
  if (kind === 'podman') return 'Run podman info to see why.';
  return 'Start the daemon (systemctl start docker, or dockerd), add yourself to the group docker, or set DOCKER_HOST for a rootless one.';
}

/** The image of a root file system, imported where the engine does not have it yet. */
export async function ensureImage(engine: ContainerEngine, rootfs: Rootfs): Promise<string> {
  const image = `localhost/m4bench-rootfs:${shortDigest(rootfs.manifest.digest)}`;
  const options = { env: engine.environment, timeout: 60_000 };
  const isThere = await run(engine.program, ['image', 'inspect', image], options).then(
    () => true,
    () => false,
  );
  if (isThere) return image;
  const tar = spawn('tar', ['-C', rootfs.root, '--numeric-owner', '--owner=0', '--group=0', '-c', '.'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const load = spawn(engine.program, ['import', '-', image], {
    env: engine.environment,
    stdio: [tar.stdout, 'ignore', 'pipe'],
  });
  let said = '';
  load.stderr!.on('data', (chunk) => {
    said += String(chunk);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    tar.once('error', reject);
    load.once('error', reject);
    load.once('close', resolve);
  });
  if (code === 0) return image;
  throw new M4BenchError(
    'IMAGE_IMPORT_FAILED',
    `${engine.kind} did not take the root file system: ${said.trim().slice(0, 300)}.`,
    'Check the free space of its data folder.',
    { party: 'environment' },
  );
}

/** What an engine says to a short command; rejects when it refuses, or takes longer than a minute. */
export function askEngine(
  engine: ContainerEngine,
  words: readonly string[],
): Promise<{ readonly stdout: string }> {
  return run(engine.program, [...engine.globalWords, ...words], {
    env: engine.environment,
    timeout: 60_000,
  });
}

/**
 * Removes containers of processes that are gone, and the volumes of their side-cars; those of running ones stay.
 * Returns their names.
 */
export async function cleanContainers(kind: 'docker' | 'podman'): Promise<readonly string[]> {
  const engine = await findEngine(kind);
  if (!('program' in engine)) return [];
  const removed: string[] = [];
  const clean = async (
    list: readonly string[],
    name: string,
    remove: readonly string[],
    label = `.Label "${OWNER_LABEL}"`,
  ): Promise<void> => {
    const format = `{{.${name}}}\t{{${label}}}`;
    const words = [...list, '--filter', `label=${SANDBOX_LABEL}`, '--format', format];
    const listed = (await askEngine(engine, words)).stdout;
    for (const line of listed.split('\n').filter((text) => text !== '')) {
      const [found, owner = ''] = line.split('\t');
      const [pid, startTime] = owner.split('.');
      if (startTimeOf(Number(pid)) === startTime) continue;
      await askEngine(engine, [...remove, '--force', found!]);
      removed.push(found!);
    }
  };
  await clean(['ps', '--all'], 'Names', ['rm', '--volumes']);
  const ofVolume = kind === 'podman' ? `index .Labels "${OWNER_LABEL}"` : undefined;
  await clean(['volume', 'ls'], 'Name', ['volume', 'rm'], ofVolume);
  return removed;
}
