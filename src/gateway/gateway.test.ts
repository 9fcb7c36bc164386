import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { events, json, KEY, withGateway } from './test-gateway.js';
import { askGateway } from './test-provider.js';

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

  it('are asked for where a Chat Completions client does not, which sees none of it', async () => {
    const first = { model: 'm', choices: [{ delta: { content: '"usage"' } }], usage: null };
    const { exchanges } = await withGateway(
      events([
        { data: first },
        { data: { model: 'm', choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } } },
        { data: '[DONE]' },
      ]),
      async (gateway, provider) => {
        const asked = { model: 'm', stream: true, stream_options: { other: 1 } };
        const answer = await askGateway(gateway.socketPath, '/openai/v1/chat/completions', asked);
        expect(answer.body).toBe(`data: ${JSON.stringify(first)}\n\ndata: [DONE]\n\n`);
        expect(JSON.parse(provider.received[0]!.body)).toEqual({
          model: 'm',
          stream: true,
          stream_options: { other: 1, include_usage: true },
        });
      },
    );
    expect(exchanges[0]!.tokens).toMatchObject({ input: 9, output: 4 });
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

describe('the socket and the log', () => {
  it('stand where only this user can come, and the socket goes when the gateway does', async () => {
    let socketPath = '';
    const { mode } = await withGateway(json({}), async (gateway) => {
      ({ socketPath } = gateway);
      expect(socketPath.length).toBeLessThan(100);
      expect((await stat(socketPath)).mode & 0o777).toBe(0o666);
      expect((await stat(join(socketPath, '..'))).mode & 0o777).toBe(0o700);
    });
    await expect(stat(socketPath)).rejects.toThrow('ENOENT');
    expect(mode).toBe(0o600);
  });
});
