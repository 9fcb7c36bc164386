import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gateway } from '../gateway/gateway.js';
import { startTestProvider, type TestProvider } from '../gateway/test-provider.js';
import { cleanForTerminal } from '../support/terminal.js';
import { hostileAttempts, hostileScript, type Plants, sectionsOf } from './hostile-attempts.js';
import type { PreparedSandbox } from './sandbox.js';
import { availableCandidates, type Candidate, play, processesNaming, withSandbox } from './test-sandboxes.js';

const candidates = await availableCandidates();

/** Everything planted for one sandbox, and how to take it away. */
interface Stage extends AsyncDisposable {
  readonly plants: Plants;
  readonly gateway: Gateway;
  readonly received: TestProvider['received'];
}

const UNTOUCHED = 'untouched\n';
const WRITABLE = [
  'overwrite',
  'gateway.jsonl',
  'trace.jsonl',
  'attempt.json',
  'result.json',
  'mode',
  'through-init',
  'through-cwd',
  'engine',
  'orphan',
];

function plantFiles(folder: string, marker: string): void {
  for (const name of [
    'references',
    'repository',
    'campaigns/c/runs/r',
    'datasets',
    'home/.config',
    'home/.codex',
    'farm',
    'writable',
    'other-run',
  ])
    mkdirSync(join(folder, name), { recursive: true });
  for (const file of [
    'references/sirs.csv',
    'repository/package.json',
    'campaigns/c/runs/r/result.json',
    'datasets/other.parquet',
    'home/.config/key',
    'home/.codex/auth.json',
    'gateway.jsonl',
    'other-run/output.csv',
  ])
    writeFileSync(join(folder, file), `${marker}\n`);
  for (const file of [
    ...WRITABLE.map((name) => `writable/${name}`),
    'farm/stays.parquet',
    'farm/rows.parquet',
    'farm/replaced.parquet',
  ])
    writeFileSync(join(folder, file), UNTOUCHED, { mode: 0o666 });
  // Open to everyone, so that nothing but the sandbox keeps the agent out.
  for (const name of ['', 'farm', 'writable', 'other-run']) chmodSync(join(folder, name), 0o777);
  for (const name of WRITABLE) chmodSync(join(folder, 'writable', name), 0o666);
  for (const name of ['stays', 'rows', 'replaced']) chmodSync(join(folder, 'farm', `${name}.parquet`), 0o666);
}

function listen(server: Server, target: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(target as never, () => resolve());
  });
}

async function setStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'm4bench-hostile-'));
  const marker = `marker-${randomBytes(12).toString('hex')}`;
  plantFiles(folder, marker);
  const sharedMemory = join('/dev/shm', `m4b-${randomBytes(6).toString('hex')}`);
  writeFileSync(sharedMemory, marker, { mode: 0o644 });
  const open = openSync(join(folder, 'references/sirs.csv'), 'r');
  const victim: ChildProcess = spawn('/bin/bash', ['-c', 'sleep 300', marker], {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', SECRET: marker },
    stdio: ['ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'ignore', open],
    detached: true,
  });
  closeSync(open);
  const servers: Server[] = [];
  const sayMarker = async (target: unknown): Promise<Server> => {
    const server = createServer((socket) => socket.on('error', () => {}).end(marker));
    await listen(server, target);
    servers.push(server);
    return server;
  };
  const tcp = await sayMarker({ port: 0, host: '127.0.0.1' });
  const abstractSocket = `m4b-${randomBytes(8).toString('hex')}`;
  await sayMarker(`\0${abstractSocket}`);
  for (const name of ['docker.sock', 'other-gateway.sock']) {
    await sayMarker(join(folder, name));
    chmodSync(join(folder, name), 0o666);
  }
  const udp: Socket = createSocket('udp4');
  udp.on('message', () => writeFileSync(join(folder, 'reached-udp'), 'yes'));
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  const provider = await startTestProvider((response) => response.end(marker));
  const gateway = await Gateway.start({
    logPath: join(folder, 'log.jsonl'),
    providers: [
      {
        name: 'local',
        baseUrl: provider.origin,
        apiKey: marker,
        keyHeader: 'authorization-bearer',
        protocols: ['openai-chat'],
      },
    ],
  });
  return {
    gateway,
    received: provider.received,
    plants: {
      folder,
      marker,
      otherRun: join(folder, 'other-run'),
      victimPid: victim.pid!,
      tcpPort: (tcp.address() as { port: number }).port,
      udpPort: udp.address().port,
      abstractSocket,
      sharedMemory,
      input: `/tmp/m4b-${randomBytes(4).toString('hex')}/data/farm`,
      gateway: '',
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.close();
      udp.close();
      await gateway[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      try {
        process.kill(-victim.pid!, 'SIGKILL');
      } catch {
        // Gone already.
      }
      rmSync(sharedMemory, { force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether a planted path is no longer as it was planted. */
function isChanged(path: string): boolean {
  if (!existsSync(path)) return !path.endsWith('reached-udp') && !path.endsWith('hint.txt');
  if (path.endsWith('reached-udp') || path.endsWith('hint.txt')) return true;
  const status = lstatSync(path);
  return !status.isFile() || (status.mode & 0o7777) !== 0o666 || readFileSync(path, 'utf8') !== UNTOUCHED;
}

interface Outcome {
  readonly tried: number;
  readonly succeeded: readonly string[];
}

async function playHostile(stage: Stage, prepared: PreparedSandbox): Promise<Outcome> {
  const plants = { ...stage.plants, gateway: `${prepared.gatewayUrl}/local` };
  const attempts = hostileAttempts(plants);
  for (const { name, changes } of attempts)
    if (changes !== undefined) expect([name, isChanged(changes)]).toEqual([name, false]);
  const played = await play(prepared, ['/bin/bash', '-c', hostileScript(attempts)]);
  const sections = sectionsOf(played.stdout);
  // Every attempt was really made.
  expect(sections.size).toBe(attempts.length);
  const succeeded = attempts.filter(
    ({ changes }, at) =>
      sections.get(at)!.includes(plants.marker) ||
      sections.get(at)!.includes('ESCAPED') ||
      (changes !== undefined && isChanged(changes)),
  );
  return { tried: attempts.length, succeeded: succeeded.map(({ name }) => name) };
}

const LIMITS = { timeoutSeconds: 280, processes: 250, workBytes: 64 * 1024 ** 2 };

describe.each(candidates)('the hostile agent in $name', ({ sandbox }: Candidate) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const within = <Result>(body: (prepared: PreparedSandbox) => Promise<Result>): Promise<Result> =>
    withSandbox(
      sandbox,
      {
        limits: LIMITS,
        gatewaySocket: stage.gateway.socketPath,
        inputs: [{ source: join(stage.plants.folder, 'farm'), target: stage.plants.input }],
      },
      body,
    );

  it(sandbox.isIsolated
    ? 'succeeds in nothing'
    : 'succeeds in at least 25 attempts, so they are real', async () => {
    const { tried, succeeded } = await within((prepared) => playHostile(stage, prepared));
    console.info(`${sandbox.kind}: ${succeeded.length} of ${tried} attempts succeeded`);
    expect(tried).toBeGreaterThanOrEqual(40);
    if (sandbox.isIsolated) expect(succeeded).toEqual([]);
    else expect(succeeded.length).toBeGreaterThanOrEqual(25);
    expect(stage.received).toEqual([]);
  }, 300_000);

  it('brings nothing out by links, pipes, folders and odd names in place of its output', async () => {
    const reference = join(stage.plants.folder, 'references/sirs.csv');
    const plantings: readonly string[] = [
      `ln -s ${reference} output.csv`,
      `ln -s ${stage.plants.folder}/references linked; ln -s linked/sirs.csv output.csv`,
      'mkfifo output.csv',
      'mkdir output.csv; echo x > output.csv/x',
      `ln ${reference} output.csv || ln -s ${reference} output.csv`,
      "node -e \"require('net').createServer().listen('output.csv', () => process.kill(process.pid, 'SIGKILL'))\"",
      'truncate -s 100G output.csv; ls',
      "printf x > '..\\\\..\\\\escape'; printf x > $'new\\nline'; printf x > '-rf'",
    ];
    for (const script of plantings) {
      await within(async (prepared) => {
        await play(prepared, ['/bin/bash', '-c', script]);
        const into = mkdtempSync(join(stage.plants.folder, 'out-'));
        const began = performance.now();
        const report = await prepared.copyOut(into, {
          only: ['output.csv'],
          maxFileBytes: 1e6,
          maxTotalBytes: 1e6,
        });
        expect(performance.now() - began).toBeLessThan(10_000);
        // Beyond the limit the size of a file is never set, so an empty one is what may be left.
        expect([
          script,
          report.files.filter(({ path, bytes }) => path === 'output.csv' && bytes > 0),
        ]).toEqual([script, []]);
        expect(existsSync(join(into, '..', 'escape'))).toBe(false);
      });
    }
  }, 120_000);

  it('leaves no process behind, whatever it does to hide one', async () => {
    const tag = `${300 + (randomBytes(2).readUInt16LE() % 900)}.${randomBytes(3).readUIntLE(0, 3)}`;
    await within((prepared) =>
      play(prepared, [
        '/bin/bash',
        '-c',
        `(env -i setsid /usr/bin/env -i sleep ${tag} > /dev/null 2>&1 < /dev/null &) ; sleep 0.5`,
      ]),
    );
    const left = processesNaming(tag);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    if (sandbox.isIsolated) expect(left).toEqual([]);
    else expect(left).toHaveLength(1);
  });

  it('cannot fill the disk or the process table', async () => {
    const { folder } = stage.plants;
    await within(async (prepared) => {
      const file = await play(prepared, ['/bin/bash', '-c', 'head -c 200M /dev/zero > big; stat -c %s big']);
      expect(file.endedBy === 'disk' || Number(file.stdout.trim()) <= LIMITS.workBytes).toBe(true);
    });
    await within(async (prepared) => {
      const script = 'for at in $(seq 400); do sleep 20 & done 2>/dev/null; jobs -r | wc -l; wait';
      const crowd = await play(prepared, ['/bin/bash', '-c', script]);
      if (sandbox.isIsolated)
        expect(crowd.stdout.trim() === '' || Number(crowd.stdout) < LIMITS.processes).toBe(true);
      expect(crowd.endedBy === 'processes' || crowd.exitCode !== 0 || Number(crowd.stdout) < 400).toBe(true);
    });
    expect(existsSync(folder)).toBe(true);
  }, 120_000);

  // Never without isolation: there the same text would end processes of the machine.
  it.runIf(sandbox.isIsolated)('only ends itself when it kills the forwarder', async () => {
    const namespace = readlinkSync('/proc/self/ns/pid');
    const script = `[ "$(readlink /proc/self/ns/pid)" = '${namespace}' ] && exit 9
for entry in /proc/[0-9]*; do grep -qa init.mjs $entry/cmdline && kill -9 \${entry#/proc/}; done; sleep 1; echo STILL`;
    await within(async (prepared) => {
      const killed = await play(prepared, ['/bin/bash', '-c', script]).catch(() => undefined);
      expect(killed?.exitCode).not.toBe(9);
      const ask = `fetch(process.env.M4BENCH_GATEWAY_URL + '/local/v1/models').then((answer) => console.log(answer.status), () => console.log('down'))`;
      expect((await play(prepared, ['node', '-e', ask])).stdout).toMatch(/^\d+\n$/);
    });
  });

  it('cannot speak to the terminal of who reads its trace', async () => {
    const played = await within((prepared) =>
      play(prepared, ['printf', '\\033]0;owned\\007\\033[2J\\033P1$q\\033\\\\\\302\\233text\\r\\b\\n']),
    );
    expect(played.stdout).toContain('\u001b');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be gone
    expect(cleanForTerminal(played.stdout)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  });
});
