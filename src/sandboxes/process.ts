import { spawn } from 'node:child_process';
import { appendFileSync, constants, existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, readdir } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { startForwarder } from '../../sandbox-tools/forwarder.mjs';
import { M4BenchError } from '../support/errors.js';
import {
  listProcesses,
  type ProcessRecord,
  processesWithEnvironment,
  signalAll,
  startTimeOf,
  treeBelow,
} from '../support/process-tree.js';
import { createRuntimeFolder, removeTree } from '../support/runtime-folders.js';
import { type CopyOutLimits, copyOutOf } from './copy-out.js';
import type {
  CommandOutcome,
  CommandSpec,
  CopyOutReport,
  InputMount,
  LimitName,
  PreparedSandbox,
  Sandbox,
  SandboxSpec,
  WorkFile,
} from './sandbox.js';
import { readStatus, startFailure } from './status.js';
import { supervise } from './supervise.js';
import { nodeFolder, toolsFolder } from './tools.js';
import { fillWorkFolder, layOutHomeFiles } from './work-folder.js';

const PRLIMIT = '/usr/bin/prlimit';
const INIT_STATUS = 3;
/** Targets below it are created as named; views in a task database name them. Others move into the run's folder. */
const SHARED_TEMPORARY = '/tmp/';

/** A plain child process: no isolation at all, for development on machines without bubblewrap. */
export function processSandbox(): Sandbox {
  return {
    kind: 'process',
    isIsolated: false,
    rootfsDigest: null,
    enforcedLimits: (): readonly LimitName[] =>
      process.platform === 'linux'
        ? ['time', 'memory', 'processes', 'disk', 'stream']
        : ['time', 'disk', 'stream'],
    probe: async () => ({ available: true, detail: 'a plain process, no isolation: never publishable' }),
    prepare: (spec) => ProcessRun.create(spec),
  };
}

/** An input that was copied to another place than its target, so that words naming the target are rewritten. */
interface Relocation {
  readonly target: string;
  readonly copy: string;
}

class ProcessRun implements PreparedSandbox {
  readonly workPath: string;
  readonly gatewayUrl: string | undefined;
  #hasRun = false;
  #running: { kill(): void; readonly ended: Promise<unknown> } | undefined;

  private constructor(
    private readonly folder: string,
    private readonly spec: SandboxSpec,
    private readonly relocations: readonly Relocation[],
    private readonly copies: readonly string[],
    private readonly forwarder: Server | undefined,
  ) {
    this.workPath = join(folder, 'work');
    if (forwarder !== undefined)
      this.gatewayUrl = `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}`;
  }

  static async create(spec: SandboxSpec): Promise<ProcessRun> {
    const folder = await createRuntimeFolder('sandbox');
    const copies: string[] = [];
    try {
      for (const name of ['work', 'home', 'tmp', 'inputs']) await mkdir(join(folder, name), { mode: 0o700 });
      const relocations: Relocation[] = [];
      for (const input of spec.inputs) {
        // In the order that the targets have, so that packages of one `node_modules` find one another.
        const place = await placeInput(input, join(folder, 'inputs', input.target));
        if (place.created !== undefined) copies.push(place.created);
        if (place.copy !== input.target) relocations.push({ target: input.target, copy: place.copy });
      }
      await fillWorkFolder(join(folder, 'work'), spec.workFiles, undefined);
      const forwarder =
        spec.gatewaySocket === undefined
          ? undefined
          : await startForwarder({ port: 0, socketPath: spec.gatewaySocket });
      return new ProcessRun(folder, spec, relocations, copies, forwarder);
    } catch (thrown) {
      for (const copy of copies) await removeTree(copy);
      await removeTree(folder);
      throw thrown;
    }
  }

  /** Rewrites a word that is, or begins with, the target of an input that was copied elsewhere. */
  #relocated(word: string): string {
    const hit = this.relocations.find(({ target }) => word === target || word.startsWith(`${target}/`));
    return hit === undefined ? word : hit.copy + word.slice(hit.target.length);
  }

  #environment(command: CommandSpec): Record<string, string> {
    const environment: Record<string, string> = {
      PATH: `${join(toolsFolder(), 'bin')}:${nodeFolder()}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(this.folder, 'home'),
      TMPDIR: join(this.folder, 'tmp'),
      LANG: 'C.UTF-8',
    };
    for (const [name, value] of Object.entries(command.environment))
      environment[name] = this.#relocated(value);
    delete environment.M4BENCH_GATEWAY_URL;
    if (this.gatewayUrl !== undefined) environment.M4BENCH_GATEWAY_URL = this.gatewayUrl;
    return environment;
  }

  async execute(command: CommandSpec): Promise<CommandOutcome> {
    if (this.#running !== undefined) throw busy();
    this.#hasRun = true;
    // An earlier command may have shut its own folder.
    await chmod(this.workPath, 0o755);
    const { limits } = this.spec;
    const homeFilesFolder = await layOutHomeFiles(this.folder, command.homeFiles);
    const bounded = existsSync(PRLIMIT)
      ? [PRLIMIT, `--fsize=${limits.workBytes}:${limits.workBytes}`, '--core=0:0']
      : [];
    const words = [
      ...bounded,
      process.execPath,
      join(toolsFolder(), 'init.mjs'),
      '--status-fd',
      String(INIT_STATUS),
      ...(homeFilesFolder === undefined ? [] : ['--home', homeFilesFolder]),
      '--',
      ...command.command.map((word) => this.#relocated(word)),
    ];
    const child = spawn(words[0]!, words.slice(1), {
      cwd: this.workPath,
      env: this.#environment(command),
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    if (child.pid !== undefined) this.#recordGroup(child.pid);
    const status = readStatus(child.stdio[INIT_STATUS] as unknown as Readable);
    const processes = (): readonly ProcessRecord[] => {
      const all = listProcesses();
      const below = new Set(child.pid === undefined ? [] : treeBelow(child.pid, all));
      return all.filter(
        (record) => below.has(record) || record.group === child.pid || record.session === child.pid,
      );
    };
    const kill = (): void => {
      signalAll(processes(), 'SIGKILL');
      // Daemons that left the session still carry this run's folder in their environment, unless they hid it.
      signalAll(processesWithEnvironment(`${this.folder}/`, listProcesses()), 'SIGKILL');
      if (child.pid !== undefined) signalAll([{ pid: -child.pid }], 'SIGKILL');
    };
    const ended = supervise(command, {
      child,
      processes,
      terminate: () => signalAll(processes(), 'SIGTERM'),
      kill,
      workFolder: this.workPath,
      limits,
    });
    this.#running = { kill, ended };
    try {
      const { startError, ...outcome } = await ended;
      await Promise.race([status.done, new Promise((resolve) => setTimeout(resolve, 500))]);
      const told = status.told();
      if (startError !== undefined || (told.ready !== true && outcome.endedBy === null))
        throw await startFailure('process', startError, command.stderrPath);
      if (outcome.endedBy === null && typeof told.signal === 'string')
        return { ...outcome, exitCode: null, signal: told.signal };
      return outcome;
    } finally {
      this.#running = undefined;
      if (homeFilesFolder !== undefined) await removeTree(homeFilesFolder);
    }
  }

  /** Lets `cleanLeftovers` find this group should we crash. */
  #recordGroup(pid: number): void {
    appendFileSync(
      join(this.folder, 'groups.jsonl'),
      `${JSON.stringify({ pid, startTime: startTimeOf(pid) })}\n`,
      { mode: 0o600 },
    );
  }

  async addWorkFiles(files: readonly WorkFile[]): Promise<void> {
    // A command may leave links where a later file would go.
    if (this.#hasRun) throw busy();
    await fillWorkFolder(this.workPath, files, undefined);
  }

  copyOut(into: string, limits: CopyOutLimits): Promise<CopyOutReport> {
    if (this.#running !== undefined) throw busy();
    return copyOutOf(this.workPath, into, limits);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#running?.kill();
    await this.#running?.ended.catch(() => {});
    this.forwarder?.close();
    for (const copy of this.copies) await removeTree(copy);
    await removeTree(this.folder);
  }
}

/** Copies an input (and says which path to delete later) to its target where that is a free place below /tmp, else to the place given. */
async function placeInput(
  input: InputMount,
  otherwise: string,
): Promise<{ readonly copy: string; readonly created: string | undefined }> {
  const { source, target } = input;
  if (source === target) {
    const linked = await firstHardLink(source);
    if (linked === undefined) return { copy: target, created: undefined };
    throw new M4BenchError(
      'SANDBOX_INPUT_INVALID',
      `${linked} is a hard link, and without isolation the agent could rewrite the original through it.`,
      'Hand the process sandbox a copy of the folder.',
      { party: 'internal' },
    );
  }
  const copy = target.startsWith(SHARED_TEMPORARY) && !existsSync(target) ? target : otherwise;
  const firstMade = await mkdir(dirname(copy), { recursive: true });
  await cp(source, copy, { recursive: true, dereference: false, mode: constants.COPYFILE_FICLONE });
  return { copy, created: firstMade ?? copy };
}

async function firstHardLink(path: string): Promise<string | undefined> {
  const found = await lstat(path);
  if (found.isFile()) return found.nlink > 1 ? path : undefined;
  if (!found.isDirectory()) return undefined;
  for (const name of await readdir(path)) {
    const inner = await firstHardLink(join(path, name));
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function busy(): M4BenchError {
  return new M4BenchError(
    'SANDBOX_BUSY',
    'A command is running, or has run, in this sandbox.',
    'Wait for it to end, or prepare another sandbox.',
    { party: 'internal' },
  );
}
