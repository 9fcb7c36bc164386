import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gateway, type GatewayOptions } from './gateway.js';
import type { GatewayExchange, Provider } from './gateway-types.js';
import { askGateway, startTestProvider, type TestProvider } from './test-provider.js';

const KEY = 'sk-test-0123456789abcdefghijklmnop';

let folder: string;
let logNumber = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-gateway-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function providersAt(origin: string): readonly Provider[] {
  return [
    {
      name: 'openai',
      baseUrl: `${origin}/v1`,
      apiKey: KEY,
      keyHeader: 'authorization-bearer',
      protocols: ['openai-responses', 'openai-chat'],
    },
    {
      name: 'anthropic',
      baseUrl: origin,
      apiKey: KEY,
      keyHeader: 'x-api-key',
      protocols: ['anthropic-messages'],
    },
  ];
}

/** Runs a test body with a provider and a gateway, and gives back the log it left. */
async function withGateway(
  answer: Parameters<typeof startTestProvider>[0],
  body: (gateway: Gateway, provider: TestProvider) => Promise<void>,
  options: Partial<GatewayOptions> = {},
): Promise<{ readonly exchanges: readonly GatewayExchange[]; readonly text: string }> {
  logNumber += 1;
  const logPath = join(folder, `gateway-${logNumber}.jsonl`);
  const provider = await startTestProvider(answer);
  try {
    const gateway = await Gateway.start({ providers: providersAt(provider.origin), logPath, ...options });
    try {
      await body(gateway, provider);
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
  } finally {
    await provider[Symbol.asyncDispose]();
  }
  const text = await readFile(logPath, 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return { exchanges: lines.map((line) => JSON.parse(line) as GatewayExchange), text };
}

const json = (value: unknown) => (response: Parameters<Parameters<typeof startTestProvider>[0]>[0]) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

const events =
  (list: readonly { readonly event?: string; readonly data: unknown }[]) =>
  (response: Parameters<Parameters<typeof startTestProvider>[0]>[0]) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { event, data } of list)
      response.write(
        `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      );
    response.end();
  };

describe('token counts', () => {
  it('are read from a Responses stream, with cached and reasoning parts', async () => {
    const usage = {
      input_tokens: 1200,
      input_tokens_details: { cached_tokens: 1000 },
      output_tokens: 90,
      output_tokens_details: { reasoning_tokens: 64 },
      total_tokens: 1290,
    };
    const { exchanges } = await withGateway(
      events([
        {
          event: 'response.created',
          data: { type: 'response.created', response: { model: 'gpt-x-2026', usage: null } },
        },
        { event: 'response.output_text.delta', data: { type: 'response.output_text.delta', delta: 'usage' } },
        {
          event: 'response.completed',
          data: { type: 'response.completed', response: { model: 'gpt-x-2026', usage } },
        },
      ]),
      async (gateway, provider) => {
        const answer = await askGateway(gateway.socketPath, '/openai/v1/responses', {
          model: 'gpt-x',
          stream: true,
        });
        expect(answer.status).toBe(200);
        expect(answer.headers['content-type']).toBe('text/event-stream');
        expect(answer.body).toContain('response.completed');
        expect(provider.received[0]!.url).toBe('/v1/responses');
        expect(gateway.summary().tokens).toEqual({
          input: 1200,
          cachedInput: 1000,
          cacheWrite: 0,
          output: 90,
          reasoning: 64,
        });
      },
    );
    expect(exchanges).toHaveLength(1);
    expect(exchanges[0]).toMatchObject({
      provider: 'openai',
      protocol: 'openai-responses',
      model: 'gpt-x-2026',
      status: 200,
      refusal: null,
      failure: null,
      tokens: { input: 1200, cachedInput: 1000, cacheWrite: 0, output: 90, reasoning: 64 },
    });
  });

  it('are read from a Responses document', async () => {
    const { exchanges } = await withGateway(
      json({ object: 'response', model: 'm', usage: { input_tokens: 7, output_tokens: 3 } }),
      async (gateway) => {
        await askGateway(gateway.socketPath, '/openai/v1/responses', { model: 'm' });
      },
    );
    expect(exchanges[0]!.tokens).toEqual({
      input: 7,
      cachedInput: 0,
      cacheWrite: 0,
      output: 3,
      reasoning: 0,
    });
  });

  it('are read from the last chunk of a Chat Completions stream and from a document', async () => {
    const usage = {
      prompt_tokens: 50,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 32 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    const expected = { input: 50, cachedInput: 32, cacheWrite: 0, output: 20, reasoning: 5 };
    const { exchanges } = await withGateway(
      (response, received) =>
        received.body.includes('"stream":true')
          ? events([
              { data: { model: 'm', choices: [{ delta: { content: 'a' } }], usage: null } },
              { data: { model: 'm', choices: [], usage } },
              { data: '[DONE]' },
            ])(response)
          : json({ model: 'm', choices: [], usage })(response),
      async (gateway) => {
        const path = '/openai/v1/chat/completions';
        const streamed = await askGateway(gateway.socketPath, path, {
          model: 'm',
          stream: true,
          stream_options: { include_usage: true },
        });
        expect(streamed.body.endsWith('data: [DONE]\n\n')).toBe(true);
        await askGateway(gateway.socketPath, path, { model: 'm' });
        expect(gateway.summary().tokens.input).toBe(100);
      },
    );
    expect(exchanges.map(({ tokens }) => tokens)).toEqual([expected, expected]);
  });

  it('of a Messages stream combine its first and last events, cached parts included', async () => {
    const { exchanges } = await withGateway(
      events([
        {
          event: 'message_start',
          data: {
            type: 'message_start',
            message: {
              model: 'claude-x',
              usage: {
                input_tokens: 10,
                cache_read_input_tokens: 400,
                cache_creation_input_tokens: 30,
                output_tokens: 1,
              },
            },
          },
        },
        { event: 'content_block_delta', data: { type: 'content_block_delta', delta: { text: '"usage"' } } },
        { event: 'message_delta', data: { type: 'message_delta', delta: {}, usage: { output_tokens: 25 } } },
        { event: 'message_stop', data: { type: 'message_stop' } },
      ]),
      async (gateway, provider) => {
        await askGateway(gateway.socketPath, '/anthropic/v1/messages?beta=true', {
          model: 'claude-x',
          stream: true,
        });
        expect(provider.received[0]!.url).toBe('/v1/messages?beta=true');
      },
    );
    expect(exchanges[0]).toMatchObject({
      model: 'claude-x',
      tokens: { input: 440, cachedInput: 400, cacheWrite: 30, output: 25, reasoning: 0 },
    });
  });

  it('are not taken from count_tokens, which spends none', async () => {
    const { exchanges } = await withGateway(json({ input_tokens: 99 }), async (gateway) => {
      const answer = await askGateway(gateway.socketPath, '/anthropic/v1/messages/count_tokens', {
        model: 'c',
      });
      expect(JSON.parse(answer.body)).toEqual({ input_tokens: 99 });
    });
    expect(exchanges[0]!.tokens).toBeNull();
  });

  it('survive events that are cut anywhere, also inside a character', async () => {
    const text = `data: ${JSON.stringify({ type: 'x', delta: 'é…漢' })}\r\n\r\ndata: ${JSON.stringify({ response: { model: 'm', usage: { input_tokens: 5, output_tokens: 6 } } })}\r\n\r\n`;
    const { exchanges } = await withGateway(
      async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const byte of Buffer.from(text)) {
          response.write(Buffer.from([byte]));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      },
      async (gateway) => {
        const answer = await askGateway(gateway.socketPath, '/openai/v1/responses', { model: 'm' });
        expect(answer.body).toBe(text);
      },
    );
    expect(exchanges[0]!.tokens).toMatchObject({ input: 5, output: 6 });
  });
});

describe('the key', () => {
  it('is added here, and what the client sent in its place is dropped', async () => {
    await withGateway(json({}), async (gateway, provider) => {
      const headers = {
        authorization: 'Bearer dummy',
        'x-api-key': 'dummy',
        cookie: 'a=b',
        'openai-organization': 'org',
        'x-forwarded-for': '1.2.3.4',
        'anthropic-version': '2023-06-01',
      };
      await askGateway(gateway.socketPath, '/openai/v1/responses', {}, { headers });
      await askGateway(gateway.socketPath, '/anthropic/v1/messages', {}, { headers });
      const [openai, anthropic] = provider.received;
      expect(openai!.headers.authorization).toBe(`Bearer ${KEY}`);
      expect(openai!.headers['x-api-key']).toBeUndefined();
      expect(openai!.headers.cookie).toBeUndefined();
      expect(openai!.headers['openai-organization']).toBeUndefined();
      expect(openai!.headers['x-forwarded-for']).toBeUndefined();
      expect(anthropic!.headers['x-api-key']).toBe(KEY);
      expect(anthropic!.headers.authorization).toBeUndefined();
      expect(anthropic!.headers['anthropic-version']).toBe('2023-06-01');
    });
  });

  it('reaches neither the client nor the log when the provider echoes it, in one piece or cut in two', async () => {
    const half = KEY.length / 2;
    const { text } = await withGateway(
      async (response) => {
        response.writeHead(200, {
          'content-type': 'text/event-stream',
          'x-request-id': KEY,
          'set-cookie': `k=${KEY}`,
        });
        response.write(`data: {"model":"${KEY}","echo":"${KEY.slice(0, half)}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        response.end(`${KEY.slice(half)}"}\n\n`);
      },
      async (gateway) => {
        const answer = await askGateway(gateway.socketPath, `/openai/v1/responses?k=${KEY}`, { model: KEY });
        expect(answer.body).not.toContain(KEY);
        expect(answer.body).toContain('*'.repeat(KEY.length));
        expect(JSON.stringify(answer.headers)).not.toContain(KEY);
        await askGateway(gateway.socketPath, `/openai/${KEY}`, {});
      },
    );
    expect(text).not.toContain(KEY);
  });

  it('is not hinted at when the provider refuses it', async () => {
    await withGateway(
      (response) => {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ error: { message: 'Incorrect API key provided: sk-test-01****mnop' } }),
        );
      },
      async (gateway) => {
        const answer = await askGateway(gateway.socketPath, '/openai/v1/responses', {});
        expect(answer.status).toBe(401);
        expect(answer.body).not.toContain('mnop');
        expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'authentication_error' } });
      },
    );
  });
});

describe('refusals', () => {
  it('answer JSON, contact nobody, and are on record', async () => {
    const { exchanges } = await withGateway(json({}), async (gateway, provider) => {
      const cases: readonly (readonly [string, string, number])[] = [
        ['POST', '/openai/v1/files', 403],
        ['POST', '/openai/v1/responses/../files', 403],
        ['POST', '/openai/v1/responses/', 403],
        ['POST', '/openai/v1/%72esponses', 403],
        ['POST', '/openai/v1/messages', 403],
        ['GET', '/openai/v1/responses/resp_1', 403],
        ['DELETE', '/openai/v1/models/m', 403],
        ['POST', '/unknown/v1/responses', 404],
        ['POST', '/v1/responses', 404],
        ['POST', '/', 404],
      ];
      for (const [method, path, status] of cases) {
        const answer = await askGateway(gateway.socketPath, path, {}, { method });
        expect([path, answer.status]).toEqual([path, status]);
        expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'request_refused' } });
      }
      expect(provider.received).toHaveLength(0);
      expect(gateway.summary()).toMatchObject({ requests: 10, refused: 10, failed: 0 });
    });
    expect(exchanges).toHaveLength(10);
    expect(exchanges.every(({ refusal, host }) => refusal !== null && host === null)).toBe(true);
  });

  it('meet CONNECT and upgrade requests', async () => {
    const { exchanges } = await withGateway(json({}), async (gateway) => {
      for (const head of [
        'CONNECT api.openai.com:443 HTTP/1.1\r\nhost: x\r\n\r\n',
        'GET /openai/v1/responses HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      ]) {
        const answer = await new Promise<string>((resolve) => {
          let text = '';
          const socket = connect(gateway.socketPath, () => socket.write(head));
          socket.on('data', (chunk) => {
            text += String(chunk);
          });
          socket.on('close', () => resolve(text));
        });
        expect(answer).toMatch(/^HTTP\/1\.1 4(05|26) /);
      }
    });
    expect(exchanges.map(({ status }) => status)).toEqual([405, 426]);
  });

  it('meet bodies that are too large, compressed beyond the limit, not JSON, or in an unknown coding', async () => {
    const { exchanges } = await withGateway(
      json({}),
      async (gateway, provider) => {
        const path = '/openai/v1/responses';
        const large = await askGateway(gateway.socketPath, path, { text: 'x'.repeat(2000) });
        expect(large.status).toBe(413);
        const bomb = gzipSync(JSON.stringify({ text: 'x'.repeat(200_000) }));
        expect(bomb.length).toBeLessThan(1000);
        const inflated = await askGateway(gateway.socketPath, path, undefined, {
          raw: bomb,
          headers: { 'content-encoding': 'gzip' },
        });
        expect(inflated.status).toBe(413);
        expect(
          (await askGateway(gateway.socketPath, path, undefined, { raw: Buffer.from('[1]') })).status,
        ).toBe(400);
        const unknown = await askGateway(
          gateway.socketPath,
          path,
          {},
          { headers: { 'content-encoding': 'snappy' } },
        );
        expect(unknown.status).toBe(415);
        expect(provider.received).toHaveLength(0);
      },
      { maxRequestBytes: 1000 },
    );
    expect(exchanges.map(({ status }) => status)).toEqual([413, 413, 400, 415]);
  });

  it('do not meet a compressed body that can be read', async () => {
    await withGateway(json({}), async (gateway, provider) => {
      await askGateway(gateway.socketPath, '/openai/v1/responses', undefined, {
        raw: gzipSync('{"model":"m"}'),
        headers: { 'content-encoding': 'gzip' },
      });
      expect(provider.received[0]!.body).toBe('{"model":"m"}');
      expect(provider.received[0]!.headers['content-encoding']).toBeUndefined();
    });
  });

  it('begin when a budget of requests or tokens is spent, and tell once', async () => {
    const usage = { input_tokens: 60, output_tokens: 50 };
    for (const budget of [{ maxRequests: 2 }, { maxTokens: 200 }]) {
      const told: string[] = [];
      await withGateway(
        json({ model: 'm', usage }),
        async (gateway, provider) => {
          const statuses: number[] = [];
          for (let at = 0; at < 4; at += 1)
            statuses.push((await askGateway(gateway.socketPath, '/openai/v1/responses', {})).status);
          expect(statuses).toEqual([200, 200, 429, 429]);
          expect(provider.received).toHaveLength(2);
          expect(
            (await askGateway(gateway.socketPath, '/openai/v1/models', {}, { method: 'GET' })).status,
          ).toBe(200);
        },
        { budget, onBudgetSpent: (reason) => told.push(reason) },
      );
      expect(told).toHaveLength(1);
    }
  });
});

describe('hosted tools', () => {
  it('are taken out of all three protocols, local ones stay', async () => {
    const { exchanges } = await withGateway(json({}), async (gateway, provider) => {
      const bodyOf = (at: number): Record<string, unknown> =>
        JSON.parse(provider.received[at]!.body) as Record<string, unknown>;
      const shell = { type: 'function', name: 'shell', parameters: {} };
      await askGateway(gateway.socketPath, '/openai/v1/responses', {
        model: 'm',
        include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
        tool_choice: { type: 'web_search' },
        tools: [
          shell,
          { type: 'web_search' },
          { type: 'web_search_preview_2025_03_11' },
          { type: 'file_search', vector_store_ids: ['v'] },
          { type: 'code_interpreter', container: { type: 'auto' } },
          { type: 'computer_use_preview' },
          { type: 'mcp', server_url: 'https://x' },
          { type: 'image_generation' },
          { type: 'something_new' },
        ],
      });
      expect(bodyOf(0)).toEqual({ model: 'm', include: ['reasoning.encrypted_content'], tools: [shell] });
      await askGateway(gateway.socketPath, '/openai/v1/chat/completions', {
        model: 'm',
        web_search_options: {},
        plugins: [{ id: 'web' }],
        tools: [{ type: 'function', function: { name: 'f' } }],
      });
      expect(bodyOf(1)).toEqual({ model: 'm', tools: [{ type: 'function', function: { name: 'f' } }] });
      const bash = { name: 'Bash', input_schema: { type: 'object' } };
      await askGateway(
        gateway.socketPath,
        '/anthropic/v1/messages',
        {
          model: 'm',
          mcp_servers: [{ url: 'https://x' }],
          tools: [
            bash,
            { type: 'web_search_20250305', name: 'web_search' },
            { type: 'web_fetch_20250910', name: 'web_fetch' },
            { type: 'code_execution_20250825', name: 'code_execution' },
            { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
          ],
        },
        { headers: { 'anthropic-beta': 'mcp-client-2025-04-04, prompt-caching-2024-07-31' } },
      );
      expect(bodyOf(2)).toEqual({
        model: 'm',
        tools: [bash, { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }],
      });
      expect(provider.received[2]!.headers['anthropic-beta']).toBe('prompt-caching-2024-07-31');
      expect(gateway.summary().hostedToolsRemoved).toContain('web_search_20250305');
    });
    expect(exchanges[0]!.hostedToolsRemoved).toEqual([
      'web_search',
      'web_search_preview_2025_03_11',
      'file_search',
      'code_interpreter',
      'computer_use_preview',
      'mcp',
      'image_generation',
      'something_new',
    ]);
    expect(exchanges[1]!.hostedToolsRemoved).toEqual(['web_search_options', 'plugins']);
    expect(exchanges[2]!.hostedToolsRemoved).toEqual([
      'mcp_servers',
      'web_search_20250305',
      'web_fetch_20250910',
      'code_execution_20250825',
      'mcp-client-2025-04-04',
    ]);
  });

  it('that cannot be taken out end the request', async () => {
    await withGateway(json({}), async (gateway, provider) => {
      for (const body of [
        { model: 'gpt-4o:online' },
        { model: 'gpt-4o-search-preview' },
        { prompt: { id: 'p' } },
      ])
        expect((await askGateway(gateway.socketPath, '/openai/v1/responses', body)).status).toBe(403);
      expect(provider.received).toHaveLength(0);
    });
  });

  it('leave a request without them as it was, byte for byte', async () => {
    const raw = Buffer.from('{ "model" : "m",  "n": 1e2, "tools": [ {"type":"function","name":"f"} ] }');
    await withGateway(json({}), async (gateway, provider) => {
      await askGateway(gateway.socketPath, '/openai/v1/responses', undefined, { raw });
      expect(provider.received[0]!.body).toBe(raw.toString());
    });
  });
});

describe('planted skills', () => {
  const skills = [
    {
      name: 'sirs',
      description: 'Compute SIRS from the\n first 24 hours',
      bodyProbe: 'Worst value "per component" \\ PaCO2 < 32',
    },
    { name: 'meld', description: 'MELD score', bodyProbe: 'Bilirubin floor of 1.0' },
  ];

  it('are seen as offered by their description and as opened by their body, whatever the escaping', async () => {
    const { exchanges } = await withGateway(
      json({}),
      async (gateway) => {
        await askGateway(gateway.socketPath, '/openai/v1/responses', { instructions: 'nothing here' });
        await askGateway(gateway.socketPath, '/openai/v1/responses', {
          input: [
            {
              role: 'developer',
              content: [{ text: '- sirs: Compute SIRS from the first 24 hours (file: x)' }],
            },
          ],
        });
        await askGateway(gateway.socketPath, '/anthropic/v1/messages', {
          system: 'MELD score',
          messages: [
            {
              content: [
                { type: 'tool_result', content: '  3→Worst value "per component"\n   \\ PaCO2 < 32' },
              ],
            },
          ],
        });
        expect(gateway.summary()).toMatchObject({ skillsOffered: ['sirs', 'meld'], skillsOpened: ['sirs'] });
      },
      { skills },
    );
    expect(exchanges.map(({ skillsOffered, skillsOpened }) => [skillsOffered, skillsOpened])).toEqual([
      [[], []],
      [['sirs'], []],
      [['meld'], ['sirs']],
    ]);
  });
});

describe('failures of a provider', () => {
  it('are told as 502 with their kind when it cannot be reached', async () => {
    const { exchanges } = await withGateway(json({}), async (gateway, provider) => {
      await provider[Symbol.asyncDispose]();
      const answer = await askGateway(gateway.socketPath, '/openai/v1/responses', {});
      expect(answer.status).toBe(502);
      expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'upstream_unreachable' } });
    });
    expect(exchanges[0]).toMatchObject({ status: 502, failure: 'upstream-unreachable', refusal: null });
  });

  it('pass through with status and retry headers, and are on record', async () => {
    const { exchanges } = await withGateway(
      (response) => {
        response.writeHead(429, {
          'content-type': 'application/json',
          'retry-after': '7',
          'openai-organization': 'secret-org',
        });
        response.end('{"error":{"type":"rate_limit"}}');
      },
      async (gateway) => {
        const answer = await askGateway(gateway.socketPath, '/openai/v1/responses', {});
        expect(answer.status).toBe(429);
        expect(answer.headers['retry-after']).toBe('7');
        expect(answer.headers['openai-organization']).toBeUndefined();
        expect(answer.body).toBe('{"error":{"type":"rate_limit"}}');
        expect(gateway.summary()).toMatchObject({ requests: 1, failed: 1, refused: 0 });
      },
    );
    expect(exchanges[0]).toMatchObject({ status: 429, failure: 'upstream-status' });
  });

  it('of every kind are told apart: silence, breaking off, redirects', async () => {
    const answers: readonly Parameters<typeof startTestProvider>[0][] = [
      () => {},
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"a":1}\n\n');
        setTimeout(() => response.destroy(), 20);
      },
      (response) => {
        response.writeHead(307, { location: 'https://elsewhere.example/' });
        response.end();
      },
    ];
    let at = 0;
    const { exchanges } = await withGateway(
      (response, received) => answers[at++]!(response, received),
      async (gateway) => {
        expect((await askGateway(gateway.socketPath, '/openai/v1/responses', {})).status).toBe(502);
        await expect(askGateway(gateway.socketPath, '/openai/v1/responses', {})).rejects.toThrow();
        expect((await askGateway(gateway.socketPath, '/openai/v1/responses', {})).status).toBe(502);
      },
      { idleTimeoutSeconds: 0.2 },
    );
    expect(exchanges.map(({ failure }) => failure)).toEqual([
      'upstream-timeout',
      'upstream-broke-off',
      'upstream-redirect',
    ]);
  });
});

describe('streaming', () => {
  it('hands on each event when it comes', async () => {
    let release: (() => void) | undefined;
    await withGateway(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: first\n\n');
        release = () => response.end('data: second\n\n');
      },
      async (gateway) => {
        const text = await new Promise<string>((resolve, reject) => {
          const outgoing = request(
            { socketPath: gateway.socketPath, path: '/openai/v1/responses', method: 'POST' },
            (incoming) => {
              let seen = '';
              incoming.on('data', (chunk) => {
                seen += String(chunk);
                // The provider goes on only after the client has the first event.
                if (seen === 'data: first\n\n') release!();
              });
              incoming.on('end', () => resolve(seen));
            },
          );
          outgoing.on('error', reject);
          outgoing.end('{}');
        });
        expect(text).toBe('data: first\n\ndata: second\n\n');
      },
    );
  });

  it('stops reading from the provider while the client does not read', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let written = 0;
    await withGateway(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/octet-stream' });
        const push = (): void => {
          while (!response.destroyed && written < 200 * 1024 * 1024) {
            written += chunk.length;
            if (!response.write(chunk)) {
              response.once('drain', push);
              return;
            }
          }
        };
        push();
      },
      async (gateway) => {
        await new Promise<void>((resolve, reject) => {
          const outgoing = request(
            { socketPath: gateway.socketPath, path: '/openai/v1/responses', method: 'POST' },
            (incoming) => {
              incoming.pause();
              setTimeout(() => {
                incoming.destroy();
                resolve();
              }, 300);
            },
          );
          outgoing.on('error', reject);
          outgoing.end('{}');
        });
      },
    );
    expect(written).toBeLessThan(30 * 1024 * 1024);
  });

  it('of a client that leaves ends the exchange at the provider, on record', async () => {
    let isClosed = false;
    const { exchanges } = await withGateway(
      (response) => {
        response.on('close', () => {
          isClosed = true;
        });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: first\n\n');
      },
      async (gateway) => {
        await new Promise<void>((resolve) => {
          const outgoing = request(
            { socketPath: gateway.socketPath, path: '/openai/v1/responses', method: 'POST' },
            (incoming) => {
              incoming.once('data', () => {
                outgoing.destroy();
                setTimeout(resolve, 100);
              });
              incoming.on('error', () => {});
            },
          );
          outgoing.on('error', () => {});
          outgoing.end('{}');
        });
        expect(isClosed).toBe(true);
      },
    );
    expect(exchanges[0]).toMatchObject({ failure: 'client-left' });
  });
});

describe('the socket and the log', () => {
  it('stand where only this user can come, and the socket goes when the gateway does', async () => {
    let socketPath = '';
    await withGateway(json({}), async (gateway) => {
      ({ socketPath } = gateway);
      expect(socketPath.length).toBeLessThan(100);
      expect((await stat(socketPath)).mode & 0o777).toBe(0o666);
      expect((await stat(join(socketPath, '..'))).mode & 0o777).toBe(0o700);
    });
    await expect(stat(socketPath)).rejects.toThrow('ENOENT');
    expect((await stat(join(folder, `gateway-${logNumber}.jsonl`))).mode & 0o777).toBe(0o600);
  });
});
