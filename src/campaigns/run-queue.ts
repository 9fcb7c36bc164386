import type { PlannedRun } from './plan.js';

/** Runs still to be started, in order, held apart by the service that they use so that one on hold blocks no other. */
export class RunQueue {
  private readonly lines = new Map<string, { runs: { run: PlannedRun; position: number }[]; next: number }>();
  private readonly cells = new Map<number, number>();
  private added = 0;
  private left = 0;

  constructor(
    runs: readonly PlannedRun[],
    private readonly serviceOf: (run: PlannedRun) => string,
  ) {
    for (const run of runs) this.add(run);
  }

  get size(): number {
    return this.left;
  }

  /** Whether a run of this cell is still to come. */
  hasCell(cell: number): boolean {
    return (this.cells.get(cell) ?? 0) > 0;
  }

  /** Puts a run at the end. */
  add(run: PlannedRun): void {
    const service = this.serviceOf(run);
    const line = this.lines.get(service) ?? { runs: [], next: 0 };
    this.lines.set(service, line);
    line.runs.push({ run, position: this.added });
    this.added += 1;
    this.left += 1;
    this.cells.set(run.cell, (this.cells.get(run.cell) ?? 0) + 1);
  }

  /** Takes the first run whose service may be used; undefined when there is none at the moment. */
  take(mayUse: (service: string) => boolean): PlannedRun | undefined {
    let first: { runs: { run: PlannedRun; position: number }[]; next: number } | undefined;
    for (const [service, line] of this.lines) {
      const head = line.runs[line.next];
      if (head === undefined || !mayUse(service)) continue;
      if (first === undefined || head.position < first.runs[first.next]!.position) first = line;
    }
    if (first === undefined) return undefined;
    const { run } = first.runs[first.next]!;
    first.next += 1;
    this.left -= 1;
    this.cells.set(run.cell, this.cells.get(run.cell)! - 1);
    return run;
  }
}
