import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { M4BenchError, messageOf } from '../support/errors.js';
import { isRunning, listProcesses, signalAll, startTimeOf, treeBelow } from '../support/process-tree.js';
import { createRuntimeFolder, removeTree } from '../support/runtime-folders.js';
import {
  type BubblewrapFeatures,
  type BubblewrapLayout,
  bubblewrapOptions,
  checkInputs,
  checkReadable,
  DESCRIPTORS,
  etcFiles,
  INSIDE_GATEWAY_URL,
  INSIDE_WORK,
  innerCommand,
  type Separation,
} from './bubblewrap-arguments.js';
import { type CopyOutLimits, copyOutOf } from './copy-out.js';
import { userNamespaceAdvice } from './host-advice.js';
import { kernelFile } from './kernel-file.js';
import { type Rootfs, shortDigest } from './rootfs.js';
import type {
  CommandOutcome,
  CommandSpec,
  CopyOutReport,
  LimitName,
  PreparedSandbox,
  Sandbox,
  SandboxAvailability,
  SandboxSpec,
  WorkFile,
} from './sandbox.js';
import { seccompFilter } from './seccomp.js';
import { readStatus, startFailure } from './status.js';
import { supervise } from './supervise.js';
import { toolMounts } from './tools.js';
import { fillWorkFolder, layOutHomeFiles } from './work-folder.js';

const run = promisify(execFile);

interface Installation {
  readonly program: string;
  readonly features: BubblewrapFeatures;
  readonly separation: Separation;
  readonly version: string;
}

/**
 * bubblewrap over a root file system, or over the host's own `/usr`: for development and tests. Without a root file
 * system of its own no run in it is publishable, since what the agent finds there differs from machine to machine.
 */
export function bubblewrapSandbox(rootfs?: Rootfs): Sandbox {
  let found: Promise<Installation | SandboxAvailability> | undefined;
  const installation = (): Promise<Installation | SandboxAvailability> => {
    found ??= findInstallation();
    return found;
  };
  return {
    kind: 'bubblewrap',
    isIsolated: true,
    rootfsDigest: rootfs?.manifest.digest ?? null,
    enforcedLimits: (): readonly LimitName[] => ['time', 'memory', 'processes', 'disk', 'stream'],
    async probe() {
      const state = await installation();
      if (!('program' in state)) return state;
      const place =
        rootfs === undefined ? "the host's /usr" : `root file system ${shortDigest(rootfs.manifest.digest)}`;
      const how = state.separation === 'dropped-user' ? 'as an unprivileged user id' : 'in a user namespace';
      return { available: true, detail: `${state.version}, ${how}, over ${place}` };
    },
    async prepare(spec) {
      const state = await installation();
      if ('program' in state) return BubblewrapRun.create(state, spec, rootfs?.root);
      throw new M4BenchError(
        'SANDBOX_NOT_AVAILABLE',
        `The bubblewrap sandbox does not work here: ${state.detail}.`,
        state.remedy ?? 'Run m4bench doctor.',
        { party: 'environment' },
      );
    },
  };
}

async function findInstallation(): Promise<Installation | SandboxAvailability> {
  const program = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'].find((path) => existsSync(path));
  if (program === undefined) {
    return {
      available: false,
      detail: process.platform === 'linux' ? 'bubblewrap is not installed' : 'bubblewrap needs Linux',
      remedy: 'Install it with: apt-get install bubblewrap',
    };
  }
  const needed = ['/usr/bin/prlimit', '/usr/bin/setpriv', '/bin/bash'].find((path) => !existsSync(path));
  if (needed !== undefined) {
    return {
      available: false,
      detail: `${needed} is missing`,
      remedy: 'Install it with: apt-get install util-linux bash',
    };
  }
  const help = (await run(program, ['--help'])).stdout;
  const version = (await run(program, ['--version'])).stdout.trim();
  const features: BubblewrapFeatures = {
    disablesUserNamespaces: help.includes('--disable-userns'),
    limitsTmpfs: help.includes('--size'),
  };
  // Root never runs an agent in a user namespace: there it would still be the owner of root's files, and the kernel
  // lets that owner write to /proc/sys. It becomes another user instead, and a filter keeps that one from making
  // user namespaces of its own.
  const separation: Separation = process.getuid?.() === 0 ? 'dropped-user' : 'user-namespace';
  if (separation === 'dropped-user' && seccompFilter(process.arch) === undefined) {
    return {
      available: false,
      detail: `there is no system call filter for ${process.arch}, and as root one is needed`,
      remedy: 'Run m4bench as an ordinary user.',
    };
  }
  const unshare =
    separation === 'dropped-user' ? ['--unshare-pid', '--unshare-net'] : ['--unshare-user', '--unshare-all'];
  try {
    await run(program, [...unshare, '--ro-bind', '/', '/', '--proc', '/proc', '--', '/usr/bin/true']);
    return { program, features, separation, version };
  } catch (thrown) {
    return {
      available: false,
      detail: `bubblewrap cannot start here (${messageOf(thrown).slice(0, 300)})`,
      remedy: startRemedy(),
    };
  }
}

/** The usual reason for which a user may not make namespaces, and what lifts it. */
function startRemedy(): string {
  const { ok, remedy } = userNamespaceAdvice(kernelFile);
  return ok
    ? 'Inside a container, allow it to create namespaces (for Docker: --security-opt seccomp=unconfined --cap-add SYS_ADMIN), or use --sandbox process.'
    : remedy;
}

/** One sandbox: a host folder with the work folder and the files bubblewrap needs; a fresh tree of namespaces per command. */
class BubblewrapRun implements PreparedSandbox {
  readonly workPath = INSIDE_WORK;
  readonly gatewayUrl: string | undefined;
  #hasRun = false;
  #running: { kill(): void; readonly ended: Promise<unknown> } | undefined;

  private constructor(
    private readonly installation: Installation,
    private readonly folder: string,
    private readonly layout: BubblewrapLayout,
  ) {
    this.gatewayUrl = layout.gatewaySocket === undefined ? undefined : INSIDE_GATEWAY_URL;
  }

  static async create(
    installation: Installation,
    spec: SandboxSpec,
    rootfs: string | undefined,
  ): Promise<BubblewrapRun> {
    const { separation, features } = installation;
    const tools = toolMounts();
    checkInputs(spec.inputs, separation);
    if (separation === 'dropped-user') tools.forEach(checkReadable);
    const folder = await createRuntimeFolder('sandbox');
    try {
      // An id that no account has; the folder around the work folder keeps everyone else out.
      const uid = separation === 'dropped-user' ? 50_000 + randomInt(10_000) : 1000;
      const workFolder = join(folder, 'work');
      const etcFolder = join(folder, 'etc');
      await mkdir(workFolder, { mode: 0o700 });
      await mkdir(etcFolder, { mode: 0o755 });
      for (const [name, text] of Object.entries(etcFiles(uid))) {
        await writeFile(join(etcFolder, name), text);
        await chmod(join(etcFolder, name), 0o644);
      }
      const limitsFile = join(folder, 'limits.json');
      await writeFile(limitsFile, JSON.stringify(spec.limits), { mode: 0o644 });
      await chmod(limitsFile, 0o644);
      const filter = seccompFilter(process.arch);
      if (filter !== undefined) writeFileSync(join(folder, 'seccomp'), filter, { mode: 0o600 });
      await fillWorkFolder(workFolder, spec.workFiles, separation === 'dropped-user' ? uid : undefined);
      if (separation === 'dropped-user') await chown(workFolder, uid, uid);
      return new BubblewrapRun(installation, folder, {
        separation,
        features,
        uid,
        hasSeccomp: filter !== undefined,
        workFolder,
        etcFolder,
        limitsFile,
        inputs: spec.inputs,
        tools,
        gatewaySocket: spec.gatewaySocket,
        limits: spec.limits,
        rootfs,
      });
    } catch (thrown) {
      await removeTree(folder);
      throw thrown;
    }
  }

  async execute(command: CommandSpec): Promise<CommandOutcome> {
    if (this.#running !== undefined) throw busy();
    this.#hasRun = true;
    // An earlier command may have shut its own folder; the folder around it keeps others out.
    await chmod(this.layout.workFolder, 0o755);
    const homeFilesFolder = await layOutHomeFiles(this.folder, command.homeFiles);
    const layout = homeFilesFolder === undefined ? this.layout : { ...this.layout, homeFilesFolder };
    const { child, bubblewrapStatus, initStatus } = this.#spawn(layout, command);
    let inner: { readonly pid: number; readonly startTime: string | null } | undefined;
    bubblewrapStatus.on('record', ({ 'child-pid': pid }: Record<string, unknown>) => {
      if (typeof pid === 'number') inner = { pid, startTime: startTimeOf(pid) };
    });
    const innerIsRunning = (): boolean => inner !== undefined && isRunning(inner.pid, inner.startTime);
    const tree = (): ReturnType<typeof treeBelow> =>
      child.pid === undefined ? [] : treeBelow(child.pid, listProcesses());
    const kill = (): void => {
      child.kill('SIGKILL');
      if (inner !== undefined && innerIsRunning()) signalAll([inner], 'SIGKILL');
    };
    const ended = supervise(command, {
      child,
      processes: tree,
      // The two bubblewrap processes stay, or the kernel would end all others at once.
      terminate: () =>
        signalAll(
          tree().filter(({ pid }) => pid !== child.pid && pid !== inner?.pid),
          'SIGTERM',
        ),
      kill,
      workFolder: this.layout.workFolder,
      limits: this.layout.limits,
    });
    this.#running = { kill, ended };
    try {
      const { startError, ...outcome } = await ended;
      // The kernel ends the whole pid namespace before its first process counts as dead.
      await initStatus.done;
      while (innerIsRunning()) await new Promise((resolve) => setTimeout(resolve, 2));
      const status = initStatus.told();
      if (startError !== undefined || (status.ready !== true && outcome.endedBy === null))
        throw await startFailure('bubblewrap', startError, command.stderrPath);
      if (outcome.endedBy !== null) return outcome;
      if (typeof status.signal === 'string') return { ...outcome, exitCode: null, signal: status.signal };
      return outcome;
    } finally {
      this.#running = undefined;
      if (homeFilesFolder !== undefined) await removeTree(homeFilesFolder);
    }
  }

  #spawn(
    layout: BubblewrapLayout,
    command: CommandSpec,
  ): {
    child: ChildProcess;
    bubblewrapStatus: ReturnType<typeof readStatus>;
    initStatus: ReturnType<typeof readStatus>;
  } {
    const filter = layout.hasSeccomp ? openSync(join(this.folder, 'seccomp'), 'r') : undefined;
    try {
      const child = spawn(
        this.installation.program,
        ['--args', String(DESCRIPTORS.arguments), '--', ...innerCommand(layout, command.command)],
        {
          cwd: '/',
          env: {},
          stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', filter ?? 'ignore'],
        },
      );
      const pipes = child.stdio as unknown as readonly (Readable | Writable)[];
      const options = pipes[DESCRIPTORS.arguments] as Writable;
      options.on('error', () => {
        // bubblewrap ended early; its status and messages tell why.
      });
      options.end(
        bubblewrapOptions(layout, command)
          .map((word) => `${word}\0`)
          .join(''),
      );
      return {
        child,
        bubblewrapStatus: readStatus(pipes[DESCRIPTORS.bubblewrapStatus] as Readable),
        initStatus: readStatus(pipes[DESCRIPTORS.initStatus] as Readable),
      };
    } finally {
      if (filter !== undefined) closeSync(filter);
    }
  }

  async addWorkFiles(files: readonly WorkFile[]): Promise<void> {
    // A command may leave links where a later file would go.
    if (this.#hasRun) throw busy();
    const { workFolder, separation, uid } = this.layout;
    await fillWorkFolder(workFolder, files, separation === 'dropped-user' ? uid : undefined);
  }

  copyOut(into: string, limits: CopyOutLimits): Promise<CopyOutReport> {
    if (this.#running !== undefined) throw busy();
    return copyOutOf(this.layout.workFolder, into, limits);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#running?.kill();
    await this.#running?.ended.catch(() => {});
    await removeTree(this.folder);
  }
}

function busy(): M4BenchError {
  return new M4BenchError(
    'SANDBOX_BUSY',
    'A command is running, or has run, in this sandbox.',
    'Wait for it to end, or prepare another sandbox.',
    { party: 'internal' },
  );
}
