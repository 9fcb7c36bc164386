import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { json, withGateway } from './test-gateway.js';
import { askGateway } from './test-provider.js';

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

  it('meet what comes beside too many unanswered requests', async () => {
    const held: (() => void)[] = [];
    await withGateway(
      (response) => held.push(() => response.end('{}')),
      async (gateway) => {
        const ask = () => askGateway(gateway.socketPath, '/openai/v1/responses', {});
        const waiting = Array.from({ length: 16 }, ask);
        while (held.length < 16) await new Promise((resolve) => setTimeout(resolve, 5));
        const refused = await ask();
        expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
        for (const answer of held) answer();
        expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(16).fill(200));
      },
    );
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
