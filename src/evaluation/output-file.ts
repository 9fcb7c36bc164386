import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { messageOf, systemCodeOf } from '../support/errors.js';
import { Refusal } from './refusal.js';

/** A regular file, opened once; everything later reads through this descriptor, so it cannot be swapped. */
export class OpenedFile implements AsyncDisposable {
  private constructor(
    readonly handle: FileHandle,
    readonly bytes: number,
    /** A path to the open descriptor where the system has one (Linux), else the path that was opened. */
    readonly enginePath: string,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /**
   * Opens without following a link at the end of the path.
   *
   * @param signal ends reading by pieces with its reason.
   * @throws Refusal for anything but a readable regular file of at most `maxBytes`.
   */
  static async open(path: string, maxBytes: number, signal?: AbortSignal): Promise<OpenedFile> {
    const before = await lstat(path).catch((thrown: unknown) => {
      throw refusalOf(thrown);
    });
    // Looked at before it is opened: opening a device or a pipe can already have an effect.
    if (!before.isFile()) throw new Refusal('output-not-a-file', notAFile(before));
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
      (thrown: unknown) => {
        throw refusalOf(thrown);
      },
    );
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw new Refusal('output-not-a-file', notAFile(found));
      if (found.size > maxBytes) {
        throw new Refusal(
          'output-too-large',
          `The output has ${found.size} bytes; at most ${maxBytes} are scored.`,
        );
      }
      const descriptor = `/proc/self/fd/${handle.fd}`;
      return new OpenedFile(handle, found.size, existsSync(descriptor) ? descriptor : path, signal);
    } catch (thrown) {
      await handle.close();
      throw thrown;
    }
  }

  /** Reads the file from the start in pieces of up to `pieceBytes`; the pieces share one buffer. */
  async *pieces(pieceBytes = 1024 ** 2): AsyncGenerator<Buffer> {
    const buffer = Buffer.allocUnsafe(pieceBytes);
    for (let position = 0; ; ) {
      this.throwIfAborted();
      const { bytesRead } = await this.handle.read(buffer, 0, pieceBytes, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** For readers of the descriptor that do not go through `pieces`. */
  throwIfAborted(): void {
    this.signal?.throwIfAborted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close();
  }
}

interface FileKind {
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function notAFile(found: FileKind): string {
  const what = found.isDirectory()
    ? 'a directory'
    : found.isSymbolicLink()
      ? 'a symbolic link'
      : 'a device, pipe or socket';
  return `The output is ${what}, not a regular file.`;
}

function refusalOf(thrown: unknown): Refusal {
  switch (systemCodeOf(thrown)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new Refusal('output-missing', 'There is no output file.');
    case 'ELOOP':
      return new Refusal('output-not-a-file', 'The output is a symbolic link, not a regular file.');
    default:
      return new Refusal('output-unreadable', `The output cannot be opened: ${messageOf(thrown)}.`);
  }
}
