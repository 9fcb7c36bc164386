import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway, type GatewayOptions } from './gateway.js';
import type { GatewayExchange, Provider } from './gateway-types.js';
import { type Answer, startTestProvider, type TestProvider } from './test-provider.js';

/** The key that the providers of the tests want; it must not appear anywhere else. */
export const KEY = 'sk-test-0123456789abcdefghijklmnop';

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
    {
      name: 'gemini',
      baseUrl: origin,
      apiKey: KEY,
      keyHeader: 'x-goog-api-key',
      protocols: ['gemini'],
    },
  ];
}

/** Runs a test body with a provider and a gateway, and gives back the log it left. */
export async function withGateway(
  answer: Answer,
  body: (gateway: Gateway, provider: TestProvider) => Promise<void>,
  options: Partial<GatewayOptions> = {},
): Promise<{ readonly exchanges: readonly GatewayExchange[]; readonly text: string; readonly mode: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'm4bench-gateway-test-'));
  const logPath = join(folder, 'gateway.jsonl');
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
  const mode = (await stat(logPath)).mode & 0o777;
  await rm(folder, { recursive: true });
  const lines = text.split('\n').filter((line) => line !== '');
  return { exchanges: lines.map((line) => JSON.parse(line) as GatewayExchange), text, mode };
}

/** Answers with a JSON document. */
export const json = (value: unknown) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

/** Answers with server-sent events. */
export const events =
  (list: readonly { readonly event?: string; readonly data: unknown }[]) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { event, data } of list)
      response.write(
        `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      );
    response.end();
  };
