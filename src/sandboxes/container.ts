import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { M4BenchError } from '../support/errors.js';
import { listProcesses, signalAll, startTimeOf, treeBelow } from '../support/process-tree.js';
import { createRuntimeFolder, removeTree } from '../support/runtime-folders.js';
import { checkInputs, checkReadable, INSIDE_GATEWAY_URL, INSIDE_WORK } from './bubblewrap-arguments.js';
import {
  type ContainerLayout,
  containerArguments,
  GATEWAY_CHANNEL,
  type Sockets,
  STATUS_CHANNEL,
} from './container-arguments.js';
import { askEngine, type ContainerEngine, ensureImage, findEngine } from './container-engine.js';
import { type CopyOutLimits, copyOutOf } from './copy-out.js';
import { LINUX_REMEDY } from './host-advice.js';
import { channelTo } from './relay.js';
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
import { SideCar } from './side-car.js';
import { readStatus, startFailure } from './status.js';
import { supervise } from './supervise.js';
import { toolMounts } from './tools.js';
import { fillWorkFolder, layOutHomeFiles } from './work-folder.js';

/**
 * How the sockets of this machine reach a container: mounted, or through a side-car, for engines in a machine of
 * their own (Docker Desktop).
 */
export type SocketPlacement = 'mounted' | 'side-car';

/**
 * A container of docker or podman per command, over the root file system. `placement`: default what the engine needs.
 */
export function containerSandbox(
  kind: 'docker' | 'podman',
  rootfs?: Rootfs,
  placement?: SocketPlacement,
): Sandbox {
  let found: Promise<ContainerEngine | SandboxAvailability> | undefined;
  const engine = async (): Promise<ContainerEngine | SandboxAvailability> => {
    found ??= findEngine(kind);
    const state = await found;
    if (process.platform !== 'linux' && 'program' in state)
      return {
        available: false,
        detail: `${kind} is there, and the programs of ${process.platform} do not run in its containers`,
        remedy: LINUX_REMEDY,
      };
    if (rootfs !== undefined || !('program' in state)) return state;
    return {
      available: false,
      detail: `${kind} ${state.version} is there, and no root file system has been built`,
      remedy: 'Build one with: m4bench sandbox build',
    };
  };
  const placementIn = (state: ContainerEngine): SocketPlacement =>
    placement ?? (state.sharesProcesses ? 'mounted' : 'side-car');
  return {
    kind,
    isIsolated: true,
    rootfsDigest: rootfs?.manifest.digest ?? null,
    enforcedLimits: (): readonly LimitName[] => ['time', 'memory', 'processes', 'disk', 'stream'],
    async probe() {
      const state = await engine();
      if (!('program' in state)) return state;
      const detail = `${kind} ${state.version}, ${state.detail}, root file system ${shortDigest(rootfs!.manifest.digest)}`;
      const how = placementIn(state) === 'side-car' ? ', with a side-car for the gateway' : '';
      return { available: true, detail: `${detail}${how}` };
    },
    async prepare(spec) {
      const state = await engine();
      if ('program' in state) return ContainerRun.create(state, rootfs!, spec, placementIn(state));
      throw new M4BenchError(
        'SANDBOX_NOT_AVAILABLE',
        `The ${kind} sandbox does not work here: ${state.detail}.`,
        state.remedy ?? 'Run m4bench doctor.',
        { party: 'environment' },
      );
    },
  };
}

/** Where init tells how a command ends: the first connection, as a stream; later ones are turned away. */
class StatusChannel {
  readonly source = new PassThrough();
  #first: Socket | undefined;

  take(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#first !== undefined) {
      socket.destroy();
      return;
    }
    this.#first = socket;
    socket.pipe(this.source);
    socket.once('close', () => this.source.destroy());
  }

  close(): void {
    this.#first?.destroy();
    this.source.destroy();
  }
}

/** A Unix socket of this machine for one status channel. */
async function listenAt(path: string, channel: StatusChannel): Promise<Server> {
  const server = createServer((socket) => channel.take(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
  await chmod(path, 0o666);
  return server;
}

class ContainerRun implements PreparedSandbox {
  readonly workPath = INSIDE_WORK;
  readonly gatewayUrl: string | undefined;
  #hasRun = false;
  #running: { kill(): void; readonly ended: Promise<unknown> } | undefined;
  /** Of the command that runs. */
  #status: StatusChannel | undefined;
  #sideCar: SideCar | undefined;

  private constructor(
    private readonly engine: ContainerEngine,
    private readonly folder: string,
    private readonly gatewaySocket: string | undefined,
    private readonly layout: Omit<ContainerLayout, 'name' | 'sockets'>,
  ) {
    this.gatewayUrl = gatewaySocket === undefined ? undefined : INSIDE_GATEWAY_URL;
  }

  static async create(
    engine: ContainerEngine,
    rootfs: Rootfs,
    spec: SandboxSpec,
    placement: SocketPlacement,
  ): Promise<ContainerRun> {
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
      const prepared = new ContainerRun(engine, folder, spec.gatewaySocket, {
        kind: engine.kind,
        image,
        owner: `${process.pid}.${startTimeOf(process.pid) ?? ''}`,
        uid,
        workFolder,
        limitsFile,
        filterFile,
        inputs: spec.inputs,
        tools,
        limits: spec.limits,
      });
      if (placement === 'side-car') await prepared.#startSideCar();
      return prepared;
    } catch (thrown) {
      await removeTree(folder);
      throw thrown;
    }
  }

  async #startSideCar(): Promise<void> {
    this.#sideCar = await SideCar.start({
      engine: this.engine,
      image: this.layout.image,
      owner: this.layout.owner,
      channels: {
        [STATUS_CHANNEL]: (socket) =>
          this.#status === undefined ? socket.destroy() : this.#status.take(socket),
        ...(this.gatewaySocket === undefined ? {} : { [GATEWAY_CHANNEL]: channelTo(this.gatewaySocket) }),
      },
    });
  }

  async execute(command: CommandSpec): Promise<CommandOutcome> {
    if (this.#running !== undefined) throw busy();
    this.#hasRun = true;
    // An earlier command may have shut its own folder.
    await chmod(this.layout.workFolder, 0o755);
    const name = `m4b-${randomBytes(6).toString('hex')}`;
    const homeFilesFolder = await layOutHomeFiles(this.folder, command.homeFiles);
    const channel = new StatusChannel();
    this.#status = channel;
    const statusPath = join(this.folder, `${name.slice(4)}.s`);
    const server = this.#sideCar === undefined ? await listenAt(statusPath, channel) : undefined;
    const sockets: Sockets =
      this.#sideCar === undefined
        ? { from: 'host', status: statusPath, gateway: this.gatewaySocket }
        : {
            from: 'side-car',
            volume: this.#sideCar.volume,
            hasGateway: this.gatewaySocket !== undefined,
          };
    const layout = {
      ...this.layout,
      name,
      sockets,
      ...(homeFilesFolder === undefined ? {} : { homeFilesFolder }),
    };
    try {
      return await this.#play(command, layout, readStatus(channel.source));
    } finally {
      if (homeFilesFolder !== undefined) await removeTree(homeFilesFolder);
      this.#running = undefined;
      this.#status = undefined;
      server?.close();
      channel.close();
      await askEngine(this.engine, ['rm', '--force', '--volumes', name]).catch(() => {});
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
        askEngine(this.engine, ['inspect', '--format', '{{.State.Pid}}', name])
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
      askEngine(this.engine, ['kill', name]).catch(() => child.kill('SIGKILL'));
    };
    const ended = supervise(command, {
      child,
      processes: tree,
      terminate: () => {
        // From within, where the processes of the engine are not ours to signal; spares the first one and itself.
        if (this.#sideCar !== undefined)
          void askEngine(this.engine, ['exec', name, '/bin/bash', '-p', '-c', 'kill -TERM -1']).catch(
            () => {},
          );
        else
          signalAll(
            tree().filter(({ pid }) => pid !== innerPid),
            'SIGTERM',
          );
      },
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
      const { stdout } = await askEngine(this.engine, ['inspect', '--format', '{{json .State}}', name]);
      return JSON.parse(stdout) as { readonly OOMKilled?: boolean };
    } catch {
      return undefined;
    }
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
    await this.#sideCar?.[Symbol.asyncDispose]();
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
