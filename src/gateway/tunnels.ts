import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { AppendedLines } from './appended-lines.js';
import { readClientHello } from './client-hello.js';

const TLS_PORT = 443;
const CONNECT_TIMEOUT_MILLISECONDS = 30_000;
const HELLO_TIMEOUT_MILLISECONDS = 30_000;
/** Models may think long without a byte. */
const DEFAULT_IDLE_TIMEOUT_SECONDS = 900;
const MAX_OPEN = 64;
const MAX_LOGGED = 20_000;

/** One line of `egress.jsonl`: a tunnel that was asked for. What went through it is not looked at. */
export interface Tunnel {
  readonly startedAt: string;
  readonly seconds: number;
  readonly host: string;
  readonly port: number;
  /** Why it was not opened, or was cut before a byte went out; null: it was. */
  readonly refusal: string | null;
  /** What went wrong on an allowed one, or null. */
  readonly failure: 'unreachable' | 'timeout' | 'broke-off' | null;
  /** Bytes to the host, and from it. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** Totals of all tunnels that have ended. */
export interface TunnelSummary {
  /** Opened to an allowed host. */
  readonly opened: number;
  readonly refused: number;
  /** Allowed, and no connection came about. */
  readonly failed: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Hosts that were connected to, sorted. */
  readonly hosts: readonly string[];
}

export const NO_TUNNELS: TunnelSummary = {
  opened: 0,
  refused: 0,
  failed: 0,
  sentBytes: 0,
  receivedBytes: 0,
  hosts: [],
};

/** The summary of all tunnels so far and one more. */
export function tunnelSummaryWith(summary: TunnelSummary, tunnel: Tunnel): TunnelSummary {
  const wasReached = tunnel.refusal === null && tunnel.failure !== 'unreachable';
  return {
    opened: summary.opened + (wasReached ? 1 : 0),
    refused: summary.refused + (tunnel.refusal === null ? 0 : 1),
    failed: summary.failed + (tunnel.failure === 'unreachable' ? 1 : 0),
    sentBytes: summary.sentBytes + tunnel.sentBytes,
    receivedBytes: summary.receivedBytes + tunnel.receivedBytes,
    hosts: wasReached ? [...new Set([...summary.hosts, tunnel.host])].sort() : summary.hosts,
  };
}

export interface TunnelOptions {
  /** Lower case; `.name` stands for every host below that name. */
  readonly hosts: readonly string[];
  /** Host file outside the sandbox that receives one line per tunnel. */
  readonly logPath: string;
  /** Opens the connection to a host; default over the network. Tests stand in for it. */
  readonly connect?: (host: string, port: number) => Socket;
  readonly idleTimeoutSeconds?: number;
}

/** Whether a host is one of a list, in which `.name` stands for every host below that name. */
export function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  return allowed.some((rule) => (rule.startsWith('.') ? host.endsWith(rule) : host === rule));
}

/** `host:port` of a CONNECT request; -1 for a port that is no number. */
function targetOf(target: string): { readonly host: string; readonly port: number } {
  const at = target.lastIndexOf(':');
  const host = (at === -1 ? target : target.slice(0, at)).replace(/^\[|\]$/g, '').toLowerCase();
  const port =
    at === -1 ? TLS_PORT : /^\d{1,5}$/.test(target.slice(at + 1)) ? Number(target.slice(at + 1)) : -1;
  return { host: host.slice(0, 255), port };
}

/**
 * Answers CONNECT for a CLI that signs in by itself: tunnels to the listed hosts, on port 443, whose TLS names that
 * very host, and nothing else. It reads nothing of what passes but the name of the server.
 */
export class Tunnels implements AsyncDisposable {
  readonly #open = new Set<{ end(): void; readonly ended: Promise<void> }>();
  #summary = NO_TUNNELS;
  #asked = 0;

  private constructor(
    private readonly options: TunnelOptions,
    private readonly log: AppendedLines,
  ) {}

  static async open(options: TunnelOptions): Promise<Tunnels> {
    return new Tunnels(options, await AppendedLines.open(options.logPath, []));
  }

  summary(): TunnelSummary {
    return this.#summary;
  }

  /** Serves one CONNECT request; `head` are bytes that came with it. */
  serve(request: IncomingMessage, client: Socket, head: Buffer): void {
    client.on('error', () => {});
    this.#asked += 1;
    if (this.#asked > MAX_LOGGED) {
      client.destroy();
      return;
    }
    const { host, port } = targetOf(request.url ?? '');
    const began = performance.now();
    const asked = { startedAt: new Date().toISOString(), host, port };
    const end = (part: Partial<Tunnel>): void => {
      const seconds = (performance.now() - began) / 1000;
      const nothing = { refusal: null, failure: null, sentBytes: 0, receivedBytes: 0 };
      const tunnel: Tunnel = { ...asked, seconds, ...nothing, ...part };
      this.#summary = tunnelSummaryWith(this.#summary, tunnel);
      this.log.append(tunnel);
    };
    const refusal = this.#refusal(host, port);
    if (refusal !== undefined) {
      answer(client, '403 Forbidden');
      end({ refusal });
      return;
    }
    const upstream = (this.options.connect ?? overNetwork)(host, port);
    const tunnel = {
      end: () => destroyAll(client, upstream),
      ended: this.#carry(client, upstream, head, host, end),
    };
    this.#open.add(tunnel);
    void tunnel.ended.finally(() => this.#open.delete(tunnel));
  }

  #refusal(host: string, port: number): string | undefined {
    if (!isAllowedHost(host, this.options.hosts)) return 'host not allowed';
    if (port !== TLS_PORT) return 'port not allowed';
    return this.#open.size >= MAX_OPEN ? `more than ${MAX_OPEN} tunnels at once` : undefined;
  }

  async #carry(
    client: Socket,
    upstream: Socket,
    head: Buffer,
    host: string,
    end: (part: Partial<Tunnel>) => void,
  ): Promise<void> {
    try {
      await connected(upstream);
    } catch {
      answer(client, '502 Bad Gateway');
      upstream.destroy();
      return end({ failure: 'unreachable' });
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const hello = await firstBytes(client, head);
    const wanted = typeof hello === 'string' ? hello : hello.serverName;
    if (wanted !== host) {
      destroyAll(client, upstream);
      return end({
        refusal: `the client did not ask for this host in TLS (${String(wanted).slice(0, 100)})`,
      });
    }
    let failure: Tunnel['failure'] = null;
    const idle = (this.options.idleTimeoutSeconds ?? DEFAULT_IDLE_TIMEOUT_SECONDS) * 1000;
    upstream.setTimeout(idle, () => {
      failure = 'timeout';
      destroyAll(client, upstream);
    });
    upstream.on('error', () => {
      failure ??= 'broke-off';
    });
    // Hands bytes on as fast as they are taken, and the end too.
    client.pipe(upstream);
    upstream.pipe(client);
    client.once('close', () => upstream.destroy());
    await new Promise<void>((resolve) => upstream.once('close', resolve));
    // What the host said last is still on its way.
    client.destroySoon();
    end({ failure, sentBytes: upstream.bytesWritten, receivedBytes: upstream.bytesRead });
  }

  /** Ends all tunnels; the summary tells of every one then. */
  async endAll(): Promise<TunnelSummary> {
    for (const tunnel of this.#open) tunnel.end();
    await Promise.all([...this.#open].map(({ ended }) => ended));
    return this.#summary;
  }

  /** Ends all tunnels and completes the log. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.endAll();
    await this.log[Symbol.asyncDispose]();
  }
}

function overNetwork(host: string, port: number): Socket {
  return connect({ host, port, allowHalfOpen: true });
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('timed out')), CONNECT_TIMEOUT_MILLISECONDS);
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve();
    });
    socket.on('error', () => {});
    socket.once('error', (thrown) => {
      clearTimeout(timer);
      reject(thrown);
    });
  });
}

/** Reads until the client has said what it wants, and puts what it said back. */
async function firstBytes(
  client: Socket,
  head: Buffer,
): Promise<Exclude<ReturnType<typeof readClientHello>, 'incomplete'>> {
  let bytes = head;
  const timer = setTimeout(() => client.destroy(), HELLO_TIMEOUT_MILLISECONDS);
  try {
    for (;;) {
      const hello = readClientHello(bytes);
      if (hello !== 'incomplete') return hello;
      const chunk = await nextChunk(client);
      if (chunk === undefined) return 'no-tls';
      bytes = Buffer.concat([bytes, chunk]);
    }
  } finally {
    clearTimeout(timer);
    if (bytes.length > 0 && !client.destroyed) client.unshift(bytes);
  }
}

function nextChunk(client: Socket): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const finish = (chunk?: Buffer): void => {
      client.pause();
      client.off('data', finish).off('end', ended).off('close', ended);
      resolve(chunk);
    };
    const ended = (): void => finish();
    client.on('data', finish).on('end', ended).on('close', ended);
    client.resume();
  });
}

function answer(client: Socket, status: string): void {
  client.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
}

function destroyAll(...sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}
