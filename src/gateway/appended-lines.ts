import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { redacted } from './secrets.js';

/**
 * A log of one JSON object a line, which only this user can read. Each line is one append of a whole record; no
 * secret can be in it.
 */
export class AppendedLines implements AsyncDisposable {
  #queue: Promise<void> = Promise.resolve();

  /** Takes over a file that is open to append to, and closes it. */
  constructor(
    private readonly file: FileHandle,
    private readonly secrets: readonly Buffer[],
  ) {}

  static async open(path: string, secrets: readonly Buffer[]): Promise<AppendedLines> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
    return new AppendedLines(await open(path, flags, 0o600), secrets);
  }

  append(record: unknown): void {
    const line = redacted(`${JSON.stringify(record)}\n`, this.secrets);
    this.#queue = this.#queue.then(() => this.file.appendFile(line));
    // A failed write is reported once, by whoever closes the log.
    this.#queue.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#queue;
      await this.file.sync();
    } finally {
      await this.file.close();
    }
  }
}
