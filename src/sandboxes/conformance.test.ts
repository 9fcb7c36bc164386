import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Gateway } from '../gateway/gateway.js';
import { startTestProvider } from '../gateway/test-provider.js';
import { sha256File } from '../support/hashing.js';
import { packageRoot } from '../support/home.js';
import type { PreparedSandbox } from './sandbox.js';
import { availableCandidates, type Candidate, play, playScript, withSandbox } from './test-sandboxes.js';

const candidates = await availableCandidates();
const isolated = candidates.filter(({ sandbox }) => sandbox.isIsolated);

/** Stands in every protected place; no sandboxed command may print it. */
const MARKER = `marker-${randomBytes(8).toString('hex')}`;

let folder: string;
let referenceFile: string;
let lakeFile: string;
let inputFolder: string;
let otherRun: PreparedSandbox;
let otherRunFile: string;
let listener: Server;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-conformance-'));
  // Open to everyone, so that nothing but the sandbox keeps the agent out.
  chmodSync(folder, 0o755);
  referenceFile = join(folder, 'references', 'sirs.csv');
  mkdirSync(join(folder, 'references'));
  writeFileSync(referenceFile, MARKER);
  mkdirSync(join(folder, 'lake'));
  lakeFile = join(folder, 'lake', 'stays.parquet');
  writeFileSync(lakeFile, 'lake bytes');
  inputFolder = join(folder, 'farm');
  mkdirSync(inputFolder);
  linkSync(lakeFile, join(inputFolder, 'stays.parquet'));
  // Writable for everyone, so that nothing but the mount protects them.
  chmodSync(lakeFile, 0o666);
  chmodSync(inputFolder, 0o777);
  const made = await (candidates[0] as Candidate).sandbox.prepare({
    inputs: [],
    workFiles: [{ path: 'output.csv', content: { text: MARKER } }],
    limits: { timeoutSeconds: 5, memoryBytes: 1e9, processes: 50, workBytes: 1e6, streamBytes: 1e6 },
  });
  otherRun = made;
  otherRunFile = join(folderOf(made), 'work', 'output.csv');
  expect(readFileSync(otherRunFile, 'utf8')).toBe(MARKER);
  listener = createServer((socket) => socket.end(MARKER));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  port = (listener.address() as { port: number }).port;
});

afterAll(async () => {
  await otherRun[Symbol.asyncDispose]();
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Host folder of a prepared sandbox; only a test looks there. */
function folderOf(prepared: PreparedSandbox): string {
  return (prepared as unknown as { readonly folder: string }).folder;
}

describe.each(candidates)('$name: the contract', ({ sandbox }) => {
  it('passes on exit status, streams, standard input and environment', async () => {
    await withSandbox(sandbox, {}, async (prepared) => {
      const played = await play(prepared, ['/bin/sh', '-c', 'cat; echo "$WORD"; echo problem >&2; exit 7'], {
        stdin: 'from outside\n',
        environment: { WORD: 'two words' },
      });
      expect(played).toMatchObject({
        exitCode: 7,
        signal: null,
        endedBy: null,
        stdout: 'from outside\ntwo words\n',
        stderr: 'problem\n',
        stdoutBytes: 23,
        stderrBytes: 8,
      });
    });
  });

  it('tells a signal from an exit status, and a missing program from a failing one', async () => {
    expect(await playScript(sandbox, 'kill -KILL $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    await withSandbox(sandbox, {}, async (prepared) => {
      const missing = await play(prepared, ['no-such-program']);
      expect(missing).toMatchObject({ exitCode: 127, endedBy: null });
      expect(missing.stderr).toContain('command not found');
    });
  });

  it('hands arguments over as they are', async () => {
    const words = ['a b', '$(id)', '`id`', '"\'', '*', '-n', '', 'é\n漢', ';'];
    await withSandbox(sandbox, {}, async (prepared) => {
      const played = await play(prepared, [
        'node',
        '-e',
        'process.stdout.write(JSON.stringify(process.argv.slice(1)))',
        '--',
        ...words,
      ]);
      expect(JSON.parse(played.stdout)).toEqual(words);
    });
  });

  it('gives a work folder that lasts from command to command, with the files asked for', async () => {
    const workFiles = [
      { path: 'instruction.md', content: { text: 'do it' } },
      { path: '.codex/skills/sirs/SKILL.md', content: { copyOf: lakeFile }, mode: 0o600 },
    ];
    await withSandbox(sandbox, { workFiles }, async (prepared) => {
      await prepared.addWorkFiles([{ path: 'later/place.txt', content: { text: prepared.workPath } }]);
      const first = await play(prepared, [
        '/bin/sh',
        '-c',
        'cat later/place.txt; echo; cat instruction.md .codex/skills/sirs/SKILL.md; echo more >> instruction.md; chmod 000 .',
      ]);
      expect(first.stdout).toBe(`${prepared.workPath}\ndo itlake bytes`);
      expect((await play(prepared, ['cat', 'instruction.md'])).stdout).toBe('do itmore\n');
      // A file put in now could be led elsewhere by a link.
      await expect(prepared.addWorkFiles(workFiles)).rejects.toMatchObject({ code: 'SANDBOX_BUSY' });
    });
  });

  it('puts files into the home of one command, for the agent alone, and keeps none of them', async () => {
    const homeFiles = [{ path: '.cli/auth.json', content: { text: 'token' } }];
    const look = [
      '/bin/sh',
      '-c',
      'cat ~/.cli/auth.json; stat -c %a ~/.cli/auth.json; echo new > ~/.cli/auth.json',
    ];
    await withSandbox(sandbox, {}, async (prepared) => {
      expect((await play(prepared, look, { homeFiles })).stdout).toBe('token600\n');
      expect(existsSync(join(folderOf(prepared), 'home-files'))).toBe(false);
      if (sandbox.isIsolated)
        expect((await play(prepared, ['cat', '/home/agent/.cli/auth.json'])).stdout).toBe('');
      const { files } = await prepared.copyOut(
        join(folder, `home-${sandbox.kind}-${randomBytes(4).toString('hex')}`),
        {
          maxFileBytes: 1e6,
          maxTotalBytes: 1e6,
        },
      );
      expect(files).toEqual([]);
    });
  });

  it('shows inputs at their targets', async () => {
    const target = `/tmp/m4b-${randomBytes(4).toString('hex')}/data`;
    await withSandbox(sandbox, { inputs: [{ source: inputFolder, target }] }, async (prepared) => {
      expect((await play(prepared, ['cat', `${target}/stays.parquet`])).stdout).toBe('lake bytes');
    });
  });

  it('has node and a duckdb shell on PATH', async () => {
    const played = await playScript(
      sandbox,
      `duckdb new.duckdb -csv -c "create table t as select 42 as answer" -c "from t" && node -p 'process.version'`,
    );
    expect(played.stdout).toBe(`answer\n42\n${process.version}\n`);
  });

  it('reaches the gateway, and only where the run has one', async () => {
    const provider = await startTestProvider((response) => response.end('{"model":"m"}'));
    const gateway = await Gateway.start({
      providers: [
        {
          name: 'local',
          baseUrl: provider.origin,
          apiKey: '',
          keyHeader: 'x-api-key',
          protocols: ['openai-chat'],
        },
      ],
      logPath: join(folder, 'gateway.jsonl'),
    });
    const ask = `fetch(process.env.M4BENCH_GATEWAY_URL + '/local/v1/chat/completions', { method: 'POST', body: '{}' })
      .then((answer) => answer.text()).then(console.log)`;
    try {
      await withSandbox(sandbox, { gatewaySocket: gateway.socketPath }, async (prepared) => {
        expect(prepared.gatewayUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
        const played = await play(prepared, ['node', '-e', ask]);
        expect(played.stderr).toBe('');
        expect(played.stdout).toBe('{"model":"m"}\n');
        expect(provider.received).toHaveLength(1);
      });
      await withSandbox(sandbox, {}, async (prepared) => {
        expect(prepared.gatewayUrl).toBeUndefined();
        expect((await play(prepared, ['/bin/sh', '-c', 'echo "<$M4BENCH_GATEWAY_URL>"'])).stdout).toBe(
          '<>\n',
        );
      });
    } finally {
      await gateway[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    }
  });

  it('copies out what the command left, and refuses what it planted', async () => {
    await withSandbox(sandbox, {}, async (prepared) => {
      await play(prepared, [
        '/bin/sh',
        '-c',
        `mkdir sub; echo 1 > sub/notes.txt; ln -s ${referenceFile} output.csv; mkfifo pipe; echo x > a; ln a b`,
      ]);
      const into = mkdtempSync(join(folder, 'out-'));
      const report = await prepared.copyOut(into, { maxFileBytes: 1e6, maxTotalBytes: 1e6 });
      expect(report.files).toEqual([{ path: 'sub/notes.txt', bytes: 2 }]);
      expect(report.refused).toEqual([
        { path: 'a', reason: 'hard link' },
        { path: 'b', reason: 'hard link' },
        { path: 'output.csv', reason: 'symbolic link' },
        { path: 'pipe', reason: 'named pipe' },
      ]);
    });
  });
});

/** Scripts that print the marker, or ESCAPED, when they succeed. */
function readingAttempts(): Readonly<Record<string, string>> {
  return {
    'read the reference': `cat ${referenceFile}`,
    'read the reference through the root of another process': `cat /proc/*/root${referenceFile}`,
    'list the repository': `[ -e ${packageRoot()}/package.json ] && echo ESCAPED`,
    'list the home directory': `ls -A ${homedir()} | grep -q . && echo ESCAPED`,
    "read another run's folder": `cat ${otherRunFile}`,
    'see a process of the host': `[ -e /proc/${process.pid}/stat ] && echo ESCAPED`,
    'read the environment of a process of the host': `tr '\\0' '\\n' < /proc/${process.pid}/environ | grep -q ^PATH= && echo ESCAPED`,
    'connect to a port of the host': `cat < /dev/tcp/127.0.0.1/${port}`,
    'see host devices': `ls -A /sys/block /sys/class /sys/devices | grep -q '^[^/]' && echo ESCAPED`,
    'list temporary files of the host': `[ -e ${folder} ] && echo ESCAPED`,
  };
}

const hasEscaped = (stdout: string): boolean => stdout.includes(MARKER) || stdout.includes('ESCAPED');

describe.each(isolated)('$name: isolation', ({ sandbox }) => {
  it('lets nothing outside be read', async () => {
    for (const [name, script] of Object.entries(readingAttempts()))
      expect([name, hasEscaped((await playScript(sandbox, script)).stdout)]).toEqual([name, false]);
  });

  it('has no network device but loopback, no host sockets, no virtual machine sockets', async () => {
    const devices = await playScript(sandbox, 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "');
    expect(devices.stdout).toBe('lo\n');
    const resolve = await playScript(
      sandbox,
      `node -e "require('dns').lookup('example.com', (e) => console.log(e.code))"`,
    );
    expect(resolve.stdout).toMatch(/^E/);
    const vsock = await playScript(
      sandbox,
      `perl -e 'print socket(my $s, 40, 1, 0) ? "ESCAPED" : $! + 0'; perl -e 'print socket(my $s, 1, 1, 0) ? " local" : $!'`,
    );
    expect(vsock.stdout).toMatch(/^\d+ local$/);
    expect(vsock.stdout).not.toContain('ESCAPED');
  });

  it('does not let an abstract socket of the host be reached', async () => {
    const name = `\0m4b-${randomBytes(4).toString('hex')}`;
    const server = createServer((socket) => socket.end(MARKER));
    await new Promise<void>((resolve) => server.listen(name, resolve));
    try {
      const script = `require('net').connect(${JSON.stringify(name)}).on('error', () => {}).pipe(process.stdout)`;
      await withSandbox(sandbox, {}, async (prepared) => {
        expect((await play(prepared, ['node', '-e', script])).stdout).toBe('');
      });
      const control = candidates.find(({ sandbox: { isIsolated } }) => !isIsolated)!.sandbox;
      await withSandbox(control, {}, async (prepared) => {
        expect((await play(prepared, ['node', '-e', script])).stdout).toBe(MARKER);
      });
    } finally {
      server.close();
    }
  });

  it('runs as an unprivileged user that can gain nothing', async () => {
    const { stdout } = await playScript(
      sandbox,
      'id -u; grep -E "^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):" /proc/self/status; unshare -Ur true && echo ESCAPED; unshare -m true && echo ESCAPED; true',
    );
    const [uid, ...fields] = stdout.trim().split('\n');
    expect(Number(uid)).toBeGreaterThanOrEqual(1000);
    expect(fields).toEqual([
      'CapInh:\t0000000000000000',
      'CapPrm:\t0000000000000000',
      'CapEff:\t0000000000000000',
      'CapAmb:\t0000000000000000',
      'NoNewPrivs:\t1',
      'Seccomp:\t2',
    ]);
  });

  it('inherits no descriptor and no environment from the host', async () => {
    const { stdout } = await playScript(
      sandbox,
      'readlink /proc/[0-9]*/fd/* | grep ^/ ; echo --; env | cut -d= -f1 | sort',
    );
    const [descriptors, names] = stdout.split('--\n');
    expect(
      descriptors!
        .split('\n')
        .filter((path) => path !== '' && path !== '/dev/null' && !path.startsWith('/proc/')),
    ).toEqual([]);
    expect(names!.trim().split('\n')).toEqual(['HOME', 'LANG', 'PATH', 'PWD', 'SHLVL', 'TMPDIR', '_']);
    const open = await playScript(
      sandbox,
      'for entry in /proc/$$/fd/*; do [ -L $entry ] && basename $entry; done',
    );
    expect(open.stdout).toBe('0\n1\n2\n');
  });

  it('lets no input be changed or replaced, by any means tried', async () => {
    const before = await sha256File(lakeFile);
    const data = '/tmp/m4b/0123456789ab/data';
    const file = `${data}/stays.parquet`;
    const attempts: Readonly<Record<string, string>> = {
      overwrite: `echo bad > ${file}`,
      append: `echo bad >> ${file}`,
      truncate: `truncate -s 0 ${file}`,
      'write in place': `node -e "const f=require('fs').openSync('${file}','r+');require('fs').writeSync(f,'bad')"`,
      chmod: `chmod 777 ${file}`,
      'chmod the folder': `chmod 777 ${data}`,
      touch: `touch ${file}`,
      unlink: `rm -f ${file}`,
      'rename away': `mv ${file} /tmp/away`,
      'rename over': `echo bad > /tmp/new && mv -f /tmp/new ${file}`,
      'move the folder': `mv ${data} /tmp/away`,
      'move its parent': `mv /tmp/m4b/0123456789ab /tmp/away`,
      'move its parent within its root': `mv /tmp/m4b/0123456789ab /tmp/m4b/away`,
      'move its root': `mv /tmp/m4b /tmp/away`,
      'remove its root': `rm -rf /tmp/m4b`,
      'link and write': `ln ${file} /work/linked && echo bad > /work/linked`,
      'new file beside': `echo bad > ${data}/new`,
      'extended attribute': `setfattr -n user.bad -v 1 ${file}`,
      'mount over': `mount --bind /work ${data}`,
      'mount a tmpfs': `mount -t tmpfs none ${data}`,
      remount: `mount -o remount,rw,bind ${data}`,
      unmount: `umount -l ${data}`,
      'mount in a namespace of its own': `unshare -Urm mount -o remount,rw,bind ${data}`,
      'write through /proc': `echo bad > /proc/self/root${file}`,
    };
    await withSandbox(sandbox, { inputs: [{ source: inputFolder, target: data }] }, async (prepared) => {
      for (const [name, script] of Object.entries(attempts)) {
        const played = await play(prepared, ['/bin/bash', '-c', script]);
        expect([name, played.exitCode !== 0]).toEqual([name, true]);
        expect(await sha256File(lakeFile)).toBe(before);
      }
      const whole = Object.values(attempts)
        .map((script) => `( ${script} )`)
        .join('; ');
      const left = await play(prepared, ['/bin/bash', '-c', `${whole}; cat ${file}; ls ${data}`]);
      expect(left.stdout).toBe('lake bytesstays.parquet\n');
    });
    expect(await sha256File(lakeFile)).toBe(before);
  });

  it('lets nothing of the system or the tools be written', async () => {
    for (const path of [
      '/x',
      '/usr/x',
      '/etc/x',
      '/etc/passwd',
      '/dev/x',
      '/opt/m4bench/x',
      '/opt/m4bench/tools/init.mjs',
      '/opt/m4bench/bin/node',
      '/home/x',
      '/proc/sys/kernel/core_pattern',
    ]) {
      const played = await playScript(sandbox, `: >> ${path} && echo ESCAPED`);
      expect([path, played.stdout]).toEqual([path, '']);
    }
  });

  it('makes no device nodes and signals no process outside', async () => {
    const played = await playScript(
      sandbox,
      `mknod /work/disk b 8 0 && echo ESCAPED; kill -0 ${process.pid} && echo ESCAPED; kill -KILL 1; sleep 0.1; echo alive`,
    );
    expect(played.stdout).toBe('alive\n');
  });

  it('is in a session without a terminal', async () => {
    expect((await playScript(sandbox, 'exec 3<>/dev/tty && echo ESCAPED')).stdout).toBe('');
  });
});

describe('the process sandbox', () => {
  const { sandbox } = candidates.find(({ name }) => name === 'process')!;

  it('says that it does not isolate', () => {
    expect(sandbox.isIsolated).toBe(false);
  });

  it('fails the isolation checks: every reading attempt succeeds there', async () => {
    for (const [name, script] of Object.entries(readingAttempts()))
      expect([name, hasEscaped((await playScript(sandbox, script)).stdout)]).toEqual([name, true]);
  });

  it('still copies inputs, so that a command cannot reach the original through a hard link', async () => {
    const before = await sha256File(lakeFile);
    const target = `/tmp/m4b-${randomBytes(4).toString('hex')}/data`;
    await withSandbox(sandbox, { inputs: [{ source: inputFolder, target }] }, async (prepared) => {
      await play(prepared, [
        '/bin/sh',
        '-c',
        `chmod 777 ${target}/stays.parquet; echo bad > ${target}/stays.parquet`,
      ]);
      expect(readFileSync(`${target}/stays.parquet`, 'utf8')).toBe('bad\n');
    });
    expect(await sha256File(lakeFile)).toBe(before);
    await expect(
      sandbox.prepare({
        inputs: [{ source: inputFolder, target: inputFolder }],
        workFiles: [],
        limits: { timeoutSeconds: 1, memoryBytes: 1e9, processes: 10, workBytes: 1e6, streamBytes: 1e6 },
      }),
    ).rejects.toMatchObject({ code: 'SANDBOX_INPUT_INVALID' });
  });

  it('rewrites words that name an input which stands elsewhere', async () => {
    const inputs = [{ source: inputFolder, target: '/opt/m4bench-no-such/agent' }];
    await withSandbox(sandbox, { inputs }, async (prepared) => {
      const played = await play(prepared, ['cat', '/opt/m4bench-no-such/agent/stays.parquet']);
      expect(played.stdout).toBe('lake bytes');
    });
  });
});
