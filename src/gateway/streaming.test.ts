import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { json, withGateway } from './test-gateway.js';
import { type Answer, askGateway } from './test-provider.js';

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
    const answers: readonly Answer[] = [
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
