import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { M4BenchError, messageOf } from '../support/errors.js';
import { sha256File } from '../support/hashing.js';

/** One file of a release on a server, and where it is kept. */
export interface RemoteFile {
  /** Relative to the release, for messages. */
  readonly file: string;
  readonly url: URL;
  readonly path: string;
  /** Published SHA-256; undefined where none is published. */
  readonly sha256?: string;
  /** Keep the file although its hash is another one: only `LICENSE.txt`, whose listed hash is known to be off. */
  readonly isLenient?: boolean;
}

/** How to ask the server and how patient to be. */
export interface Transfer {
  /** Sent with every request; never part of a message. */
  readonly authorization?: string;
  /** A transfer without a single byte for so long is given up and tried again; default 30 s. */
  readonly stallMilliseconds?: number;
  /** First pause before another try, doubled each time; default 1 s. */
  readonly pauseMilliseconds?: number;
  /** Tries in a row that bring nothing before giving up; default 6. */
  readonly tries?: number;
  readonly signal?: AbortSignal;
  /** Called with the number of bytes of this file that are on disk. */
  readonly onBytes?: (bytes: number) => void;
}

/** A try that may be repeated; `waitMilliseconds` when the server said for how long to wait. */
class TransientFailure extends Error {
  constructor(
    message: string,
    readonly waitMilliseconds?: number,
  ) {
    super(message);
  }
}

const longestWaitMilliseconds = 120_000;

/**
 * Fetches a file to `path`, whole and with the published hash, or throws. Bytes wait in `path.part`; a broken
 * transfer goes on from there when the server serves ranges and starts over when it does not. Wrong bytes are fetched
 * anew once.
 */
export async function fetchRemoteFile(remote: RemoteFile, transfer: Transfer): Promise<'kept' | 'fetched'> {
  if (await isComplete(remote)) return 'kept';
  await mkdir(dirname(remote.path), { recursive: true });
  const part = `${remote.path}.part`;
  for (let round = 1; ; round += 1) {
    await fetchPart(remote, part, transfer);
    const found = remote.sha256 === undefined ? undefined : await sha256File(part);
    if (found === remote.sha256 || remote.isLenient === true) {
      await rename(part, remote.path);
      return 'fetched';
    }
    await rm(part, { force: true });
    if (round === 2) {
      throw new M4BenchError(
        'DOWNLOAD_WRONG_BYTES',
        `${remote.file}: the server sends other bytes than the release has (SHA-256 ${found?.slice(0, 12)}…, published ${remote.sha256?.slice(0, 12)}…).`,
        'Try again later, or without --mirror; the other files are kept.',
        { party: 'environment' },
      );
    }
  }
}

/** A file without a published hash was renamed into place only when it was whole. */
async function isComplete(remote: RemoteFile): Promise<boolean> {
  const isThere = await stat(remote.path).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isThere || remote.sha256 === undefined || remote.isLenient === true) return isThere;
  return (await sha256File(remote.path)) === remote.sha256;
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (found) => found.size,
    () => 0,
  );
}

/** Tries until the part file is whole; only tries that bring no byte count against the limit. */
async function fetchPart(remote: RemoteFile, part: string, transfer: Transfer): Promise<void> {
  let before = 0;
  await patiently(
    remote.file,
    transfer,
    async () => {
      before = await sizeOf(part);
      await requestRest(remote, part, before, transfer);
    },
    async () => (await sizeOf(part)) > before,
  );
}

/**
 * Repeats an attempt after a pause until it succeeds, fails for good (an `M4BenchError`) or has failed `tries` times
 * in a row without bringing anything.
 */
export async function patiently<T>(
  file: string,
  transfer: Transfer,
  attempt: () => Promise<T>,
  hasBroughtBytes: () => Promise<boolean> = async () => false,
): Promise<T> {
  const limit = transfer.tries ?? 6;
  for (let failures = 0; ; ) {
    try {
      return await attempt();
    } catch (thrown) {
      refuseIfInterrupted(transfer.signal);
      if (thrown instanceof M4BenchError) throw thrown;
      failures = (await hasBroughtBytes()) ? 1 : failures + 1;
      if (failures >= limit) {
        throw new M4BenchError(
          'DOWNLOAD_FAILED',
          `${file}: ${limit} tries in a row brought nothing, the last one: ${reasonOf(thrown)}.`,
          'Check the network and run the command again; it goes on where it stopped.',
          { party: 'environment', cause: thrown },
        );
      }
      const asked = thrown instanceof TransientFailure ? thrown.waitMilliseconds : undefined;
      const wait = asked ?? (transfer.pauseMilliseconds ?? 1000) * 2 ** (failures - 1);
      await pause(Math.min(wait, longestWaitMilliseconds), undefined, {
        ...(transfer.signal === undefined ? {} : { signal: transfer.signal }),
      }).catch(() => refuseIfInterrupted(transfer.signal));
    }
  }
}

function refuseIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new M4BenchError(
    'INTERRUPTED',
    'The download was stopped.',
    'Run the command again; it goes on where it stopped.',
  );
}

/** Undici hides the reason ("fetch failed", "terminated") in the cause. */
function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error ? `${messageOf(thrown)} (${messageOf(cause)})` : messageOf(thrown);
}

/** One request for the bytes from `start` on, appended to the part file. */
async function requestRest(
  remote: RemoteFile,
  part: string,
  start: number,
  transfer: Transfer,
): Promise<void> {
  const watch = new StallWatch(transfer.stallMilliseconds ?? 30_000, transfer.signal);
  try {
    const response = await fetch(remote.url, {
      headers: {
        // A compressed transfer would make byte ranges meaningless.
        'accept-encoding': 'identity',
        ...(start > 0 ? { range: `bytes=${start}-` } : {}),
        ...(transfer.authorization === undefined ? {} : { authorization: transfer.authorization }),
      },
      signal: watch.signal,
    });
    const plan = await planFor(remote, part, start, response);
    if (plan === 'complete') return;
    await append(response, part, plan, watch, transfer);
  } catch (thrown) {
    if (watch.hasStalled) throw new TransientFailure(`no byte in ${watch.milliseconds / 1000} s`);
    throw thrown;
  } finally {
    watch.stop();
  }
}

/** Where the bytes of a response belong, or `complete` when nothing is missing. */
async function planFor(
  remote: RemoteFile,
  part: string,
  start: number,
  response: Response,
): Promise<{ readonly from: number; readonly total: number | undefined } | 'complete'> {
  if (response.status === 206) {
    const found = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
    if (found !== null && Number(found[1]) === start) {
      return { from: start, total: found[2] === '*' ? undefined : Number(found[2]) };
    }
    await discard(response);
    await rm(part, { force: true });
    throw new TransientFailure('the server sent another range than was asked for');
  }
  if (response.status === 200) {
    const length = response.headers.get('content-length');
    return { from: 0, total: length === null ? undefined : Number(length) };
  }
  await discard(response);
  if (response.status === 416 && start > 0) {
    const total = /^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
    if (total !== undefined && Number(total) === start) return 'complete';
    await rm(part, { force: true });
    throw new TransientFailure('the server does not have the range that was asked for');
  }
  throw refusal(remote.file, response);
}

async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

async function append(
  response: Response,
  part: string,
  { from, total }: { readonly from: number; readonly total: number | undefined },
  watch: StallWatch,
  transfer: Transfer,
): Promise<void> {
  let bytes = from;
  const handle = await open(part, from === 0 ? 'w' : 'r+');
  try {
    // Typed as a web stream; Node's are async iterables.
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      watch.touch();
      await handle.write(chunk, 0, chunk.length, bytes);
      bytes += chunk.length;
      transfer.onBytes?.(bytes);
    }
  } finally {
    await handle.close();
  }
  if (total !== undefined && bytes !== total) {
    throw new TransientFailure(`the connection ended after ${bytes} of ${total} bytes`);
  }
}

/** What a status other than 200, 206 and 416 means: an error that ends the download, or one worth another try. */
export function refusal(file: string, response: Response): Error {
  const { status } = response;
  if (status === 401) {
    return new M4BenchError(
      'DOWNLOAD_LOGIN_WRONG',
      `${file}: the server does not accept this user name and password (401).`,
      'Give your PhysioNet user name with --user and type the password of that account.',
    );
  }
  if (status === 403) {
    return new M4BenchError(
      'DOWNLOAD_NOT_ALLOWED',
      `${file}: this account may not read the release (403).`,
      'Complete the training and sign the data use agreement on the page of the release at physionet.org.',
    );
  }
  if (status === 429 || status >= 500) {
    return new TransientFailure(`the server answered ${status}`, retryAfter(response));
  }
  return new M4BenchError(
    'DOWNLOAD_NOT_FOUND',
    `${file}: the server answered ${status}.`,
    'Check the address of --mirror, or try again later.',
    { party: 'environment' },
  );
}

/** `Retry-After` in milliseconds, as seconds or as a date. */
function retryAfter(response: Response): number | undefined {
  const text = response.headers.get('retry-after');
  if (text === null) return undefined;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined;
}

/** Aborts a request when nothing has come for a while, or when the user stops. */
class StallWatch {
  private readonly abort = new AbortController();
  private timer: NodeJS.Timeout;
  hasStalled = false;

  constructor(
    readonly milliseconds: number,
    outer: AbortSignal | undefined,
  ) {
    this.timer = this.start();
    this.signal = outer === undefined ? this.abort.signal : AbortSignal.any([outer, this.abort.signal]);
  }

  readonly signal: AbortSignal;

  touch(): void {
    clearTimeout(this.timer);
    this.timer = this.start();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private start(): NodeJS.Timeout {
    return setTimeout(() => {
      this.hasStalled = true;
      this.abort.abort();
    }, this.milliseconds);
  }
}
