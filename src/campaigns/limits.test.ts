import { describe, expect, test } from 'vitest';
import { budgetReached, type Spent } from './budget.js';
import { Limits } from './limits.js';

describe('pools', () => {
  test('a run starts when every pool has room for it, and gives back what it took', () => {
    const limits = new Limits({ capacities: { parallel: 3, memory: 10, 'sandbox:docker': 2 } });
    const demand = { parallel: 1, memory: 4, 'sandbox:docker': 1 };
    expect(limits.fits(demand, undefined, 0)).toBe(true);
    limits.take(demand, undefined);
    limits.take(demand, undefined);
    // Two of two in the sandbox, eight of ten of memory.
    expect(limits.fits(demand, undefined, 0)).toBe(false);
    expect(limits.fits({ parallel: 1, memory: 4 }, undefined, 0)).toBe(false);
    expect(limits.fits({ parallel: 1, memory: 2 }, undefined, 0)).toBe(true);
    limits.give(demand, undefined);
    expect(limits.fits(demand, undefined, 0)).toBe(true);
  });

  test('a run that wants more memory than there is runs alone rather than never', () => {
    const limits = new Limits({ capacities: { parallel: 3, memory: 10 } });
    const large = { parallel: 1, memory: 40 };
    expect(limits.fits(large, undefined, 0)).toBe(true);
    limits.take(large, undefined);
    expect(limits.fits({ parallel: 1, memory: 1 }, undefined, 0)).toBe(false);
  });
});

describe('what a service bears', () => {
  const demand = { parallel: 1 };
  const service = 'service:openai/gpt-5';

  test('a rate limit halves its share and holds it; several at once are one; holds double', () => {
    const limits = new Limits({ capacities: { parallel: 8 }, firstHoldMilliseconds: 1000 });
    expect(limits.share(service)).toBe(8);
    expect(limits.rateLimited(service, 0)).toBe(1000);
    expect(limits.rateLimited(service, 400)).toBe(600);
    expect(limits.share(service)).toBe(4);
    expect(limits.fits(demand, service, 999)).toBe(false);
    expect(limits.fits(demand, service, 1000)).toBe(true);
    expect(limits.rateLimited(service, 1000)).toBe(2000);
    expect(limits.rateLimited(service, 3000)).toBe(4000);
    expect(limits.share(service)).toBe(1);
    limits.rateLimited(service, 10_000);
    // Never below one: the campaign goes on, slowly.
    expect(limits.share(service)).toBe(1);
  });

  test('successes give the share back, one more for as many successes as it bears', () => {
    const limits = new Limits({ capacities: { parallel: 4 }, firstHoldMilliseconds: 1000 });
    limits.rateLimited(service, 0);
    expect(limits.share(service)).toBe(2);
    limits.succeeded(service); // 2.5
    expect(limits.share(service)).toBe(2);
    limits.succeeded(service); // 2.9
    limits.succeeded(service); // 3.24
    expect(limits.share(service)).toBe(3);
    for (let more = 0; more < 20; more += 1) limits.succeeded(service);
    expect(limits.share(service)).toBe(4);
    // A success ends the doubling.
    expect(limits.rateLimited(service, 5000)).toBe(1000);
  });

  test('one service on hold leaves the others alone', () => {
    const limits = new Limits({ capacities: { parallel: 4 } });
    limits.rateLimited(service, 0);
    expect(limits.fits(demand, service, 1)).toBe(false);
    expect(limits.fits(demand, 'service:anthropic/opus', 1)).toBe(true);
  });
});

describe('the budget of a campaign', () => {
  const spent: Spent = {
    tokens: 900,
    cost: 9,
    finished: 9,
    secondsOfSession: 10,
    startedInSession: 4,
    underWay: 0,
  };

  test('counts the run to come, and those under way, at the mean of the finished ones', () => {
    expect(budgetReached({ tokens: 1000 }, spent)).toBeUndefined();
    expect(budgetReached({ tokens: 999 }, spent)).toContain('900 of 999 tokens');
    expect(budgetReached({ tokens: 1000 }, { ...spent, underWay: 1 })).toContain('tokens');
    expect(budgetReached({ cost: 10 }, spent)).toBeUndefined();
    expect(budgetReached({ cost: 9.99 }, spent)).toContain('9.00 of 9.99 US dollars');
  });

  test('limits the runs and the time of a session', () => {
    expect(budgetReached({ runs: 5, seconds: 11 }, spent)).toBeUndefined();
    expect(budgetReached({ runs: 4 }, spent)).toContain('4 runs');
    expect(budgetReached({ seconds: 10 }, spent)).toContain('10 s');
    expect(budgetReached({}, spent)).toBeUndefined();
  });

  test('the first run is always made: nothing is known of its cost', () => {
    expect(budgetReached({ tokens: 1 }, { ...spent, tokens: 0, finished: 0 })).toBeUndefined();
  });
});
