import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, keptAnswer, playedPieces } from './cassette.js';
import { CassettePlayer } from './cassette-player.js';
import { CassetteRecorder } from './cassette-recorder.js';
import { digestOf } from './cassette-rules.js';
import { Gateway, type GatewayOptions } from './gateway.js';
import type { GatewayExchange } from './gateway-types.js';
import { events, json, KEY, withGateway } from './test-gateway.js';
import { type Answer, askGateway } from './test-provider.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-cassette-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let made = 0;
function newPath(): string {
  made += 1;
  return join(folder, `${made}.cassette`);
}

function openRecorder(path: string): Promise<CassetteRecorder> {
  return CassetteRecorder.open(path, {
    providers: [
      {
        name: 'openai',
        baseUrl: 'https://provider.test/v1',
        apiKey: KEY,
        keyHeader: 'authorization-bearer',
        protocols: ['openai-responses', 'openai-chat'],
      },
    ],
    benchmarkVersion: '0',
    keptOutOf: [join(folder, 'campaigns')],
    guardedFolder: join(folder, 'cassettes'),
  });
}

/** Records what a client asks of a provider in one session. */
async function record(
  path: string,
  answer: Answer,
  ask: (gateway: Gateway) => Promise<void>,
  label = 'run/1',
): Promise<void> {
  await using recorder = await openRecorder(path);
  await withGateway(answer, ask, { recording: recorder.session(label) });
}

/** Plays a cassette to a client; there is no provider at all. */
async function replay(
  path: string,
  ask: (gateway: Gateway) => Promise<void>,
  {
    isStrict = true,
    label = 'run/1',
    ...options
  }: Partial<GatewayOptions> & { isStrict?: boolean; label?: string } = {},
) {
  await using player = await CassettePlayer.open(path, { isStrict });
  const session = player.session(label);
  const logPath = newPath();
  const gateway = await Gateway.start({ providers: player.providers, logPath, replay: session, ...options });
  try {
    await ask(gateway);
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
  const lines = (await readFile(logPath, 'utf8')).split('\n').filter((line) => line !== '');
  return {
    exchanges: lines.map((line) => JSON.parse(line) as GatewayExchange),
    summary: gateway.summary(),
    session,
  };
}

const RESPONSES = '/openai/v1/responses';
const turn = (input: unknown, more: object = {}) => ({ model: 'gpt-5', input, stream: true, ...more });
const answerOf = (text: string) =>
  events([
    { event: 'response.output_text.delta', data: { type: 'response.output_text.delta', delta: text } },
    {
      event: 'response.completed',
      data: {
        type: 'response.completed',
        response: { model: 'gpt-5-2026', usage: { input_tokens: 20, output_tokens: 3 } },
      },
    },
  ]);

/** Two turns, whose answers say which request they are to. */
const TWO_TURNS: Answer = (response, { body }) =>
  answerOf(body.includes('"second"') ? 'two' : 'one')(response);

async function askTwice(gateway: Gateway, more: object = {}): Promise<string[]> {
  const bodies: string[] = [];
  for (const input of [['first'], ['first', 'second']])
    bodies.push((await askGateway(gateway.socketPath, RESPONSES, turn(input, more))).body);
  return bodies;
}

describe('a cassette', () => {
  it('plays the same answers, models and tokens without a provider and a key', async () => {
    const path = newPath();
    const live: string[] = [];
    await record(path, TWO_TURNS, async (gateway) => void live.push(...(await askTwice(gateway))));
    const played: string[] = [];
    const { exchanges, summary, session } = await replay(path, async (gateway) => {
      played.push(...(await askTwice(gateway)));
    });
    expect(live[0]).toContain('"delta":"one"');
    expect(live[1]).toContain('"delta":"two"');
    expect(played).toEqual(live);
    expect(summary).toMatchObject({
      tokens: { input: 40, output: 6 },
      models: ['gpt-5-2026'],
      replayed: { answers: 2, byTurn: 0 },
    });
    expect(exchanges.map(({ host, replayed }) => [host, replayed])).toEqual([
      [null, 'body'],
      [null, 'body'],
    ]);
    expect(session).toMatchObject({ mismatch: null, left: 0 });
  });

  it('holds no key and no request, and nobody else may read it', async () => {
    const path = newPath();
    const echo: Answer = (response, { headers }) =>
      json({ model: 'gpt-5', said: headers.authorization })(response);
    await record(path, echo, async (gateway) => {
      await askGateway(gateway.socketPath, RESPONSES, turn('patient 4711'));
    });
    const text = await readFile(path, 'utf8');
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('4711');
    expect(text).not.toContain('provider.test');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('keeps each event of a stream by itself, to the last character', () => {
    const streams = [
      'data: a\n\ndata: b\r\n\r\nevent: c\ndata: ü\n\n',
      'data: cut off',
      '',
      'x\r\r: ping\n\n',
    ];
    expect(eventsOf(streams[0]!)).toEqual(['data: a\n\n', 'data: b\r\n\r\n', 'event: c\ndata: ü\n\n']);
    for (const stream of streams) {
      const headers = { 'content-type': 'text/event-stream' };
      const kept = keptAnswer({ status: 200, headers, body: Buffer.from(stream) });
      expect(Buffer.concat(playedPieces(kept)).toString('utf8')).toBe(stream);
    }
    const bytes = Buffer.from([0xff, 0x00, 0xfe]);
    expect(playedPieces(keptAnswer({ status: 200, headers: {}, body: bytes }))).toEqual([bytes]);
  });

  it('plays the errors that were recorded, and equal requests in their order', async () => {
    const path = newPath();
    let asked = 0;
    const busyOnce: Answer = (response, received) => {
      asked += 1;
      if (asked > 1) return answerOf('now')(response);
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' });
      response.end('{"error":{"message":"slow down"}}');
      void received;
    };
    const ask = async (gateway: Gateway, into: unknown[]): Promise<void> => {
      for (const _ of [1, 2]) {
        const { status, headers } = await askGateway(gateway.socketPath, RESPONSES, turn('x'));
        into.push([status, headers['retry-after']]);
      }
    };
    const [live, played]: [unknown[], unknown[]] = [[], []];
    await record(path, busyOnce, (gateway) => ask(gateway, live));
    await replay(path, (gateway) => ask(gateway, played));
    expect(live).toEqual([
      [429, '7'],
      [200, undefined],
    ]);
    expect(played).toEqual(live);
  });

  it('takes requests that came at once in any order', async () => {
    const path = newPath();
    await record(path, TWO_TURNS, async (gateway) => void (await askTwice(gateway)));
    const bodies: string[] = [];
    await replay(path, async (gateway) => {
      for (const input of [['first', 'second'], ['first']])
        bodies.push((await askGateway(gateway.socketPath, RESPONSES, turn(input))).body);
    });
    expect(bodies[0]).toContain('"two"');
    expect(bodies[1]).toContain('"one"');
  });

  it('is not put off by what differs between identical runs', async () => {
    const path = newPath();
    const own = (id: string, day: string, seconds: string) => ({
      prompt_cache_key: id,
      client_metadata: { session_id: id },
      instructions: `<current_date>${day}</current_date> session ${id}`,
      input: [
        {
          id: `msg_${id}`,
          role: 'user',
          output: `Chunk ID: ${id.slice(0, 6)}\nWall time: ${seconds} seconds`,
        },
      ],
    });
    const first = own('0a9c1d2e-0000-4000-8000-000000000001', '2026-01-31', '0.0512');
    const second = own('ffffffff-1111-4111-8111-222222222222', '2026-02-01', '1.7');
    await record(path, answerOf('same'), async (gateway) => {
      await askGateway(gateway.socketPath, RESPONSES, turn([], first), {
        headers: { 'user-agent': 'cli/1' },
      });
    });
    const { exchanges } = await replay(path, async (gateway) => {
      await askGateway(gateway.socketPath, RESPONSES, turn([], second), {
        headers: { 'user-agent': 'cli/2' },
      });
    });
    expect(exchanges[0]).toMatchObject({ status: 200, replayed: 'body' });
  });

  it('tells rows of data apart, dates included', () => {
    const digest = (text: string) => digestOf('openai-chat', { messages: [{ content: text }] });
    expect(digest('admitted 2150-01-02')).not.toEqual(digest('admitted 2150-01-03'));
    expect(digest("Today's date is 2026-01-02.\nx")).toEqual(digest("Today's date is 2026-01-03.\nx"));
    expect(digestOf('anthropic-messages', { metadata: { user_id: 'a' }, max_tokens: 1 })).toEqual(
      digestOf('anthropic-messages', { metadata: { user_id: 'b' }, max_tokens: 1 }),
    );
  });

  it('refuses a changed request when it is strict, and names the parts and no content', async () => {
    const path = newPath();
    await record(path, TWO_TURNS, async (gateway) => void (await askTwice(gateway)));
    const reasons: string[] = [];
    const { exchanges, session } = await replay(
      path,
      async (gateway) => {
        await askGateway(gateway.socketPath, RESPONSES, turn(['first']));
        const { status, body } = await askGateway(
          gateway.socketPath,
          RESPONSES,
          turn(['first', 'another patient'], { temperature: 1 }),
        );
        expect(status).toBe(400);
        expect(body).toContain('input[1], temperature');
      },
      { onReplayMismatch: (reason) => reasons.push(reason) },
    );
    const reason =
      'the cassette holds no answer: the request differs from the recorded one of turn 2 in input[1], temperature';
    expect(reasons).toEqual([reason]);
    expect(session).toMatchObject({ mismatch: reason, left: 1 });
    expect(exchanges[1]).toMatchObject({ refusal: reason, host: null, replayed: null });
    expect(JSON.stringify(exchanges)).not.toContain('another patient');
  });

  it('goes by the turn when it is not, and says so', async () => {
    const path = newPath();
    await record(path, TWO_TURNS, async (gateway) => void (await askTwice(gateway)));
    const bodies: string[] = [];
    const { summary } = await replay(
      path,
      async (gateway) => {
        for (const input of [['first'], ['first', 'changed']])
          bodies.push((await askGateway(gateway.socketPath, RESPONSES, turn(input))).body);
        const beyond = await askGateway(gateway.socketPath, RESPONSES, turn(['first', 'changed', 'more']));
        expect(beyond.status).toBe(400);
        expect(beyond.body).toContain('the recording has 2 exchanges');
      },
      { isStrict: false },
    );
    expect(bodies[1]).toContain('"two"');
    expect(summary.replayed).toEqual({ answers: 2, byTurn: 1 });
  });

  it('keeps runs apart: each is played once, its own first', async () => {
    const path = newPath();
    for (const label of ['run-a/1', 'run-b/1'])
      await record(
        path,
        answerOf(label),
        async (gateway) => void (await askGateway(gateway.socketPath, RESPONSES, turn('same'))),
        label,
      );
    await using player = await CassettePlayer.open(path, { isStrict: true });
    const said: string[] = [];
    for (const label of ['run-b/1', 'run-c/1', 'run-d/1']) {
      await using gateway = await Gateway.start({
        providers: player.providers,
        logPath: newPath(),
        replay: player.session(label),
      });
      said.push((await askGateway(gateway.socketPath, RESPONSES, turn('same'))).body);
    }
    expect(said[0]).toContain('run-b/1');
    expect(said[1]).toContain('run-a/1');
    expect(said[2]).toContain('every recorded run in it has been played');
  });
});

describe('a cassette file', () => {
  const one = (path: string): Promise<void> =>
    record(path, answerOf('x'), async (gateway) => {
      await askGateway(gateway.socketPath, RESPONSES, turn('x'));
    });

  it('goes on after a process that was killed while it wrote', async () => {
    const path = newPath();
    await one(path);
    const whole = await readFile(path, 'utf8');
    await appendFile(path, '{"kind":"exchange","sess');
    await (await CassettePlayer.open(path, { isStrict: true }))[Symbol.asyncDispose]();
    await one(path);
    const text = await readFile(path, 'utf8');
    expect(text.startsWith(whole)).toBe(true);
    expect(text.slice(whole.length).split('\n')).toHaveLength(2);
    expect(() =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).not.toThrow();
  });

  it('is recorded by one at a time, this process or another, and given back when that one is gone', async () => {
    const path = join(folder, 'shared', 'a.cassette');
    const inUse = { code: 'CASSETTE_IN_USE', message: expect.stringContaining(`process ${process.pid} on `) };
    {
      await using _first = await openRecorder(path);
      await expect(openRecorder(path)).rejects.toMatchObject(inUse);
      // A name that only begins alike is another cassette.
      await using _other = await openRecorder(join(folder, 'shared', 'a.cassette.lock-x'));
    }
    const program = join(folder, 'holder.mts');
    const module = JSON.stringify(fileURLToPath(new URL('./cassette-recorder.ts', import.meta.url)));
    await writeFile(
      program,
      `import { CassetteRecorder } from ${module};
const guardedFolder = ${JSON.stringify(join(folder, 'cassettes'))};
await CassetteRecorder.open(${JSON.stringify(path)}, { providers: [], benchmarkVersion: '0', keptOutOf: [], guardedFolder });
console.log('open');
setInterval(() => {}, 1000);
`,
    );
    const holder = spawn(process.execPath, ['--import', 'tsx', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(holder, 'exit');
    await once(holder.stdout, 'data');
    await expect(openRecorder(path)).rejects.toMatchObject({
      code: 'CASSETTE_IN_USE',
      message: expect.stringContaining(`process ${holder.pid} on `),
    });
    holder.kill('SIGKILL');
    await ended;
    await one(path);
    expect((await readdir(join(folder, 'shared'))).sort()).toEqual(['a.cassette', 'a.cassette.lock-x']);
    // Nobody mixed in: one head and one exchange.
    expect((await readFile(path, 'utf8')).trim().split('\n')).toHaveLength(2);
  });

  it('is refused among the runs, through a link too, and where a link stands', async () => {
    await mkdir(join(folder, 'campaigns', 'c', 'runs'), { recursive: true });
    await symlink(join(folder, 'campaigns', 'c'), join(folder, 'elsewhere'));
    const link = newPath();
    await symlink(join(folder, 'target'), link);
    await expect(openRecorder(join(folder, 'campaigns', 'c', 'runs', 'x'))).rejects.toMatchObject({
      code: 'CASSETTE_PLACE',
    });
    await expect(openRecorder(join(folder, 'elsewhere', 'x'))).rejects.toMatchObject({
      code: 'CASSETTE_PLACE',
    });
    await expect(openRecorder(link)).rejects.toMatchObject({ code: 'CASSETTE_UNWRITABLE' });
  });

  it('knows the folder that is kept for credentialed rows', async () => {
    await using inside = await openRecorder(join(folder, 'cassettes', 'a'));
    await using outside = await openRecorder(newPath());
    expect([inside.isGuarded, outside.isGuarded]).toEqual([true, false]);
  });

  it('is told from other files, and from those of other rules', async () => {
    const other = newPath();
    await writeFile(other, '{"a":1}\n');
    await expect(CassettePlayer.open(other, { isStrict: true })).rejects.toMatchObject({
      code: 'CASSETTE_INVALID',
    });
    await expect(openRecorder(other)).rejects.toMatchObject({ code: 'CASSETTE_INVALID' });
    expect(await readFile(other, 'utf8')).toBe('{"a":1}\n');
    const damaged = newPath();
    await one(damaged);
    await appendFile(damaged, '{"kind":"exchange"}\n');
    await expect(CassettePlayer.open(damaged, { isStrict: true })).rejects.toThrow(/^Line 3 of /);
    const old = newPath();
    await one(old);
    await writeFile(old, (await readFile(old, 'utf8')).replace(/"rules":"[0-9a-f]{16}"/, '"rules":"0"'));
    await expect(CassettePlayer.open(old, { isStrict: true })).rejects.toMatchObject({
      code: 'CASSETTE_OUTDATED',
    });
    await expect(CassettePlayer.open(newPath(), { isStrict: true })).rejects.toMatchObject({
      code: 'CASSETTE_UNREADABLE',
    });
  });
});
