/** What one run takes of each pool, for example `{ parallel: 1, 'service:openai/gpt-5': 1, memory: 4e9 }`. */
export type Demand = Readonly<Record<string, number>>;

export interface LimitsOptions {
  /** Capacity by pool; a pool that is not named has none. */
  readonly capacities: Readonly<Record<string, number>>;
  /** First wait after a rate limit in ms; doubled with each that follows without a success. */
  readonly firstHoldMilliseconds?: number;
  readonly longestHoldMilliseconds?: number;
}

interface Service {
  /** How many runs it bears, as far as is known; not whole. */
  capacity: number;
  readonly most: number;
  /** No start before this instant. */
  heldUntil: number;
  /** Rate limits since the last success. */
  strikes: number;
}

/**
 * How much may run at once. Fixed pools (in all, per sandbox, per provider, memory) have a capacity. A *service* is a
 * model at a provider, and what it bears is learnt: a rate limit halves its share and holds it for a while, every
 * success adds one over the share (additive increase, multiplicative decrease, as TCP does; Chiu and Jain 1989).
 */
export class Limits {
  private readonly used = new Map<string, number>();
  private readonly services = new Map<string, Service>();
  private readonly firstHold: number;
  private readonly longestHold: number;

  constructor(private readonly options: LimitsOptions) {
    this.firstHold = options.firstHoldMilliseconds ?? 15_000;
    this.longestHold = options.longestHoldMilliseconds ?? 15 * 60_000;
  }

  /** Whether a run may start now. One that takes more than a whole pool has may start when it has the pool alone. */
  fits(demand: Demand, service: string | undefined, now: number): boolean {
    for (const [pool, amount] of Object.entries(demand)) {
      const capacity = this.options.capacities[pool];
      const used = this.used.get(pool) ?? 0;
      if (capacity !== undefined && used > 0 && used + amount > capacity) return false;
    }
    if (service === undefined) return true;
    const { capacity, heldUntil } = this.service(service);
    return now >= heldUntil && (this.used.get(service) ?? 0) + 1 <= Math.floor(capacity);
  }

  take(demand: Demand, service: string | undefined): void {
    for (const [pool, amount] of Object.entries(demand)) this.add(pool, amount);
    if (service !== undefined) this.add(service, 1);
  }

  give(demand: Demand, service: string | undefined): void {
    for (const [pool, amount] of Object.entries(demand)) this.add(pool, -amount);
    if (service !== undefined) this.add(service, -1);
  }

  /** A run came through without a rate limit. */
  succeeded(service: string): void {
    const state = this.service(service);
    state.strikes = 0;
    state.capacity = Math.min(state.most, state.capacity + 1 / state.capacity);
  }

  /**
   * A run met a rate limit; returns how long its service is held, in ms. Several at once are one: they were started
   * under the same share.
   */
  rateLimited(service: string, now: number): number {
    const state = this.service(service);
    if (now < state.heldUntil) return state.heldUntil - now;
    const hold = Math.min(this.longestHold, this.firstHold * 2 ** state.strikes);
    state.strikes += 1;
    state.capacity = Math.max(1, state.capacity / 2);
    state.heldUntil = now + hold;
    return hold;
  }

  /** Runs that a service bears at the moment. */
  share(service: string): number {
    return Math.floor(this.service(service).capacity);
  }

  private service(name: string): Service {
    const known = this.services.get(name);
    if (known !== undefined) return known;
    const most = this.options.capacities.parallel ?? 1;
    const fresh: Service = { capacity: most, most, heldUntil: 0, strikes: 0 };
    this.services.set(name, fresh);
    return fresh;
  }

  private add(pool: string, amount: number): void {
    this.used.set(pool, (this.used.get(pool) ?? 0) + amount);
  }
}
