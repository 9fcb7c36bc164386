import type { DuckSession } from '../duck/session.js';
import { Refusal } from './refusal.js';

/** Ends an evaluation that takes too long: aborts reading, and interrupts whatever query runs from then on. */
export class Deadline implements Disposable {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private interrupting: NodeJS.Timeout | undefined;

  constructor(session: DuckSession, seconds: number) {
    this.timer = setTimeout(() => {
      this.controller.abort(
        new Refusal('limit-exceeded', `Scoring took longer than ${seconds} seconds and was given up.`),
      );
      session.interrupt();
      // The interrupt may fall between two queries, so it is repeated.
      this.interrupting = setInterval(() => session.interrupt(), 50);
    }, seconds * 1000);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.timer);
    clearInterval(this.interrupting);
  }
}
