import type { DuckSession } from '../duck/session.js';
import type { Progress } from '../support/progress.js';
import type { SourceFile } from './release-folder.js';
import { estimatedRows } from './row-estimate.js';

interface RunningFile {
  readonly session: DuckSession;
  /** Undefined where it cannot be told, for example for Parquet. */
  readonly rows: number | undefined;
}

/**
 * Turns what the sessions report into one line: share done, rows per second and time left, also inside a table of
 * hundreds of millions of rows. Rows of a table that is being read are an estimate from its first megabyte.
 */
export class ImportProgress {
  private readonly startedAt: number;
  private readonly running = new Map<SourceFile, RunningFile>();
  private readonly totalBytes: number;
  private doneBytes = 0;
  private doneRows = 0;
  private doneFiles = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly progress: Progress,
    private readonly files: readonly SourceFile[],
    private readonly now: () => number = () => performance.now(),
  ) {
    this.startedAt = now();
    this.totalBytes = files.reduce((sum, file) => sum + file.bytes, 0);
    this.timer = setInterval(() => this.report(), 1000);
    this.timer.unref();
  }

  async begin(file: SourceFile, session: DuckSession): Promise<void> {
    this.running.set(file, { session, rows: await estimatedRows(file) });
    this.report();
  }

  end(file: SourceFile, rows: number): void {
    this.running.delete(file);
    this.doneBytes += file.bytes;
    this.doneRows += rows;
    this.doneFiles += 1;
    this.report();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private report(): void {
    let bytes = this.doneBytes;
    let rows = this.doneRows;
    for (const [file, { session, rows: expected }] of this.running) {
      const share = Math.max(0, session.connection.progress.percentage) / 100;
      bytes += file.bytes * share;
      rows += (expected ?? 0) * share;
    }
    const share = this.totalBytes === 0 ? 1 : bytes / this.totalBytes;
    const seconds = (this.now() - this.startedAt) / 1000;
    const rate =
      rows === 0 || seconds < 0.5 ? '' : `, ${Math.round(rows / seconds).toLocaleString('en')} rows/s`;
    const left =
      share > 0.01 && seconds > 2 ? `, about ${duration((seconds / share) * (1 - share))} left` : '';
    const names = [...this.running.keys()].map((file) => file.file).join(', ');
    this.progress.update(
      `import ${this.doneFiles}/${this.files.length} files, ${Math.floor(share * 100)} %${rate}${left}: ${names}`,
    );
  }
}

/** Seconds in words of one unit. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
