import { Redis } from 'ioredis';
import { M4BenchError } from '../support/errors.js';
import type { CampaignBudget, Spent } from './budget.js';
import type { ResultEntry } from './journal.js';
import type { CampaignPlan } from './plan.js';

/** BullMQ queue of a plan. */
export const queueNameOf = (plan: Pick<CampaignPlan, 'planHash'>): string =>
  `m4bench-${plan.planHash.slice(0, 20)}`;

/** Data of a job: nothing else is in Redis about a run. */
export interface RunJob {
  readonly planHash: string;
  /** Index of `plan.runs`. */
  readonly run: number;
}

/** A connection that waits for a server that is away, as long as it takes. Throws `QUEUE_URL_INVALID`. */
export function connectTo(url: string, onTrouble: (message: string) => void): Redis {
  if (!/^rediss?:\/\//.test(url)) {
    throw new M4BenchError(
      'QUEUE_URL_INVALID',
      'The queue is not a Redis address.',
      'Give one such as redis://127.0.0.1:6379.',
    );
  }
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (times) => Math.min(2000, times * 100),
  });
  // Addresses may hold a password: only the system's own words are passed on.
  redis.on('error', (error: Error & { code?: string }) => onTrouble(error.code ?? 'connection error'));
  return redis;
}

/** Adds the spending of a run once, however often it is told. */
const countScript = `
if redis.call('SADD', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HINCRBYFLOAT', KEYS[2], 'tokens', ARGV[2])
redis.call('HINCRBYFLOAT', KEYS[2], 'cost', ARGV[3])
redis.call('HINCRBY', KEYS[2], 'finished', 1)
return 1`;

/**
 * The share of runs that the model service bears, common to all workers (see \`limits.ts\`). Returns the share, and for a
 * rate limit the wait in ms.
 */
const shareScript = `
local most = tonumber(redis.call('HGET', KEYS[1], 'most') or '1')
local share = tonumber(redis.call('HGET', KEYS[1], 'share') or most)
local now = tonumber(ARGV[2])
if ARGV[1] == 'success' then
  redis.call('HSET', KEYS[1], 'share', math.min(most, share + 1 / share), 'strikes', 0)
  return {math.floor(math.min(most, share + 1 / share)), 0}
end
local held = tonumber(redis.call('HGET', KEYS[1], 'heldUntil') or '0')
if now < held then return {math.floor(share), held - now} end
local strikes = tonumber(redis.call('HGET', KEYS[1], 'strikes') or '0')
local hold = math.min(900000, tonumber(ARGV[3]) * 2 ^ strikes)
share = math.max(1, share / 2)
redis.call('HSET', KEYS[1], 'share', share, 'strikes', strikes + 1, 'heldUntil', now + hold)
return {math.floor(share), math.floor(hold)}`;

/**
 * What the workers of a campaign share in Redis beside the queue: spending, budget, and the share of the service. All of
 * it can be lost at any time: the one who coordinates writes it again from plan and journal.
 */
export class QueueState {
  private readonly prefix: string;

  constructor(
    private readonly redis: Redis,
    plan: Pick<CampaignPlan, 'planHash'>,
  ) {
    this.prefix = `m4bench:{${plan.planHash.slice(0, 20)}}`;
  }

  private key(name: string): string {
    return `${this.prefix}:${name}`;
  }

  /** True when this server holds the state of this campaign, false when it was emptied or replaced. */
  async isThere(): Promise<boolean> {
    return (await this.redis.exists(this.key('seeded'))) === 1;
  }

  /** Writes everything again. */
  async seed(results: Iterable<ResultEntry>, budget: CampaignBudget, most: number): Promise<void> {
    await this.redis.del(this.key('counted'), this.key('spent'), this.key('budget'), this.key('share'));
    for (const entry of results) await this.count(entry.runId, entry.spent);
    const limits = Object.entries(budget).filter(([, value]) => value !== undefined);
    if (limits.length > 0) await this.redis.hset(this.key('budget'), Object.fromEntries(limits));
    await this.redis.hset(this.key('share'), { most, share: most });
    await this.redis.set(this.key('seeded'), '1');
  }

  async count(runId: string, spent: ResultEntry['spent']): Promise<void> {
    await this.redis.eval(
      countScript,
      2,
      this.key('counted'),
      this.key('spent'),
      runId,
      String(spent.tokens),
      String(spent.cost),
    );
  }

  /** The budget of tokens and money, and what is spent of it by all workers. */
  async budget(): Promise<{ readonly budget: CampaignBudget; readonly spent: Omit<Spent, 'underWay'> }> {
    const [limits, spent] = await Promise.all([
      this.redis.hgetall(this.key('budget')),
      this.redis.hgetall(this.key('spent')),
    ]);
    return {
      budget: {
        ...(limits.tokens === undefined ? {} : { tokens: Number(limits.tokens) }),
        ...(limits.cost === undefined ? {} : { cost: Number(limits.cost) }),
      },
      spent: {
        tokens: Number(spent.tokens ?? 0),
        cost: Number(spent.cost ?? 0),
        finished: Number(spent.finished ?? 0),
        secondsOfSession: 0,
        startedInSession: 0,
      },
    };
  }

  /** Raises the share after a success. */
  async succeeded(): Promise<number> {
    const [share] = (await this.redis.eval(
      shareScript,
      1,
      this.key('share'),
      'success',
      Date.now(),
      0,
    )) as number[];
    return share!;
  }

  /** Halves the share after a rate limit; how long no run may start, in ms. */
  async rateLimited(
    firstHoldMilliseconds: number,
  ): Promise<{ readonly share: number; readonly hold: number }> {
    const [share, hold] = (await this.redis.eval(
      shareScript,
      1,
      this.key('share'),
      'limited',
      Date.now(),
      firstHoldMilliseconds,
    )) as number[];
    return { share: share!, hold: hold! };
  }
}
