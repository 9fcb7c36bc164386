import { describe, expect, it } from 'vitest';
import { costOf, hasPrice, readPrices } from './prices.js';
import { secondsUntil, withRetryAfter } from './rate-limit.js';
import { json, withGateway } from './test-gateway.js';
import { askGateway } from './test-provider.js';

const prices = await readPrices();

describe('the price table', () => {
  it('charges cached input, cache writes and output at their own prices', () => {
    const tokens = {
      input: 1_000_000,
      cachedInput: 400_000,
      cacheWrite: 100_000,
      output: 10_000,
      reasoning: 9,
    };
    // claude-sonnet-4-5: 0.5 M at 3, 0.4 M at 0.3, 0.1 M at 3.75, 0.01 M at 15.
    expect(costOf(prices, 'anthropic', 'claude-sonnet-4-5-20250929', tokens)).toBeCloseTo(2.145, 10);
    // gpt-5 has no price of its own for cache writes: 0.6 M at 1.25, 0.4 M at 0.125, 0.01 M at 10.
    expect(costOf(prices, 'openai', 'gpt-5', tokens)).toBeCloseTo(0.9, 10);
  });

  it('takes a date for a version of the same model, and another word for another model', () => {
    const tokens = { input: 1_000_000, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    expect(costOf(prices, 'openai', 'gpt-5-2025-08-07', tokens)).toBe(1.25);
    expect(costOf(prices, 'router', 'openai/gpt-5-mini', tokens)).toBe(0.25);
    expect(costOf(prices, 'openai', 'gpt-5-pro', tokens)).toBeNull();
    expect(costOf(prices, 'openai', 'gpt-5.9', tokens)).toBeNull();
    expect(costOf(prices, 'local', 'qwen3:4b', tokens)).toBe(0);
    expect(hasPrice(prices, 'openai', null)).toBe(false);
  });
});

describe('a budget in money', () => {
  const usage = { input_tokens: 1_000_000, output_tokens: 0 };

  it('ends when the sum of the answers has reached it', async () => {
    const told: string[] = [];
    const { exchanges } = await withGateway(
      json({ model: 'gpt-5', usage }),
      async (gateway) => {
        const statuses: number[] = [];
        for (let at = 0; at < 3; at += 1)
          statuses.push(
            (await askGateway(gateway.socketPath, '/openai/v1/responses', { model: 'gpt-5' })).status,
          );
        expect(statuses).toEqual([200, 200, 429]);
        expect(gateway.summary().cost).toBe(2.5);
      },
      { prices, budget: { maxCost: 2 }, onBudgetSpent: (reason) => told.push(reason) },
    );
    expect(told).toEqual(['the budget of 2 US dollars is spent']);
    expect(exchanges.map(({ cost }) => cost)).toEqual([1.25, 1.25, null]);
  });

  it('refuses a model without a price', async () => {
    await withGateway(
      json({}),
      async (gateway, provider) => {
        const answer = await askGateway(gateway.socketPath, '/openai/v1/responses', { model: 'unheard-of' });
        expect(answer.status).toBe(429);
        expect(answer.body).toContain('no model unheard-of');
        expect(provider.received).toHaveLength(0);
      },
      { prices, budget: { maxCost: 2 } },
    );
  });
});

describe('a budget of wall time', () => {
  it('is told as soon as it is over, without a request', async () => {
    await withGateway(
      json({}),
      async (gateway) => {
        await askGateway(gateway.socketPath, '/openai/v1/responses', {});
        const began = performance.now();
        expect(await over).toBe('the budget of 0.2 seconds is spent');
        expect(performance.now() - began).toBeLessThan(5_000);
        expect((await askGateway(gateway.socketPath, '/openai/v1/responses', {})).status).toBe(429);
      },
      { budget: { maxSeconds: 0.2 }, onBudgetSpent: (reason) => tell(reason) },
    );
  });
  let tell: (reason: string) => void = () => {};
  const over = new Promise<string>((resolve) => {
    tell = resolve;
  });
});

describe('a rate limit', () => {
  it('always tells how long to wait: the provider word, its reset times, or five seconds', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    const waitOf = (headers: Record<string, string>, status = 429): string | undefined =>
      withRetryAfter(status, headers, now)['retry-after'];
    expect(waitOf({})).toBe('5');
    expect(waitOf({ 'retry-after': '17' })).toBe('17');
    expect(waitOf({ 'retry-after-ms': '900' })).toBeUndefined();
    expect(
      waitOf({
        'x-ratelimit-remaining-requests': '12',
        'x-ratelimit-reset-requests': '2m0s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '7.2s',
      }),
    ).toBe('8');
    expect(
      waitOf({
        'anthropic-ratelimit-tokens-remaining': '0',
        'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:41Z',
      }),
    ).toBe('41');
    expect(waitOf({ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '9h' })).toBe('300');
    expect(waitOf({}, 529)).toBe('5');
    expect(waitOf({}, 500)).toBeUndefined();
    expect(secondsUntil('1h2m3s', now)).toBe(3723);
    expect(secondsUntil('120ms', now)).toBe(0.12);
    expect(secondsUntil('soon', now)).toBeUndefined();
  });

  it('reaches the client with a wait that the provider did not name', async () => {
    await withGateway(
      (response) => {
        response.writeHead(429, { 'content-type': 'application/json' });
        response.end('{}');
      },
      async (gateway) => {
        const answer = await askGateway(gateway.socketPath, '/openai/v1/responses', {});
        expect([answer.status, answer.headers['retry-after']]).toEqual([429, '5']);
      },
    );
  });
});
