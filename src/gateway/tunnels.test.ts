import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readClientHello } from './client-hello.js';
import { Gateway } from './gateway.js';
import { testCertificates } from './test-tls.js';
import type { Tunnel, TunnelSummary } from './tunnels.js';

const HOST = 'api.provider.test';
const certificates = testCertificates([HOST, 'other.test']);

let folder: string;
let server: Server;
let received = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-tunnels-test-'));
  server = createTlsServer(
    certificates === undefined ? {} : { cert: certificates.certificate, key: certificates.key },
    (socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length;
        const text = chunk.toString('latin1');
        if (text.startsWith('echo ')) socket.end(`heard ${text.slice(5)}`);
        if (text.startsWith('flood')) {
          const block = Buffer.alloc(1024 * 1024, 'x');
          const pump = (left: number): void => {
            if (left === 0) socket.end();
            else if (socket.write(block)) pump(left - 1);
            else socket.once('drain', () => pump(left - 1));
          };
          pump(24);
        }
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

interface Played {
  readonly tunnels: readonly Tunnel[];
  readonly summary: TunnelSummary;
  readonly text: string;
}

/** Runs a body behind a gateway that tunnels to `HOST` only, which the server of the test plays. */
async function behindGateway(
  body: (gateway: Gateway) => Promise<void>,
  options: { readonly connect?: () => Socket; readonly idleTimeoutSeconds?: number } = {},
): Promise<Played> {
  const logPath = join(folder, `egress-${Math.random().toString(16).slice(2)}.jsonl`);
  const gateway = await Gateway.start({
    providers: [],
    logPath: `${logPath}.gateway`,
    tunnels: {
      hosts: [HOST],
      logPath,
      connect: () =>
        connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true }),
      ...options,
    },
  });
  try {
    await body(gateway);
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
  const text = await readFile(logPath, 'utf8');
  expect((await stat(logPath)).mode & 0o777).toBe(0o600);
  const lines = text.split('\n').filter((line) => line !== '');
  return {
    text,
    tunnels: lines.map((line) => JSON.parse(line) as Tunnel),
    summary: (await gateway.endTunnels())!,
  };
}

/** Asks for a tunnel as a CLI does; the status, and the socket when it was opened. */
function openTunnel(gateway: Gateway, target: string): Promise<{ status: number; socket: Socket }> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath: gateway.socketPath, method: 'CONNECT', path: target });
    asking.on('connect', (response, socket) => resolve({ status: response.statusCode ?? 0, socket }));
    asking.on('error', reject);
    asking.end();
  });
}

/** Speaks TLS through a tunnel and reads to the end, `pause` milliseconds after each chunk. */
async function speak(gateway: Gateway, text: string, servername = HOST, pause = 0): Promise<Buffer> {
  const { status, socket } = await openTunnel(gateway, `${HOST}:443`);
  expect(status).toBe(200);
  const secure = connectTls({ socket, servername, ca: certificates!.authority });
  secure.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of secure as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return Buffer.concat(chunks);
}

describe.runIf(certificates !== undefined)('a tunnel', () => {
  it('carries TLS to an allowed host, and logs where, how much and how long, and no content', async () => {
    const { tunnels, summary, text } = await behindGateway(async (gateway) => {
      expect((await speak(gateway, 'echo 4711 secrets')).toString()).toBe('heard 4711 secrets');
    });
    expect(tunnels).toHaveLength(1);
    expect(tunnels[0]).toMatchObject({ host: HOST, port: 443, refusal: null, failure: null });
    // A handshake of TLS 1.3 with one elliptic certificate takes several hundred bytes each way.
    expect(tunnels[0]!.sentBytes).toBeGreaterThan(300);
    expect(tunnels[0]!.receivedBytes).toBeGreaterThan(500);
    expect(summary).toMatchObject({ opened: 1, refused: 0, failed: 0, hosts: [HOST] });
    expect(text).not.toContain('4711');
    expect(Object.keys(tunnels[0]!).sort()).toEqual(
      ['failure', 'host', 'port', 'receivedBytes', 'refusal', 'seconds', 'sentBytes', 'startedAt'].sort(),
    );
  });

  it('slows the host down for a client that reads slowly, and loses nothing', async () => {
    const { tunnels } = await behindGateway(async (gateway) => {
      const got = await speak(gateway, 'flood', HOST, 1);
      expect(got.length).toBe(24 * 1024 * 1024);
    });
    expect(tunnels[0]!.receivedBytes).toBeGreaterThan(24 * 1024 * 1024);
  });

  it('is refused for every other host, port and form of address', async () => {
    const targets = [
      'other.test:443',
      `${HOST}:80`,
      `${HOST}:x`,
      `x${HOST}:443`,
      `${HOST}.evil.test:443`,
      '127.0.0.1:443',
      '[::1]:443',
      `${HOST}@evil.test:443`,
    ];
    const { tunnels, summary } = await behindGateway(async (gateway) => {
      for (const target of targets) {
        const { status, socket } = await openTunnel(gateway, target);
        socket.destroy();
        expect([target, status]).toEqual([target, 403]);
      }
    });
    expect(tunnels.map(({ refusal }) => refusal)).toEqual(
      targets.map((target) => (target.startsWith(`${HOST}:`) ? 'port not allowed' : 'host not allowed')),
    );
    expect(summary).toMatchObject({ opened: 0, refused: targets.length, hosts: [] });
  });

  it('is cut before a byte goes out when its TLS names another server, or is no TLS', async () => {
    const before = received;
    const { tunnels } = await behindGateway(async (gateway) => {
      const heard = await speak(gateway, 'echo x', 'other.test').catch(() => Buffer.alloc(0));
      expect(heard.length).toBe(0);
      const { socket } = await openTunnel(gateway, `${HOST}:443`);
      socket.write('GET / HTTP/1.1\r\nhost: evil.test\r\n\r\n');
      await new Promise((resolve) =>
        socket
          .once('close', resolve)
          .on('error', () => {})
          .resume(),
      );
    });
    expect(received).toBe(before);
    expect(tunnels.map(({ refusal, sentBytes }) => [refusal, sentBytes])).toEqual([
      ['the client did not ask for this host in TLS (other.test)', 0],
      ['the client did not ask for this host in TLS (no-tls)', 0],
    ]);
  });

  it('says when the host cannot be reached, when it falls silent, and when the run ends first', async () => {
    const free = createTcpServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const gone = await behindGateway(
      async (gateway) => expect((await openTunnel(gateway, `${HOST}:443`)).status).toBe(502),
      { connect: () => connect(port, '127.0.0.1') },
    );
    expect(gone.tunnels[0]).toMatchObject({ refusal: null, failure: 'unreachable' });
    expect(gone.summary).toMatchObject({ opened: 0, failed: 1 });
    const silent = await behindGateway(
      async (gateway) => {
        await speak(gateway, 'say nothing').catch(() => {});
      },
      { idleTimeoutSeconds: 0.3 },
    );
    expect(silent.tunnels[0]).toMatchObject({ failure: 'timeout' });
    const ended = await behindGateway(async (gateway) => {
      const { socket } = await openTunnel(gateway, `${HOST}:443`);
      const secure = connectTls({ socket, servername: HOST, ca: certificates!.authority });
      secure.on('error', () => {});
      await new Promise((resolve) => secure.once('secureConnect', resolve));
    });
    expect(ended.tunnels).toHaveLength(1);
    expect(ended.summary.opened).toBe(1);
  });
});

describe('the first bytes of a connection', () => {
  /** A ClientHello as RFC 8446 lays it out, with these extensions, in records of at most `recordBytes`. */
  function hello(extensions: readonly (readonly [number, Buffer])[], recordBytes = 16_384): Buffer {
    const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
    const listed = Buffer.concat(
      extensions.map(([type, body]) => Buffer.concat([u16(type), u16(body.length), body])),
    );
    const body = Buffer.concat([
      Buffer.from([3, 3]),
      Buffer.alloc(32, 7),
      Buffer.from([2, 9, 9]),
      u16(2),
      Buffer.from([0x13, 0x01]),
      Buffer.from([1, 0]),
      u16(listed.length),
      listed,
    ]);
    const message = Buffer.concat([Buffer.from([1, 0]), u16(body.length), body]);
    const records: Buffer[] = [];
    for (let at = 0; at < message.length; at += recordBytes) {
      const part = message.subarray(at, at + recordBytes);
      records.push(Buffer.from([22, 3, 1]), u16(part.length), part);
    }
    return Buffer.concat(records);
  }
  const named = (name: string): Buffer =>
    Buffer.concat([Buffer.from([0, name.length + 3, 0, 0, name.length]), Buffer.from(name)]);

  it('name the server wherever they are cut and however many records they take', () => {
    for (const recordBytes of [16_384, 40]) {
      const bytes = hello(
        [
          [43, Buffer.from([2, 3, 4])],
          [0, named('API.Provider.test')],
        ],
        recordBytes,
      );
      for (let length = 0; length < bytes.length; length += 1)
        expect(readClientHello(bytes.subarray(0, length))).toBe('incomplete');
      expect(readClientHello(bytes)).toEqual({ serverName: 'api.provider.test' });
    }
  });

  it('name none where there is no such extension, and are no TLS where they are something else', () => {
    expect(readClientHello(hello([[43, Buffer.from([2, 3, 4])]]))).toEqual({ serverName: null });
    expect(readClientHello(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toBe('no-tls');
    expect(readClientHello(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]))).toBe('no-tls');
    expect(readClientHello(Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff]))).toBe('no-tls');
  });
});
