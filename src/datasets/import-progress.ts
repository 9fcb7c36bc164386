import type { DuckSession } from '../duck/session.js';
import type { Progress } from '../support/progress.js';

interface SizedFile {
  readonly file: string;
  readonly bytes: number;
}

/** Turns what the sessions report into one line: share done, rows per second, time left. */
export class ImportProgress {
  private readonly startedAt = performance.now();
  private readonly running = new Map<SizedFile, DuckSession>();
  private readonly totalBytes: number;
  private doneBytes = 0;
  private doneRows = 0;
  private doneFiles = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly progress: Progress,
    private readonly files: readonly SizedFile[],
  ) {
    this.totalBytes = files.reduce((sum, file) => sum + file.bytes, 0);
    this.timer = setInterval(() => this.report(), 1000);
    this.timer.unref();
  }

  begin(file: SizedFile, session: DuckSession): void {
    this.running.set(file, session);
    this.report();
  }

  end(file: SizedFile, rows: number): void {
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
    const partial = [...this.running].map(([file, session]) => {
      const percentage = session.connection.progress.percentage;
      return file.bytes * (percentage > 0 ? percentage / 100 : 0);
    });
    const bytes = this.doneBytes + partial.reduce((sum, done) => sum + done, 0);
    const share = this.totalBytes === 0 ? 1 : bytes / this.totalBytes;
    const seconds = (performance.now() - this.startedAt) / 1000;
    const rate =
      this.doneRows === 0 ? '' : `, ${Math.round(this.doneRows / seconds).toLocaleString('en')} rows/s`;
    const left =
      share > 0.02 && seconds > 2 ? `, about ${duration((seconds / share) * (1 - share))} left` : '';
    const names = [...this.running.keys()].map((file) => file.file).join(', ');
    this.progress.update(
      `import ${this.doneFiles}/${this.files.length} files, ${Math.floor(share * 100)} %${rate}${left}: ${names}`,
    );
  }
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
