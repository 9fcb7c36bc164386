import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { M4BenchError, messageOf } from '../support/errors.js';
import { holderInWords, holdLock, type LockHolder } from '../support/lock.js';
import { AppendedLines } from './appended-lines.js';
import { type CassetteAnswer, type CassetteRequest, cassetteHeader, keptAnswer } from './cassette.js';
import { lastWholeLineEnd, readHeader } from './cassette-file.js';
import type { Provider } from './gateway-types.js';

export interface RecorderOptions {
  readonly providers: readonly Provider[];
  readonly benchmarkVersion: string;
  /** Folders of runs, which are packed and shared: no cassette may lie there. */
  readonly keptOutOf: readonly string[];
  /** The only folder in which credentialed rows may be recorded. */
  readonly guardedFolder: string;
}

/** Writes the exchanges of runs to one cassette. Runs of one process may record at once. */
export class CassetteRecorder implements AsyncDisposable {
  private constructor(
    readonly path: string,
    /** Whether the file lies where credentialed rows may be kept. */
    readonly isGuarded: boolean,
    readonly guardedFolder: string,
    private readonly lines: AppendedLines,
    private readonly lock: AsyncDisposable,
  ) {}

  /**
   * Opens a cassette to append to it, new with mode 0600. A line that a killed process left half-written is cut off.
   * Throws `CASSETTE_PLACE` for a file among the runs, `CASSETTE_INVALID` for one that is no cassette, and
   * `CASSETTE_IN_USE` while another recorder has it: cutting and appending by two would mix their lines.
   */
  static async open(path: string, options: RecorderOptions): Promise<CassetteRecorder> {
    const folder = dirname(resolve(path));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const place = await realpath(folder);
    if (await isInAny(place, options.keptOutOf)) {
      throw new M4BenchError(
        'CASSETTE_PLACE',
        `A cassette at ${path} would lie among the runs, which are packed and shared, and it holds rows of patients.`,
        `Record it elsewhere, for example in ${options.guardedFolder}.`,
      );
    }
    const lockPlace = { folder: place, prefix: `${basename(resolve(path))}.lock-` };
    const lock = await holdLock(lockPlace, (holder) => inUse(path, holder));
    let file: FileHandle | undefined;
    try {
      file = await openPrivate(path);
      const { size } = await file.stat();
      const end = await lastWholeLineEnd(file, size);
      if (end === 0) {
        if (size > 0) throw notACassette(path);
        const header = cassetteHeader(options.providers, options.benchmarkVersion);
        await file.appendFile(`${JSON.stringify(header)}\n`);
      } else {
        await readHeader(path, file);
        await file.truncate(end);
      }
      await mkdir(options.guardedFolder, { recursive: true, mode: 0o700 });
      const isGuarded = await isInAny(place, [options.guardedFolder]);
      // Nothing to redact: of requests only hashes are kept.
      return new CassetteRecorder(path, isGuarded, options.guardedFolder, new AppendedLines(file, []), lock);
    } catch (thrown) {
      await file?.close();
      await lock[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  /** What one attempt records; turns are counted as answers end. */
  session(label: string): RecordingSession {
    let turn = 0;
    return {
      record: (asked, answer, seconds) => {
        turn += 1;
        const { status, headers } = answer;
        const answered = { status, headers, answer: keptAnswer(answer), seconds };
        this.lines.append({ kind: 'exchange', session: label, turn, ...asked, ...answered });
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.lines[Symbol.asyncDispose]();
    } finally {
      await this.lock[Symbol.asyncDispose]();
    }
  }
}

/** Takes the exchanges of one attempt. */
export interface RecordingSession {
  record(asked: CassetteRequest, answer: CassetteAnswer, seconds: number): void;
}

async function openPrivate(path: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  try {
    const file = await open(path, flags, 0o600);
    await file.chmod(0o600);
    return file;
  } catch (thrown) {
    throw new M4BenchError(
      'CASSETTE_UNWRITABLE',
      `The cassette ${path} cannot be written: ${messageOf(thrown)}.`,
      'Name a file in a folder of your own.',
    );
  }
}

function inUse(path: string, holder: LockHolder | undefined): M4BenchError {
  return new M4BenchError(
    'CASSETTE_IN_USE',
    `The cassette ${path} is being recorded by ${holderInWords(holder)}.`,
    'Wait for it to end, or name another file: runs of one campaign share a cassette, two campaigns cannot.',
    { party: 'environment' },
  );
}

function notACassette(path: string): M4BenchError {
  return new M4BenchError('CASSETTE_INVALID', `${path} is no cassette.`, 'Name a new file.');
}

/** Whether a real folder is one of these, or inside one; those that do not exist hold nothing. */
async function isInAny(place: string, folders: readonly string[]): Promise<boolean> {
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return real.some((folder) => folder !== undefined && `${place}${sep}`.startsWith(`${folder}${sep}`));
}
