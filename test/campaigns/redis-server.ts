import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** Path of Debian's `redis-server`, or undefined where it is not installed. */
export function redisProgram(): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    try {
      accessSync(join(folder, 'redis-server'), constants.X_OK);
      return join(folder, 'redis-server');
    } catch {
      // Not here.
    }
  }
  return undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A Redis server of a test's own, in memory only: every restart forgets everything. */
export class TestRedis implements AsyncDisposable {
  private constructor(
    private readonly program: string,
    private readonly port: number,
    private child: ChildProcess,
  ) {}

  static async start(program: string): Promise<TestRedis> {
    const port = await freePort();
    const redis = new TestRedis(program, port, launch(program, port));
    await redis.answers();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Kills the server and starts an empty one at the same address. */
  async restart(): Promise<void> {
    await this.end();
    this.child = launch(this.program, this.port);
    await this.answers();
  }

  private async answers(): Promise<void> {
    const client = new Redis(this.url, { maxRetriesPerRequest: null });
    client.on('error', () => {});
    try {
      await client.ping();
    } finally {
      client.disconnect();
    }
  }

  private async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
    await sleep(50);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

function launch(program: string, port: number): ChildProcess {
  const words = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    '/tmp',
  ];
  return spawn(program, words, { stdio: 'ignore' });
}
