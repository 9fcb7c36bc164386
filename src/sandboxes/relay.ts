import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from '../../sandbox-tools/forwarder.mjs';

/** Longest greeting, `<token> <channel>` and a line feed. */
const MAX_GREETING_BYTES = 200;
const GREETING_MILLISECONDS = 5_000;
const LINE_FEED = 0x0a;

/** What is done with a connection whose greeting was right; the socket allows half-open connections and is paused. */
export type RelayChannel = (socket: Socket) => void;

/**
 * The host's end of a side-car: a TCP server on the loopback address of this machine that knows its side-car by a
 * token and hands each connection to the channel that it names. Whoever lacks the token is turned away unheard.
 */
export class Relay implements AsyncDisposable {
  /** For this relay alone, in hexadecimal. */
  readonly token = randomBytes(32).toString('hex');
  readonly port: number;
  readonly #open = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly channels: Readonly<Record<string, RelayChannel>>,
  ) {
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => this.#greet(socket));
  }

  static async start(channels: Readonly<Record<string, RelayChannel>>): Promise<Relay> {
    const server = createServer({ allowHalfOpen: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: '127.0.0.1', port: 0 }, () => resolve());
    });
    return new Relay(server, channels);
  }

  #greet(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#open.delete(socket));
    const timer = setTimeout(() => socket.destroy(), GREETING_MILLISECONDS);
    let heard: Buffer = Buffer.alloc(0);
    const hear = (chunk: Buffer): void => {
      heard = Buffer.concat([heard, chunk]);
      const end = heard.indexOf(LINE_FEED);
      if (end < 0 && heard.length <= MAX_GREETING_BYTES) return;
      clearTimeout(timer);
      socket.off('data', hear);
      socket.pause();
      const channel = end < 0 ? undefined : this.#channelOf(heard.toString('latin1', 0, end));
      if (channel === undefined) {
        socket.destroy();
        return;
      }
      if (heard.length > end + 1) socket.unshift(heard.subarray(end + 1));
      channel(socket);
    };
    socket.on('data', hear);
    socket.once('close', () => clearTimeout(timer));
    socket.once('end', () => {
      if (socket.listeners('data').includes(hear)) socket.destroy();
    });
  }

  #channelOf(greeting: string): RelayChannel | undefined {
    const [token = '', name = ''] = greeting.split(' ');
    const [said, right] = [Buffer.from(token, 'latin1'), Buffer.from(this.token, 'latin1')];
    const isKnown = said.length === right.length && timingSafeEqual(said, right);
    return isKnown && Object.hasOwn(this.channels, name) ? this.channels[name] : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** A channel that leads to a Unix socket of this machine. */
export function channelTo(socketPath: string): RelayChannel {
  return (socket) => {
    join(socket, connect({ path: socketPath, allowHalfOpen: true }));
    socket.resume();
  };
}
