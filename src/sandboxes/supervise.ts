import type { ChildProcess } from 'node:child_process';
import { M4BenchError, messageOf } from '../support/errors.js';
import { memoryBytesOf, type ProcessRecord } from '../support/process-tree.js';
import { bytesOnDisk } from './folder-usage.js';
import type { CommandOutcome, CommandSpec, LimitName, SandboxLimits } from './sandbox.js';
import { captureStream, type StreamCapture } from './stream-capture.js';

const POLL_MILLISECONDS = 150;
/** A fast writer gets over the limit by what it writes in this time (`bench/runs/disk-overshoot.ts`). */
const DISK_POLL_MILLISECONDS = 250;
const GRACE_MILLISECONDS = 5_000;
/** A command that is aborted this early has nothing to tidy up, and may not even hear the request. */
const STARTING_MILLISECONDS = 100;
/** A tree that stays at its task limit this long is a fork bomb rather than a busy moment. */
const CROWDED_MILLISECONDS = 2_000;

/** What a kind of sandbox tells the watch about a running command. */
export interface Supervised {
  readonly child: ChildProcess;
  /** Every process that counts towards the limits. */
  processes(): readonly ProcessRecord[];
  /** Asks the command's processes to end. */
  terminate(): void;
  /** Ends everything at once, for certain. */
  kill(): void;
  /** Host folder whose size is limited. */
  readonly workFolder: string;
  readonly limits: SandboxLimits;
}

/** How a supervised command ended; `startError` is set when it never started. */
export interface SupervisedOutcome extends CommandOutcome {
  readonly startError?: Error;
}

type Ending = LimitName | 'abort';

/**
 * Watches one command until nothing of it is left. Time and abort give the processes five seconds between SIGTERM
 * and SIGKILL; the other limits end everything at once. The first reason wins.
 */
export async function supervise(command: CommandSpec, supervised: Supervised): Promise<SupervisedOutcome> {
  const { child, limits } = supervised;
  const started = performance.now();
  let endedBy: Ending | null = null;
  let graceTimer: NodeJS.Timeout | undefined;
  let hasExited = false;

  const end = (reason: Ending): void => {
    if (endedBy !== null || hasExited) return;
    endedBy = reason;
    if (reason === 'time' || (reason === 'abort' && performance.now() - started > STARTING_MILLISECONDS)) {
      supervised.terminate();
      graceTimer = setTimeout(() => supervised.kill(), GRACE_MILLISECONDS);
    } else supervised.kill();
  };

  const { stdout, stderr } = captureBoth(command, supervised, () => end('stream'));
  feedStdin(child, command.stdin);

  const onAbort = (): void => end('abort');
  command.signal?.addEventListener('abort', onAbort, { once: true });
  if (command.signal?.aborted) end('abort');
  const timeTimer = setTimeout(() => end('time'), limits.timeoutSeconds * 1000);
  const stopWatching = watchLimits(supervised, end);

  const exit = await new Promise<{ code: number | null; signal: string | null; error?: Error }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  hasExited = true;
  const seconds = (performance.now() - started) / 1000;
  clearTimeout(timeTimer);
  clearTimeout(graceTimer);
  stopWatching();
  command.signal?.removeEventListener('abort', onAbort);
  supervised.kill();
  await drained([stdout, stderr]);

  // What a quick command wrote after the last look, or filled exactly up to the file size limit.
  if (endedBy === null && (await bytesOnDisk(supervised.workFolder, limits.workBytes)) >= limits.workBytes)
    endedBy = 'disk';
  return {
    exitCode: endedBy === null ? exit.code : null,
    signal: exit.signal,
    endedBy,
    seconds,
    stdoutBytes: stdout.seenBytes(),
    stderrBytes: stderr.seenBytes(),
    ...(exit.error === undefined ? {} : { startError: exit.error }),
  };
}

/** Captures both streams; when a file cannot be opened, nothing is left running. */
function captureBoth(
  { stdoutPath, stderrPath }: CommandSpec,
  supervised: Supervised,
  onOverflow: () => void,
): { readonly stdout: StreamCapture; readonly stderr: StreamCapture } {
  const { child, limits } = supervised;
  try {
    return {
      stdout: captureStream(child.stdout!, stdoutPath, limits.streamBytes, onOverflow),
      stderr: captureStream(child.stderr!, stderrPath, limits.streamBytes, onOverflow),
    };
  } catch (thrown) {
    supervised.kill();
    throw thrown;
  }
}

function feedStdin(child: ChildProcess, text: string | undefined): void {
  if (child.stdin === null) return;
  child.stdin.on('error', () => {
    // The command closed its input early, as it may.
  });
  child.stdin.end(text ?? '');
}

/** Polls memory, tasks and disk; returns how to stop. */
function watchLimits(supervised: Supervised, end: (reason: Ending) => void): () => void {
  const { limits } = supervised;
  let crowdedSince: number | undefined;
  let isStopped = false;
  let diskTimer: NodeJS.Timeout | undefined;

  const look = setInterval(() => {
    const processes = supervised.processes();
    const tasks = processes.reduce((sum, record) => sum + record.tasks, 0);
    if (tasks >= limits.processes) {
      crowdedSince ??= performance.now();
      const isBeyond = tasks > limits.processes * 1.5;
      if (isBeyond || performance.now() - crowdedSince > CROWDED_MILLISECONDS) end('processes');
    } else crowdedSince = undefined;
    if (memoryBytesOf(processes, limits.memoryBytes) > limits.memoryBytes) end('memory');
  }, POLL_MILLISECONDS);

  const lookAtDisk = async (): Promise<void> => {
    const began = performance.now();
    if ((await bytesOnDisk(supervised.workFolder, limits.workBytes)) >= limits.workBytes) end('disk');
    // A folder of many files takes long to walk: spend at most a tenth of the time on it.
    const pause = Math.max(DISK_POLL_MILLISECONDS, (performance.now() - began) * 9);
    if (!isStopped) diskTimer = setTimeout(() => void lookAtDisk(), pause);
  };
  diskTimer = setTimeout(() => void lookAtDisk(), DISK_POLL_MILLISECONDS);

  return () => {
    isStopped = true;
    clearInterval(look);
    clearTimeout(diskTimer);
  };
}

/** Waits for the streams; processes outside the tree may hold a pipe open, so not forever. */
async function drained(streams: readonly StreamCapture[]): Promise<void> {
  const timer = setTimeout(() => {
    for (const stream of streams) stream.abandon();
  }, 2_000);
  const results = await Promise.allSettled(streams.map(({ done }) => done));
  clearTimeout(timer);
  const lost = results.find((result) => result.status === 'rejected');
  if (lost === undefined) return;
  throw new M4BenchError(
    'STREAM_LOST',
    `What a command wrote could not be kept: ${messageOf(lost.reason)}.`,
    'Check the free space of the disk.',
    { party: 'environment', cause: lost.reason },
  );
}
