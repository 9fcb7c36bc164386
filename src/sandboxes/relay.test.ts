import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { channelTo, Relay } from './relay.js';

let folder: string;
let server: Server;
let socketPath: string;
/** Texts that got through. */
const heard: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-relay-'));
  socketPath = join(folder, 's');
  server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('end', () => {
      heard.push(text);
      socket.end(`heard ${text.length}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends pieces one after another, then ends; what comes back. */
async function say(port: number, pieces: readonly string[], isEnded = true): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  socket.once('end', () => socket.end());
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (isEnded) socket.end();
  await closed;
  return text;
}

describe('the relay of a side-car', () => {
  it('hands over what follows the greeting, however it is cut, and comes back after the end', async () => {
    await using relay = await Relay.start({ gateway: channelTo(socketPath) });
    const greeting = `${relay.token} gateway\n`;
    const long = 'x'.repeat(300_000);
    for (const pieces of [
      [`${greeting}first`],
      [greeting, 'sec', 'ond'],
      [greeting.slice(0, 10), `${greeting.slice(10)}th`, 'ird'],
      [greeting, long],
    ]) {
      const text = pieces.join('').slice(greeting.length);
      expect(await say(relay.port, pieces)).toBe(`heard ${text.length}`);
      expect(heard.pop()).toBe(text);
    }
  });

  it('turns away who lacks its token, names no channel, or only talks', async () => {
    await using relay = await Relay.start({ gateway: channelTo(socketPath) });
    await using other = await Relay.start({ gateway: channelTo(socketPath) });
    expect(other.token).not.toBe(relay.token);
    for (const greeting of [
      'POST /v1/chat/completions HTTP/1.1\r\n',
      'gateway\n',
      '\n',
      `${other.token} gateway\n`,
      `${relay.token.slice(1)} gateway\n`,
      `${relay.token}x gateway\n`,
      `${'é'.repeat(64)} gateway\n`,
      `${relay.token} status\n`,
      `${relay.token} toString\n`,
      `${relay.token}\n`,
      'x'.repeat(1000),
      relay.token,
    ])
      expect([greeting, await say(relay.port, [greeting, 'secret'])]).toEqual([greeting, '']);
    expect(heard).toEqual([]);
  });

  it('ends what is open when it is disposed, the silent included', async () => {
    const relay = await Relay.start({ gateway: channelTo(socketPath) });
    const waiting = [say(relay.port, [], false), say(relay.port, [`${relay.token} gateway\n`], false)];
    await new Promise((resolve) => setTimeout(resolve, 50));
    await relay[Symbol.asyncDispose]();
    expect(await Promise.all(waiting)).toEqual(['', '']);
  });
});
