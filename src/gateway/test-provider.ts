import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the provider of the tests received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A model provider on loopback that a test scripts. */
export interface TestProvider extends AsyncDisposable {
  readonly origin: string;
  readonly received: readonly ReceivedRequest[];
}

/** How a provider answers one request. */
export type Answer = (response: ServerResponse, received: ReceivedRequest) => void;

/** Starts a provider that answers each request with `answer`. */
export async function startTestProvider(answer: Answer): Promise<TestProvider> {
  const received: ReceivedRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const one = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      received.push(one);
      answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An answer as a client of the gateway sees it. */
export interface ClientAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends one request over the gateway's socket. */
export function askGateway(
  socketPath: string,
  path: string,
  body: unknown,
  options: {
    readonly headers?: Record<string, string>;
    readonly method?: string;
    readonly raw?: Buffer;
  } = {},
): Promise<ClientAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        socketPath,
        path,
        method: options.method ?? 'POST',
        headers: { 'content-type': 'application/json', ...options.headers },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    if (options.method === 'GET') outgoing.end();
    else outgoing.end(options.raw ?? JSON.stringify(body));
  });
}
