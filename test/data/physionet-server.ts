import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server does wrong with one request of a file; the default is to serve it, with ranges. */
export type Fault =
  | { readonly kind: 'drop'; readonly afterBytes: number }
  | { readonly kind: 'stall'; readonly afterBytes: number }
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string }
  /** Sends other bytes of the same length. */
  | { readonly kind: 'wrong bytes' }
  /** Answers a range request with the whole file and 200. */
  | { readonly kind: 'no ranges' }
  | { readonly kind: 'wrong range' };

/** A request as it came in. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

export interface PhysioNetOptions {
  /** File contents by path below the root, for example `eicu-crd/2.0/patient.csv.gz`. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Faults per path, one per GET request, in order; after the last one the file is served well. */
  readonly faults?: ReadonlyMap<string, readonly Fault[]>;
  /** Paths below this need this login. */
  readonly credentialed?: { readonly below: string; readonly user: string; readonly password: string };
  /** User names that have not signed the data use agreement. */
  readonly unsigned?: readonly string[];
}

/** A small server on this machine that plays physionet.org/files. */
export class PhysioNetServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  private readonly served = new Map<string, number>();

  private constructor(
    private readonly server: Server,
    private readonly options: PhysioNetOptions,
  ) {}

  static async start(options: PhysioNetOptions): Promise<PhysioNetServer> {
    const server = createServer();
    const play = new PhysioNetServer(server, options);
    server.on('request', (request, response) => play.answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return play;
  }

  /** Stands for `https://physionet.org/files/`. */
  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/files/`;
  }

  /** Range headers of the GET requests for one file. */
  rangesOf(path: string): readonly (string | undefined)[] {
    return this.seen
      .filter((request) => request.method === 'GET' && request.path === path)
      .map((request) => request.range);
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent((request.url ?? '').replace(/^\/files\//, ''));
    const { range, authorization } = request.headers;
    this.seen.push({ method: request.method ?? '', path, range, authorization });
    const refused = this.refusal(path, authorization);
    if (refused !== undefined) {
      response.writeHead(refused, refused === 401 ? { 'www-authenticate': 'Basic realm="test"' } : {}).end();
      return;
    }
    const content = this.options.files.get(path) ?? this.listing(path);
    if (content === undefined) {
      response.writeHead(404).end('not here');
      return;
    }
    if (request.method === 'HEAD') {
      response.writeHead(200, { 'content-length': content.length, 'accept-ranges': 'bytes' }).end();
      return;
    }
    const turn = this.served.get(path) ?? 0;
    this.served.set(path, turn + 1);
    serve(response, content, range, this.options.faults?.get(path)?.[turn]);
  }

  private refusal(path: string, authorization: string | undefined): 401 | 403 | undefined {
    const { credentialed, unsigned } = this.options;
    if (credentialed === undefined || !path.startsWith(credentialed.below)) return undefined;
    const login = Buffer.from((authorization ?? '').replace(/^Basic /, ''), 'base64').toString('utf8');
    const colon = login.indexOf(':');
    const [user, password] = [login.slice(0, colon), login.slice(colon + 1)];
    if (unsigned?.includes(user) === true) return 403;
    return user === credentialed.user && password === credentialed.password ? undefined : 401;
  }

  /** An HTML page of a folder, as PhysioNet shows it. */
  private listing(path: string): Buffer | undefined {
    if (!path.endsWith('/')) return undefined;
    const names = [...this.options.files.keys()]
      .filter((file) => file.startsWith(path))
      .map((file) => file.slice(path.length).split('/')[0]!);
    const links = [...new Set(names)].map((name) => `<a href="${name}">${name}</a> 2020-01-01 00:00 5`);
    return links.length === 0
      ? undefined
      : Buffer.from(`<html><pre><a href="../">../</a>\n${links.join('\n')}</pre></html>`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

function serve(
  response: ServerResponse,
  content: Buffer,
  range: string | undefined,
  fault: Fault | undefined,
): void {
  if (fault?.kind === 'status') {
    const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
    response.writeHead(fault.status, headers).end();
    return;
  }
  const asked = fault?.kind === 'no ranges' ? undefined : /^bytes=(\d+)-$/.exec(range ?? '')?.[1];
  const start = asked === undefined ? 0 : Number(asked);
  if (start >= content.length && asked !== undefined) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  const body =
    fault?.kind === 'wrong bytes' ? Buffer.alloc(content.length - start, 'x') : content.subarray(start);
  const shownStart = fault?.kind === 'wrong range' ? start + 1 : start;
  response.writeHead(asked === undefined ? 200 : 206, {
    'content-length': body.length,
    ...(asked === undefined
      ? {}
      : { 'content-range': `bytes ${shownStart}-${content.length - 1}/${content.length}` }),
  });
  if (fault?.kind === 'drop' || fault?.kind === 'stall') {
    const isStall = fault.kind === 'stall';
    response.write(body.subarray(0, fault.afterBytes), () => {
      if (!isStall) setTimeout(() => response.destroy(), 20);
    });
    return;
  }
  response.end(body);
}
