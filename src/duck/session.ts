import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { messageOf } from '../support/errors.js';
import { createScratchFolder } from '../support/runtime-folders.js';
import { type DuckDBConnection, DuckDBInstance, type JsonDuckDBType } from './engine.js';
import { literal } from './sql.js';

export interface SessionOptions {
  /** Database file, default in memory. */
  readonly path?: string;
  readonly readOnly?: boolean;
  /** Memory limit in bytes, default 2 GiB; beyond it DuckDB spills to a private temporary folder. */
  readonly memoryBytes?: number;
  /** Worker threads, default DuckDB's own choice. */
  readonly threads?: number;
  /**
   * Folder that holds the private temporary folder, made when absent; default that of the system, which may be
   * small or in memory. Give one on the disk of the home folder for work that is larger than memory.
   */
  readonly spillFolder?: string;
  /**
   * Half of the memory limit is kept once it was used, until the session ends, and given out again block by block. For
   * long work that fills and frees its blocks over and over: a fifth to a quarter of the time of an import went into
   * fetching the same memory from the operating system again (measured, `bench/data/import.ts`). Default false: it
   * reserves address space, and short queries gain nothing.
   */
  readonly keepsMemory?: boolean;
}

/** One row as JSON-like values: integers beyond 2^53 and decimals arrive as text, timestamps as text. */
export type Row = Readonly<Record<string, JsonDuckDBType>>;

/**
 * A DuckDB instance with one connection. Every session sets `disabled_optimizers = 'top_n_window_elimination'`
 * (that optimizer ends valid first-row-per-group queries over wide structs with an internal error in 1.5.x),
 * never reaches the network and never installs extensions.
 */
export class DuckSession implements AsyncDisposable {
  private constructor(
    private readonly instance: DuckDBInstance,
    readonly connection: DuckDBConnection,
    private readonly spillFolder: string,
    private readonly ownsInstance: boolean,
  ) {}

  static async open(options: SessionOptions = {}): Promise<DuckSession> {
    const parent = options.spillFolder ?? tmpdir();
    await mkdir(parent, { recursive: true });
    const spillFolder = await createScratchFolder('spill', parent);
    try {
      const instance = await DuckDBInstance.create(options.path ?? ':memory:', {
        memory_limit: `${Math.floor((options.memoryBytes ?? 2 * 1024 ** 3) / 1024 ** 2)}MiB`,
        temp_directory: spillFolder,
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
        ...(options.readOnly ? { access_mode: 'READ_ONLY' } : {}),
        ...(options.threads === undefined ? {} : { threads: String(options.threads) }),
      });
      const session = new DuckSession(instance, await instance.connect(), spillFolder, true);
      await session.prepare();
      if (options.keepsMemory) await session.keepMemory();
      return session;
    } catch (thrown) {
      await rm(spillFolder, { recursive: true, force: true });
      throw thrown;
    }
  }

  /** Runs one or more statements for their effect. */
  async run(sql: string): Promise<void> {
    await this.connection.run(sql);
  }

  /** All rows of a query; for aggregates and a few examples, never for data. */
  async rows(sql: string): Promise<readonly Row[]> {
    const reader = await this.connection.runAndReadAll(sql);
    return reader.getRowObjectsJson() as Row[];
  }

  /** The only row of a query. */
  async row(sql: string): Promise<Row> {
    const [first, ...rest] = await this.rows(sql);
    if (first === undefined || rest.length > 0)
      throw new RangeError(`Expected one row, got ${rest.length + (first ? 1 : 0)}.`);
    return first;
  }

  /** Another connection to the same instance, for queries that run side by side; close it before the session. */
  async fork(): Promise<DuckSession> {
    const forked = new DuckSession(this.instance, await this.instance.connect(), this.spillFolder, false);
    await forked.prepare();
    return forked;
  }

  private async prepare(): Promise<void> {
    await this.run(`set disabled_optimizers = ${literal('top_n_window_elimination')}`);
  }

  private async keepMemory(): Promise<void> {
    try {
      // As a statement, not with the configuration: there a refusal ends the process (1.5.6).
      await this.run(`set block_allocator_memory = '50%'`);
    } catch (thrown) {
      // The limit is far beyond what the machine has: then it is as it was without.
      if (!/virtual memory size/.test(messageOf(thrown))) throw thrown;
    }
  }

  /** Interrupts the running query. */
  interrupt(): void {
    this.connection.interrupt();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.closeSync();
    if (!this.ownsInstance) return;
    this.instance.closeSync();
    await rm(this.spillFolder, { recursive: true, force: true });
  }
}
