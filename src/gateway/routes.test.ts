import { describe, expect, it } from 'vitest';
import { providersFromEnvironment } from './providers.js';
import { routeOf, upstreamUrl } from './routes.js';

describe('the address of a path at a provider', () => {
  it.each([
    ['https://api.openai.com/v1', 'https://api.openai.com/v1/responses'],
    ['https://api.openai.com/v1/', 'https://api.openai.com/v1/responses'],
    ['https://api.openai.com', 'https://api.openai.com/v1/responses'],
    ['https://host/openai/v1', 'https://host/openai/v1/responses'],
    ['https://host/api/v4', 'https://host/api/v4/responses'],
    ['https://host/v1beta', 'https://host/v1beta/responses'],
    ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/v1/responses'],
  ])('with the base %s is %s', (base, expected) => {
    expect(upstreamUrl(base, '/v1/responses').href).toBe(expected);
  });
});

describe('providers from the environment', () => {
  it('are those with a key or a local address', () => {
    expect(providersFromEnvironment({})).toEqual([]);
    const named = providersFromEnvironment({
      OPENAI_API_KEY: 'a',
      ANTHROPIC_API_KEY: ' b\n',
      ANTHROPIC_BASE_URL: 'https://proxy.example',
      M4BENCH_LOCAL_BASE_URL: 'http://127.0.0.1:11434',
    });
    expect(named.map(({ name, baseUrl, apiKey, keyHeader }) => [name, baseUrl, apiKey, keyHeader])).toEqual([
      ['openai', 'https://api.openai.com/v1', 'a', 'authorization-bearer'],
      ['anthropic', 'https://proxy.example', 'b', 'x-api-key'],
      ['local', 'http://127.0.0.1:11434', '', 'authorization-bearer'],
    ]);
  });

  it('are refused with an address that is none', () => {
    for (const url of ['localhost:11434', 'file:///etc/passwd', 'https://user:password@host'])
      expect(() => providersFromEnvironment({ M4BENCH_LOCAL_BASE_URL: url })).toThrow(
        'not an http or https address',
      );
  });
});

describe('routes', () => {
  const providers = providersFromEnvironment({ OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' });

  it('keep only harmless query parameters', () => {
    const route = routeOf('POST', '/anthropic/v1/messages?beta=true&redirect=https://x&beta=2', providers);
    expect('url' in route && route.url.href).toBe('https://api.anthropic.com/v1/messages?beta=true&beta=2');
  });

  it('spend tokens only where an answer is generated', () => {
    const generating = (method: string, path: string): boolean => {
      const route = routeOf(method, path, providers);
      return 'url' in route && route.isGeneration;
    };
    expect(generating('POST', '/openai/v1/responses')).toBe(true);
    expect(generating('POST', '/anthropic/v1/messages')).toBe(true);
    expect(generating('POST', '/anthropic/v1/messages/count_tokens')).toBe(false);
    expect(generating('GET', '/openai/v1/models')).toBe(false);
    expect(generating('GET', '/openai/v1/models/org~2fmodel:free')).toBe(false);
  });
});
