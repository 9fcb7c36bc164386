import { describe, expect, it } from 'vitest';
import { providersFromEnvironment } from './providers.js';
import { routeOf, upstreamUrl } from './routes.js';
import { events, json, KEY, withGateway } from './test-gateway.js';
import { askGateway } from './test-provider.js';

const GENERATE = '/gemini/v1beta/models/gemini-x:generateContent';
const STREAM = '/gemini/v1beta/models/gemini-x:streamGenerateContent?alt=sse&key=stolen';
const declared = { functionDeclarations: [{ name: 'shell', parameters: { googleSearch: {} } }] };
const answer = (usage: object, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Yes.' }] }, ...more }],
  usageMetadata: usage,
  modelVersion: 'gemini-x-001',
});

describe('the Gemini API', () => {
  it('is reached with the key in its own header, and counts what the provider stated', async () => {
    const { exchanges, text } = await withGateway(
      json(
        answer({
          promptTokenCount: 100,
          toolUsePromptTokenCount: 7,
          cachedContentTokenCount: 40,
          candidatesTokenCount: 20,
          thoughtsTokenCount: 5,
          totalTokenCount: 132,
        }),
      ),
      async (gateway, provider) => {
        const asked = await askGateway(
          gateway.socketPath,
          GENERATE,
          { contents: [] },
          { headers: { 'x-goog-api-key': 'not-a-key' } },
        );
        expect(asked.status).toBe(200);
        expect(provider.received[0]).toMatchObject({
          url: '/v1beta/models/gemini-x:generateContent',
          headers: { 'x-goog-api-key': KEY },
        });
        expect(provider.received[0]!.headers.authorization).toBeUndefined();
      },
    );
    expect(text).not.toContain(KEY);
    expect(exchanges).toMatchObject([
      {
        provider: 'gemini',
        protocol: 'gemini',
        model: 'gemini-x-001',
        // 100 + 7 in; 20 + 5 out.
        tokens: { input: 107, cachedInput: 40, cacheWrite: 0, output: 25, reasoning: 5 },
        hostedToolsRemoved: [],
        hostedToolCalls: [],
      },
    ]);
  });

  it.each([
    [
      'as events',
      events([
        { data: answer({ promptTokenCount: 9 }) },
        { data: answer({ promptTokenCount: 9, candidatesTokenCount: 2, thoughtsTokenCount: 1 }) },
      ]),
    ],
    [
      'as one list',
      json([answer({ promptTokenCount: 9 }), answer({ promptTokenCount: 9, candidatesTokenCount: 3 })]),
    ],
  ])('in a stream %s counts the last statement, and no key of the client goes on', async (_kind, stream) => {
    const { exchanges } = await withGateway(stream, async (gateway, provider) => {
      await askGateway(gateway.socketPath, STREAM, { contents: [] });
      expect(provider.received[0]!.url).toBe('/v1beta/models/gemini-x:streamGenerateContent?alt=sse');
    });
    expect(exchanges[0]?.tokens).toMatchObject({ input: 9, output: 3 });
  });

  it('loses the tools that the provider would run, and keeps the functions of the client', async () => {
    const { exchanges } = await withGateway(json({}), async (gateway, provider) => {
      await askGateway(gateway.socketPath, GENERATE, {
        contents: [{ parts: [{ text: 'googleSearch' }] }],
        tools: [
          { ...declared, googleSearch: {} },
          { codeExecution: {} },
          { urlContext: {} },
          { googleSearchRetrieval: {}, mcpServers: [{ name: 'x' }] },
        ],
        toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      });
      expect(JSON.parse(provider.received[0]!.body)).toEqual({
        contents: [{ parts: [{ text: 'googleSearch' }] }],
        tools: [declared],
        toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      });
      await askGateway(gateway.socketPath, GENERATE, {
        contents: [],
        tools: [{ google_search: {} }],
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      });
      expect(JSON.parse(provider.received[1]!.body)).toEqual({ contents: [] });
      const raw = Buffer.from('{ "contents":[], "tools":[ {"function_declarations":[]} ] }');
      await askGateway(gateway.socketPath, GENERATE, undefined, { raw });
      expect(provider.received[2]!.body).toBe(raw.toString());
    });
    expect(exchanges.map(({ hostedToolsRemoved }) => hostedToolsRemoved)).toEqual([
      ['googleSearch', 'codeExecution', 'urlContext', 'googleSearchRetrieval', 'mcpServers'],
      ['google_search'],
      [],
    ]);
  });

  it.each([
    ['a stored cache', { contents: [], cachedContent: 'cachedContents/x' }],
    ['a file by address', { contents: [{ parts: [{ fileData: { fileUri: 'https://x' } }] }] }],
    [
      'a file in the answer of a function',
      {
        contents: [
          { parts: [{ functionResponse: { name: 'f', parts: [{ fileData: { fileUri: 'https://x' } }] } }] },
        ],
      },
    ],
    ['a file in the instruction', { contents: [], systemInstruction: { parts: { file_data: {} } } }],
  ])('is refused with %s', async (_what, body) => {
    const { exchanges } = await withGateway(json({}), async (gateway, provider) => {
      expect((await askGateway(gateway.socketPath, GENERATE, body)).status).toBe(403);
      expect(provider.received).toEqual([]);
    });
    expect(exchanges[0]?.host).toBeNull();
  });

  it('is refused for a model that searches by itself, which the path names', async () => {
    const path = '/gemini/v1beta/models/deep-research-pro:generateContent';
    const { exchanges } = await withGateway(json({}), async (gateway, provider) => {
      expect((await askGateway(gateway.socketPath, path, { contents: [] })).status).toBe(403);
      expect(provider.received).toEqual([]);
    });
    expect(exchanges[0]).toMatchObject({ model: 'deep-research-pro' });
  });

  it('tells a use of hosted tools by the answer', async () => {
    const used = [
      answer({}, { groundingMetadata: { webSearchQueries: ['x'] } }),
      answer({}, { urlContextMetadata: { urlMetadata: [] } }),
      { candidates: [{ content: { parts: [{ executableCode: {} }, { codeExecutionResult: {} }] } }] },
      answer({}, { groundingMetadata: {}, content: { parts: [{ text: 'groundingMetadata' }] } }),
    ];
    for (const [index, expected] of [
      ['groundingMetadata'],
      ['urlContextMetadata'],
      ['executableCode', 'codeExecutionResult'],
      [],
    ].entries()) {
      const { exchanges } = await withGateway(json(used[index]), async (gateway) => {
        await askGateway(gateway.socketPath, GENERATE, { contents: [] });
      });
      expect(exchanges[0]?.hostedToolCalls).toEqual(expected);
    }
  });
});

describe('routes of the Gemini API', () => {
  const providers = providersFromEnvironment({ GEMINI_API_KEY: 'g', OPENAI_API_KEY: 'o' });

  it('come from the key in the environment', () => {
    expect(providers.find(({ name }) => name === 'gemini')).toMatchObject({
      baseUrl: 'https://generativelanguage.googleapis.com',
      apiKey: 'g',
      keyHeader: 'x-goog-api-key',
    });
    expect(providersFromEnvironment({ GOOGLE_API_KEY: 'k' })[0]).toMatchObject({ name: 'gemini' });
  });

  it('name the model in the path, and generate in two ways only', () => {
    const seen = (method: string, path: string) => {
      const route = routeOf(method, path, providers);
      return 'url' in route ? [route.url.href, route.model, route.isGeneration] : route.refusal;
    };
    const host = 'https://generativelanguage.googleapis.com';
    expect(seen('POST', '/gemini/v1beta/models/a-1.5:generateContent')).toEqual([
      `${host}/v1beta/models/a-1.5:generateContent`,
      'a-1.5',
      true,
    ]);
    expect(seen('POST', '/gemini/v1beta/models/a:countTokens')).toEqual([
      `${host}/v1beta/models/a:countTokens`,
      'a',
      false,
    ]);
    for (const path of [
      '/gemini/v1beta/models/a:batchGenerateContent',
      '/gemini/v1beta/models/../files:generateContent',
      '/gemini/v1beta/models/a%2fb:generateContent',
      '/gemini/v1beta/cachedContents',
      '/gemini/v1/models/a:generateContent',
      '/gemini/upload/v1beta/files',
    ])
      expect(seen('POST', path)).toBe('path not allowed');
    expect(seen('POST', '/openai/v1beta/models/a:generateContent')).toBe(
      'protocol not offered by this provider',
    );
  });

  it('take a base with or without the version', () => {
    const path = '/v1beta/models/a:generateContent';
    expect(upstreamUrl('https://host', path).href).toBe(`https://host${path}`);
    expect(upstreamUrl('https://host/v1beta', path).href).toBe(`https://host${path}`);
    expect(upstreamUrl('https://host/api/v1', path).href).toBe(
      'https://host/api/v1/models/a:generateContent',
    );
  });
});

it('a probe of the connection is answered here and told apart from other refusals', async () => {
  const { exchanges } = await withGateway(json({}), async (gateway, provider) => {
    for (const path of ['/anthropic', '/anthropic/'])
      expect((await askGateway(gateway.socketPath, path, undefined, { method: 'HEAD' })).status).toBe(200);
    expect((await askGateway(gateway.socketPath, '/nobody', undefined, { method: 'HEAD' })).status).toBe(404);
    expect(
      (await askGateway(gateway.socketPath, '/anthropic/v1/messages', undefined, { method: 'HEAD' })).status,
    ).toBe(403);
    expect(provider.received).toEqual([]);
  });
  expect(exchanges.map(({ refusal }) => refusal)).toEqual([
    'connection probe, answered here',
    'connection probe, answered here',
    'no such provider',
    'path not allowed',
  ]);
});
