import type { CampaignPlan, PlannedRun } from '../campaigns/plan.js';
import { type CampaignEvent, describe } from '../campaigns/run.js';
import type { Progress } from '../support/progress.js';
import { cleanForTerminal } from '../support/terminal.js';

/** Numbers of a campaign under way, for the one line or the few that show it. */
interface Tally {
  readonly planned: number;
  done: number;
  unjudged: number;
  errors: number;
  tokens: number;
  cost: number;
  made: number;
  readonly started: number;
  readonly underWay: Map<string, { readonly run: PlannedRun; readonly since: number }>;
  readonly last: string[];
  state: string;
}

function runWords(plan: CampaignPlan, run: PlannedRun): string {
  const { task, condition, schema, model } = plan.cells[run.cell]!;
  const more = [schema === 'native' ? '' : schema, model ?? ''].filter((word) => word !== '');
  return [task, condition, ...more, `trial ${run.trial}`].join(' ');
}

/** Seconds as people say them. */
export function durationWords(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** Counts of tokens, short. */
export function tokenWords(tokens: number): string {
  if (tokens < 1e4) return String(tokens);
  return tokens < 1e6 ? `${(tokens / 1e3).toFixed(0)} k` : `${(tokens / 1e6).toFixed(1)} M`;
}

/** What an event changes, and the line that a plain log shows of it. */
function tell(tally: Tally, plan: CampaignPlan, event: CampaignEvent): string | undefined {
  switch (event.kind) {
    case 'started':
      tally.underWay.set(event.run.runId, { run: event.run, since: performance.now() });
      return undefined;
    case 'finished': {
      tally.underWay.delete(event.run.runId);
      tally.done += 1;
      tally.made += 1;
      tally.tokens += event.entry.spent.tokens;
      tally.cost += event.entry.spent.cost;
      if (event.entry.status === 'unjudged') tally.unjudged += 1;
      const line = `${runWords(plan, event.run)}: ${describe(event.result)}`;
      tally.last.push(line);
      if (tally.last.length > 5) tally.last.shift();
      return `${tally.done}/${tally.planned} ${line}`;
    }
    case 'error':
      tally.underWay.delete(event.run.runId);
      tally.errors += 1;
      return `${runWords(plan, event.run)}: not made, ${event.code}: ${event.message}`;
    case 'rate-limited':
      tally.state = `rate limit of ${event.service}: ${event.share} at once, next start in ${durationWords(event.waitSeconds)}`;
      return tally.state;
    case 'wish':
      tally.state = event.wants === 'run' ? '' : `asked to ${event.wants}`;
      return event.wants === 'run' ? 'asked to go on' : tally.state;
  }
}

function freshTally(plan: CampaignPlan, done: number): Tally {
  return {
    planned: plan.runs.length,
    done,
    unjudged: 0,
    errors: 0,
    tokens: 0,
    cost: 0,
    made: 0,
    started: performance.now(),
    underWay: new Map(),
    last: [],
    state: '',
  };
}

/** A plain line per finished run, for logs and for people who do not watch. */
export function campaignLog(
  progress: Progress,
  plan: CampaignPlan,
  done = 0,
): (event: CampaignEvent) => void {
  const tally = freshTally(plan, done);
  return (event) => {
    const line = tell(tally, plan, event);
    if (line === undefined) return;
    if (event.kind === 'error' || event.kind === 'rate-limited') progress.warn(line);
    else progress.done(line);
  };
}

/** The lines of the live view at an instant; pure, so that it can be tested. */
export function viewLines(tally: Tally, plan: CampaignPlan, now: number): readonly string[] {
  const { done, planned, made, started } = tally;
  const left = made === 0 ? undefined : ((now - started) / 1000 / made) * (planned - done);
  const width = 30;
  const filled = Math.floor((width * done) / planned);
  const facts = [
    `${done}/${planned} runs`,
    ...(tally.unjudged > 0 ? [`${tally.unjudged} unjudged`] : []),
    ...(tally.errors > 0 ? [`${tally.errors} not made`] : []),
    `${tokenWords(tally.tokens)} tokens`,
    `$${tally.cost.toFixed(2)}`,
    ...(left === undefined ? [] : [`about ${durationWords(left)} left`]),
  ];
  return [
    `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${facts.join(', ')}`,
    ...(tally.state === '' ? [] : [tally.state]),
    ...tally.last.map((line) => `  done     ${line}`),
    ...[...tally.underWay.values()].map(
      ({ run, since }) => `  running  ${runWords(plan, run)} (${durationWords((now - since) / 1000)})`,
    ),
  ];
}

/** A view that is drawn again every second on a terminal; ended by disposing it. */
export class LiveView implements Disposable {
  private readonly tally: Tally;
  private drawn = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly plan: CampaignPlan,
    private readonly stream: NodeJS.WriteStream,
    done: number,
  ) {
    this.tally = freshTally(plan, done);
    this.timer = setInterval(() => this.draw(), 1000);
    this.timer.unref();
  }

  readonly onEvent = (event: CampaignEvent): void => {
    const line = tell(this.tally, this.plan, event);
    if (event.kind === 'error' && line !== undefined) this.keep(`warning: ${line}`);
    this.draw();
  };

  private clear(): string {
    return this.drawn === 0 ? '' : `\u001b[${this.drawn}A\u001b[0J`;
  }

  /** Writes a line that stays above the view. */
  private keep(line: string): void {
    this.stream.write(`${this.clear()}${cleanForTerminal(line)}\n`);
    this.drawn = 0;
  }

  private draw(): void {
    const columns = this.stream.columns || 80;
    const rows = Math.max(3, (this.stream.rows || 24) - 1);
    const lines = viewLines(this.tally, this.plan, performance.now())
      .slice(0, rows)
      .map((line) => cleanForTerminal(line).slice(0, columns - 1));
    this.stream.write(`${this.clear()}${lines.join('\n')}\n`);
    this.drawn = lines.length;
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer);
    this.draw();
  }
}
