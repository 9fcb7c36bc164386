import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent } from '../agents/agent.js';
import { agentNamed } from '../agents/agents.js';
import type { Provider } from '../gateway/gateway-types.js';
import { homeAt } from '../support/home.js';
import { loadProtocol } from '../tasks/protocol.js';
import { type CassetteOptions, openCassette } from './cassette-options.js';
import { checkLogin, type RunOptions } from './run-setup.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-run-setup-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = { environment: {}, userHome: '/nonexistent' };
const basic = agentNamed('basic', settings);
const sql = agentNamed('sql', settings);
const file = (name: string): string => join(folder, 'cassettes', name);

function opened(agent: Agent, options: CassetteOptions, providers: () => readonly Provider[] = () => []) {
  return openCassette(homeAt(folder), agent, options, providers);
}

describe('the cassette options', () => {
  test.each([
    ['both --record and --replay', { record: 'a', replay: 'b' }],
    ['--loose alone', { loose: true }],
    ['--loose with --record', { record: 'a', loose: true }],
    ['all three', { record: 'a', replay: 'b', loose: true }],
  ])('are refused: %s', async (_name, { record, replay, loose }: CassetteOptions) => {
    const options = {
      ...(record === undefined ? {} : { record: file(record) }),
      ...(replay === undefined ? {} : { replay: file(replay) }),
      ...(loose === undefined ? {} : { loose }),
    };
    await expect(opened(basic, options)).rejects.toMatchObject({
      code: 'CASSETTE_OPTIONS',
      remedy: expect.stringContaining('--record FILE, or --replay FILE'),
    });
    expect(existsSync(join(folder, 'cassettes'))).toBe(false);
  });

  test('are refused to an agent that asks no model', async () => {
    for (const options of [{ record: file('a') }, { replay: file('a') }])
      await expect(opened(sql, options)).rejects.toMatchObject({
        code: 'CASSETTE_OPTIONS',
        message: expect.stringContaining('The agent sql asks no model'),
      });
    expect(await opened(sql, {})).toEqual({});
  });

  test('ask for a provider, and so for a key, only to record', async () => {
    const providers = (): never => {
      throw new Error('asked');
    };
    await expect(opened(basic, { record: file('a') }, providers)).rejects.toThrow('asked');
    const { recorder } = await opened(basic, { record: file('a') });
    expect(recorder?.isGuarded).toBe(true);
    await recorder?.[Symbol.asyncDispose]();
    const { player } = await opened(basic, { replay: file('a'), loose: true }, providers);
    await player?.[Symbol.asyncDispose]();
    expect(player).toBeDefined();
    expect(await opened(basic, {}, providers)).toEqual({});
  });
});

describe('the option --login', () => {
  const needs: unknown[] = [];
  const withLogin: Agent = {
    ...basic,
    login: {
      provider: 'anthropic',
      hosts: ['api.anthropic.com'],
      read: async (need) => {
        needs.push(need.seconds);
        return { files: [], secrets: [] };
      },
    },
  };
  const options: RunOptions = {
    agent: 'basic',
    effort: 'auto',
    protocol: 'm4bench-1',
    schema: 'native',
    schemaSeed: 's',
    sandbox: 'process',
    memory: 1024,
    login: true,
  };
  const check = async (more: Partial<RunOptions>, agent = withLogin): Promise<void> =>
    checkLogin(agent, { ...options, ...more }, await loadProtocol('m4bench-1'));

  test.each([
    ['--max-tokens', { maxTokens: 10 }],
    ['--max-cost', { maxCost: 1 }],
    ['--record', { record: 'a' }],
    ['--replay', { replay: 'a' }],
    ['--provider', { provider: 'openai' }],
  ])('excludes %s, which it cannot keep', async (name, more) => {
    await expect(check(more)).rejects.toMatchObject({
      code: 'LOGIN_OPTIONS',
      message: expect.stringContaining(`${name} cannot hold with --login`),
      remedy: `Leave ${name} away, or use an API key.`,
    });
    expect(needs).toEqual([]);
  });

  test('is refused to an agent without one, and asks for a login that lasts as long as the run may', async () => {
    await expect(check({}, basic)).rejects.toMatchObject({ code: 'LOGIN_NOT_OFFERED' });
    await check({ timeout: 77 });
    const { timeLimitSeconds } = await loadProtocol('m4bench-1');
    await check({});
    expect(needs).toEqual([77, timeLimitSeconds]);
  });
});
