import type { Progress } from '../support/progress.js';
import { duration } from './import-progress.js';

/** One line about a download: files done, share, rate and time left. */
export class DownloadProgress {
  private readonly startedAt = performance.now();
  private readonly onDisk = new Map<string, number>();
  private fetchedBytes = 0;
  private doneFiles = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly progress: Progress,
    private readonly files: number,
    /** As far as the server tells. */
    private readonly totalBytes: number,
  ) {
    this.timer = setInterval(() => this.report(), 500);
    this.timer.unref();
  }

  /** So many bytes of a file are on disk. */
  advance(file: string, bytes: number): void {
    this.fetchedBytes += Math.max(0, bytes - (this.onDisk.get(file) ?? bytes));
    this.onDisk.set(file, bytes);
  }

  finish(file: string, bytes: number): void {
    this.onDisk.set(file, bytes);
    this.doneFiles += 1;
    this.report();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private report(): void {
    const bytes = [...this.onDisk.values()].reduce((sum, size) => sum + size, 0);
    const seconds = (performance.now() - this.startedAt) / 1000;
    const rate = this.fetchedBytes / Math.max(seconds, 0.001);
    const share = this.totalBytes === 0 ? '' : `, ${Math.floor((100 * bytes) / this.totalBytes)} %`;
    const left =
      seconds > 2 && rate > 0 && this.totalBytes > bytes
        ? `, about ${duration((this.totalBytes - bytes) / rate)} left`
        : '';
    this.progress.update(
      `download ${this.doneFiles}/${this.files} files${share}, ${(rate / 1e6).toFixed(1)} MB/s${left}`,
    );
  }
}
