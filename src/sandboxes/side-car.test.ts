import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Gateway } from '../gateway/gateway.js';
import { startTestProvider } from '../gateway/test-provider.js';
import { startTimeOf } from '../support/process-tree.js';
import { cleanLeftovers } from '../support/runtime-folders.js';
import { cleanContainers } from './container-engine.js';
import { availableCandidates, play, withSandbox } from './test-sandboxes.js';

const run = promisify(execFile);
const candidates = (await availableCandidates()).filter(({ name }) => name === 'docker with a side-car');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-side-car-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const docker = async (...words: string[]): Promise<string> => (await run('docker', words)).stdout.trim();
interface Held {
  readonly containers: readonly string[];
  readonly volumes: readonly string[];
}
/** Containers and volumes of one benchmark process; those of other tests run beside. */
async function held(owner: string): Promise<Held> {
  const ours = ['--filter', `label=m4bench.owner=${owner}`, '--format'];
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  return {
    containers: lines(await docker('ps', '--all', ...ours, '{{.Names}}')),
    volumes: lines(await docker('volume', 'ls', ...ours, '{{.Name}}')),
  };
}

/** A benchmark process that runs one long command, and what the engine holds for it. */
async function startRunner(): Promise<{
  readonly runner: ChildProcess;
  readonly owner: string;
  readonly before: Held;
}> {
  const [program, out] = [join(folder, 'runner.mts'), join(folder, 'out')];
  const module = (name: string): string =>
    JSON.stringify(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)));
  const home = JSON.stringify(process.env.M4BENCH_TEST_ROOTFS);
  writeFileSync(
    program,
    `import { containerSandbox } from ${module('container')};
import { currentRootfs } from ${module('rootfs')};
import { homeAt } from ${module('../support/home')};
const sandbox = containerSandbox('docker', await currentRootfs(homeAt(${home})), 'side-car');
const limits = { timeoutSeconds: 60, memoryBytes: 1e9, processes: 100, workBytes: 1e8, streamBytes: 1e6 };
const prepared = await sandbox.prepare({ inputs: [], workFiles: [], limits });
await prepared.execute({
  command: ['bash', '-c', 'echo up; sleep 60'],
  environment: {},
  stdoutPath: ${JSON.stringify(out)},
  stderrPath: ${JSON.stringify(join(folder, 'err'))},
});
`,
  );
  rmSync(out, { force: true });
  const runner = spawn(process.execPath, ['--import', 'tsx', program], { stdio: 'inherit' });
  await vi.waitFor(() => expect(readFileSync(out, 'utf8')).toContain('up'), {
    timeout: 30_000,
    interval: 100,
  });
  const owner = `${runner.pid}.${startTimeOf(runner.pid!)}`;
  return { runner, owner, before: await held(owner) };
}

const OWN = `${process.pid}.${startTimeOf(process.pid)}`;

// A file without any test would be an error.
if (candidates.length === 0) it.skip('needs docker and a root file system: npm run test:docker', () => {});

describe.each(candidates)('the gateway of $name', ({ sandbox }) => {
  it('answers a container without a network, which sees neither key nor token', async () => {
    const key = `sk-planted-${randomBytes(16).toString('hex')}`;
    await using provider = await startTestProvider((response) => response.end('{"model":"m"}'));
    await using gateway = await Gateway.start({
      providers: [
        {
          name: 'local',
          baseUrl: provider.origin,
          apiKey: key,
          keyHeader: 'authorization-bearer',
          protocols: ['openai-chat'],
        },
      ],
      logPath: join(folder, 'gateway.jsonl'),
    });
    await withSandbox(sandbox, { gatewaySocket: gateway.socketPath }, async (prepared) => {
      const { containers, volumes } = await held(OWN);
      expect([containers.length, volumes]).toEqual([1, containers]);
      const sideCar = containers[0]!;
      const script = `
        const ask = fetch(process.env.M4BENCH_GATEWAY_URL + '/local/v1/chat/completions', { method: 'POST', body: '{}' });
        ask.then((answer) => answer.text()).then(console.log);`;
      const asked = await play(prepared, ['node', '-e', script]);
      expect(asked).toMatchObject({ exitCode: 0, stdout: '{"model":"m"}\n' });
      expect(provider.received).toHaveLength(1);
      // The provider got the key, so that it is the one to look for.
      expect(JSON.stringify(provider.received)).toContain(key);
      const network = await play(prepared, ['tail', '-n', '+3', '/proc/net/dev']);
      expect(network.stdout.split('\n').filter((line) => line !== '' && !/^\s*lo:/.test(line))).toEqual([]);
      // All that the agent may read. A pattern with brackets does not find itself.
      const pattern = `${key.slice(0, 20)}[${key[20]}]${key.slice(21)}`;
      const search = `find / -xdev -type f -readable -not -path '/usr/*' -exec grep -l '${pattern}' {} +
        find /opt/m4bench/sockets -type s; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | grep -ac '${pattern}'
        for path in new gateway.sock; do rm -f /opt/m4bench/sockets/$path; touch /opt/m4bench/sockets/$path; done 2>&1 | grep -c 'Read-only'`;
      const searched = await play(prepared, ['/bin/bash', '-c', search]);
      const lines = searched.stdout.trim().split('\n');
      expect([...lines.slice(0, -2)].sort()).toEqual([
        '/opt/m4bench/sockets/gateway.sock',
        '/opt/m4bench/sockets/status.sock',
      ]);
      // No process shows the key, and neither socket can be taken away or added to.
      expect(lines.slice(-2)).toEqual(['0', '2']);
      // What the engine tells of the side-car holds no key, and no word of 64 hexadecimal digits in its command or environment.
      const told = await docker('inspect', '--format', '{{json .Config}}{{json .Args}}', sideCar);
      expect(told).not.toContain(key);
      expect(told.match(/(?<![0-9a-f:])[0-9a-f]{64}(?![0-9a-f])/)).toBeNull();
      expect(
        await docker('exec', sideCar, '/bin/bash', '-c', 'cat /proc/*/environ /proc/*/cmdline'),
      ).not.toContain(key);
    });
    expect(await held(OWN)).toEqual({ containers: [], volumes: [] });
  });

  it.each(['ends by itself', 'hangs'])(
    'leaves nothing for good when its process is killed and it %s',
    async (how) => {
      const { runner, owner, before } = await startRunner();
      const [name] = before.volumes;
      expect(before.containers).toHaveLength(2);
      if (how === 'hangs') await docker('pause', name!);
      expect(await cleanContainers('docker')).not.toContain(name);
      const ended = new Promise((resolve) => runner.once('exit', resolve));
      runner.kill('SIGKILL');
      await ended;
      if (how !== 'hangs')
        await vi.waitFor(async () => expect((await held(owner)).containers).not.toContain(name), {
          timeout: 10_000,
        });
      const left = await held(owner);
      expect(left.containers).toHaveLength(how === 'hangs' ? 2 : 1);
      const removed = await cleanContainers('docker');
      expect(removed).toEqual(expect.arrayContaining([...left.containers, ...left.volumes]));
      expect(await held(owner)).toEqual({ containers: [], volumes: [] });
      await cleanLeftovers();
    },
  );
});
