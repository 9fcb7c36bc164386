import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { M4BenchError } from '../support/errors.js';
import { listProcesses, signalAll, startTimeOf, treeBelow } from '../support/process-tree.js';
import { createRuntimeFolder, removeTree } from '../support/runtime-folders.js';
import { checkInputs, checkReadable, INSIDE_GATEWAY_URL, INSIDE_WORK } from './bubblewrap-arguments.js';
import { type ContainerLayout, containerArguments } from './container-arguments.js';
import { type ContainerEngine, ensureImage, findEngine } from './container-engine.js';
import { type CopyOutLimits, copyOutOf } from './copy-out.js';
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

/** A container of docker or podman per command, over the root file system. */
export function containerSandbox(kind: 'docker' | 'podman', rootfs?: Rootfs): Sandbox {
  let found: Promise<ContainerEngine | SandboxAvailability> | undefined;
  const engine = async (): Promise<ContainerEngine | SandboxAvailability> => {
    found ??= findEngine(kind);
    const state = await found;
    if (rootfs !== undefined || !('program' in state)) return state;
    return {
      available: false,
      detail: `${kind} ${state.version} is there, and no root file system has been built`,
      remedy: 'Build one with: m4bench sandbox build',
    };
  };
  return {
    kind,
    isIsolated: true,
    rootfsDigest: rootfs?.manifest.digest ?? null,
    enforcedLimits: (): readonly LimitName[] => ['time', 'memory', 'processes', 'disk', 'stream'],
    async probe() {
      const state = await engine();
      if (!('program' in state)) return state;
      const detail = `${kind} ${state.version}, ${state.detail}, root file system ${shortDigest(rootfs!.manifest.digest)}`;
      return { available: true, detail };
    },
    async prepare(spec) {
      const state = await engine();
      if ('program' in state) return ContainerRun.create(state, rootfs!, spec);
      throw new M4BenchError(
        'SANDBOX_NOT_AVAILABLE',
        `The ${kind} sandbox does not work here: ${state.detail}.`,
        state.remedy ?? 'Run m4bench doctor.',
        { party: 'environment' },
      );
    },
  };
}

/** The first connection to a socket of ours as a stream; later ones are turned away. */
async function statusSocket(path: string): Promise<{ readonly source: PassThrough; close(): void }> {
  const source = new PassThrough();
  let first: Socket | undefined;
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    if (first !== undefined) {
      socket.destroy();
      return;
    }
    first = socket;
    socket.pipe(source);
    socket.once('close', () => source.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
  await chmod(path, 0o666);
  return {
    source,
    close() {
      server.close();
      first?.destroy();
      source.destroy();
    },
  };
}

class ContainerRun implements PreparedSandbox {
  readonly workPath = INSIDE_WORK;
  readonly gatewayUrl: string | undefined;
  #hasRun = false;
  #running: { kill(): void; readonly ended: Promise<unknown> } | undefined;

  private constructor(
    private readonly engine: ContainerEngine,
    private readonly folder: string,
    private readonly layout: Omit<ContainerLayout, 'name' | 'statusSocket'>,
  ) {
    this.gatewayUrl = layout.gatewaySocket === undefined ? undefined : INSIDE_GATEWAY_URL;
  }

  static async create(engine: ContainerEngine, rootfs: Rootfs, spec: SandboxSpec): Promise<ContainerRun> {
    checkInputs(spec.inputs, 'dropped-user');
    const tools = toolMounts();
    tools.forEach(checkReadable);
    const image = await ensureImage(engine, rootfs);
    const folder = await createRuntimeFolder('sandbox');
    try {
      const ownId = process.getuid?.() ?? 1000;
      // As root, an id that no account has; the folder around the work folder keeps everyone else out.
      const uid = ownId === 0 ? 50_000 + randomInt(10_000) : ownId;
      const workFolder = join(folder, 'work');
      await mkdir(workFolder, { mode: 0o755 });
      const limitsFile = join(folder, 'limits.json');
      await writeFile(limitsFile, JSON.stringify(spec.limits));
      await chmod(limitsFile, 0o644);
      const filter = seccompFilter(process.arch);
      const filterFile = filter === undefined ? undefined : join(folder, 'seccomp');
      if (filter !== undefined) {
        await writeFile(join(folder, 'seccomp'), filter);
        await chmod(join(folder, 'seccomp'), 0o644);
      }
      await fillWorkFolder(workFolder, spec.workFiles, ownId === 0 ? uid : undefined);
      if (ownId === 0) await chown(workFolder, uid, uid);
      return new ContainerRun(engine, folder, {
        kind: engine.kind,
        image,
        owner: `${process.pid}.${startTimeOf(process.pid) ?? ''}`,
        uid,
        workFolder,
        limitsFile,
        filterFile,
        gatewaySocket: spec.gatewaySocket,
        inputs: spec.inputs,
        tools,
        limits: spec.limits,
      });
    } catch (thrown) {
      await removeTree(folder);
      throw thrown;
    }
  }

  async execute(command: CommandSpec): Promise<CommandOutcome> {
    if (this.#running !== undefined) throw busy();
    this.#hasRun = true;
    // An earlier command may have shut its own folder.
    await chmod(this.layout.workFolder, 0o755);
    const name = `m4b-${randomBytes(6).toString('hex')}`;
    const socketPath = join(this.folder, `${name.slice(4)}.s`);
    const homeFilesFolder = await layOutHomeFiles(this.folder, command.homeFiles);
    const channel = await statusSocket(socketPath);
    const layout = {
      ...this.layout,
      name,
      statusSocket: socketPath,
      ...(homeFilesFolder === undefined ? {} : { homeFilesFolder }),
    };
    try {
      return await this.#play(command, layout, readStatus(channel.source));
    } finally {
      if (homeFilesFolder !== undefined) await removeTree(homeFilesFolder);
      this.#running = undefined;
      channel.close();
      await this.#engine(['rm', '--force', '--volumes', name]).catch(() => {});
    }
  }

  async #play(
    command: CommandSpec,
    layout: ContainerLayout,
    status: ReturnType<typeof readStatus>,
  ): Promise<CommandOutcome> {
    const { name } = layout;
    const words = [...this.engine.globalWords, ...containerArguments(layout, command)];
    const child: ChildProcess = spawn(this.engine.program, words, {
      cwd: '/',
      env: this.engine.environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let innerPid: number | undefined;
    status.once('record', () => {
      // Where the engine runs in a machine of its own, its process ids say nothing here, and its limits hold alone.
      if (this.engine.sharesProcesses)
        this.#engine(['inspect', '--format', '{{.State.Pid}}', name])
          .then(({ stdout }) => {
            innerPid = Number(stdout) || undefined;
          })
          .catch(() => {});
    });
    const tree = (): ReturnType<typeof treeBelow> =>
      innerPid === undefined ? [] : treeBelow(innerPid, listProcesses());
    let hasExited = false;
    child.once('exit', () => {
      hasExited = true;
    });
    const kill = (): void => {
      if (hasExited) return;
      this.#engine(['kill', name]).catch(() => child.kill('SIGKILL'));
    };
    const ended = supervise(command, {
      child,
      processes: tree,
      terminate: () =>
        signalAll(
          tree().filter(({ pid }) => pid !== innerPid),
          'SIGTERM',
        ),
      kill,
      workFolder: this.layout.workFolder,
      limits: this.layout.limits,
    });
    this.#running = { kill, ended };
    const { startError, ...outcome } = await ended;
    const state = await this.#stateOf(name);
    const told = status.told();
    if (startError !== undefined || (told.ready !== true && outcome.endedBy === null))
      throw await startFailure(this.engine.kind, startError, command.stderrPath);
    if (outcome.endedBy !== null) return outcome;
    // Engines miss it when their first process lives on.
    const hasRunOut = state?.OOMKilled === true || told.outOfMemory === true;
    if (hasRunOut && outcome.exitCode !== 0) return { ...outcome, exitCode: null, endedBy: 'memory' };
    if (typeof told.signal === 'string') return { ...outcome, exitCode: null, signal: told.signal };
    return outcome;
  }

  async #stateOf(name: string): Promise<{ readonly OOMKilled?: boolean } | undefined> {
    try {
      const { stdout } = await this.#engine(['inspect', '--format', '{{json .State}}', name]);
      return JSON.parse(stdout) as { readonly OOMKilled?: boolean };
    } catch {
      return undefined;
    }
  }

  #engine(words: readonly string[]): Promise<{ stdout: string }> {
    return run(this.engine.program, [...this.engine.globalWords, ...words], {
      env: this.engine.environment,
      timeout: 60_000,
    });
  }

  async addWorkFiles(files: readonly WorkFile[]): Promise<void> {
    // A command may leave links where a later file would go.
    if (this.#hasRun) throw busy();
    const { workFolder, uid } = this.layout;
    await fillWorkFolder(workFolder, files, process.getuid?.() === 0 ? uid : undefined);
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
