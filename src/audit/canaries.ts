import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { ArmedCanaries, CanaryReport, CanaryRequest } from '../runs/gates.js';
import type { PreparedSandbox } from '../sandboxes/sandbox.js';
import { messageOf, systemCodeOf } from '../support/errors.js';

import { sha256 } from '../support/hashing.js';
import { type Home, packageRoot } from '../support/home.js';
import { startTimeOf } from '../support/process-tree.js';
import { createScratchFolder, runtimeBase } from '../support/runtime-folders.js';
import {
  checksOf,
  controlsOf,
  type ProbeExpectation,
  type ProtectedFile,
  probeReportSchema,
} from './canary-probe.js';

const MARKER_PREFIX = '.m4bench-canary-';
const CONTROL_PREFIX = '.m4bench-control-';
const CONTROL_VARIABLE = 'M4BENCH_CANARY_CONTROL';
const PROBE_SECONDS = 60;

const secretText = (): string => `m4bench-canary-${randomBytes(20).toString('hex')}`;

/** Plants a marker in a folder; undefined where there is no such folder or it is not ours to write. */
async function plant(name: string, folder: string): Promise<(ProtectedFile & { text: string }) | undefined> {
  const path = join(folder, `${MARKER_PREFIX}${randomBytes(6).toString('hex')}`);
  const text = secretText();
  try {
    // Open to everyone: nothing but the sandbox keeps the agent out.
    await writeFile(path, text, { mode: 0o644, flag: 'wx' });
  } catch (thrown) {
    if (['ENOENT', 'EACCES', 'EPERM', 'EROFS'].includes(systemCodeOf(thrown) ?? '')) return undefined;
    throw thrown;
  }
  return { name, path, sha256: sha256(text), text };
}

function listenTo(server: Server, target: { port: number; host: string } | string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(target as never, () => resolve());
  });
}

/** Listeners on the host that say the marker to whoever reaches them. */
async function hostListeners(
  marker: string,
): Promise<{ readonly port: number; readonly abstractSocket: string | null; close(): void }> {
  const open = (): Server => createServer((socket) => socket.on('error', () => {}).end(marker));
  const loopback = open();
  await listenTo(loopback, { port: 0, host: '127.0.0.1' });
  const port = (loopback.address() as { port: number }).port;
  // Abstract sockets, which belong to the network namespace and no folder, exist on Linux only.
  const abstractSocket =
    process.platform === 'linux' ? `\0m4bench-canary-${randomBytes(8).toString('hex')}` : null;
  const abstract = open();
  if (abstractSocket !== null) await listenTo(abstract, abstractSocket);
  return {
    port,
    abstractSocket,
    close() {
      loopback.close();
      abstract.close();
    },
  };
}

/**
 * Plants markers beside everything an agent must not see (the home folder with lakes and references, this very run,
 * the repository, the folder of other sandboxes), from the actual paths of this machine, and returns the probe that
 * looks for them from inside.
 */
export async function armCanaries(home: Home, request: CanaryRequest): Promise<ArmedCanaries> {
  const places: readonly (readonly [string, string])[] = [
    ['the home folder', home.root],
    ['the folder of references', home.references],
    ['the folder of datasets', home.datasets],
    ["the run's own record", request.attemptFolder],
    ['the repository', packageRoot()],
    ['the folder of other sandboxes', runtimeBase()],
  ];
  const planted: (ProtectedFile & { text: string })[] = [];
  const removeAll = async (): Promise<void> => {
    for (const { path } of planted) await rm(path, { force: true });
  };
  const socketMarker = secretText();
  let listeners: Awaited<ReturnType<typeof hostListeners>>;
  try {
    for (const [name, folder] of places) {
      const marker = await plant(name, folder);
      if (marker !== undefined) planted.push(marker);
    }
    listeners = await hostListeners(socketMarker);
  } catch (thrown) {
    await removeAll();
    throw thrown;
  }
  const manifest = join(packageRoot(), 'package.json');
  const controlName = `${CONTROL_PREFIX}${randomBytes(6).toString('hex')}`;
  const controlText = secretText();
  const expected: ProbeExpectation = {
    files: [
      ...planted,
      { name: "the repository's manifest", path: manifest, sha256: sha256(await readFile(manifest, 'utf8')) },
    ],
    controlText,
    controlVariable: { name: CONTROL_VARIABLE, value: secretText() },
    secrets: request.secrets,
    hostStartTime: startTimeOf(process.pid),
  };
  return {
    workFiles: [{ path: controlName, content: { text: controlText } }],
    markers: [...planted.map(({ text }) => text), socketMarker],
    probe: (prepared) =>
      probeFrom(prepared, expected, {
        prefix: MARKER_PREFIX,
        control: { path: join(prepared.workPath, controlName), prefix: CONTROL_PREFIX },
        workPath: prepared.workPath,
        files: expected.files.map(({ name, path }) => ({ name, path })),
        port: listeners.port,
        abstractSocket: listeners.abstractSocket,
        inputs: request.inputs.map(({ target }) => target),
        process: { pid: process.pid },
      }),
    async [Symbol.asyncDispose]() {
      listeners.close();
      await removeAll();
    },
  };
}

async function probeFrom(
  prepared: PreparedSandbox,
  expected: ProbeExpectation,
  spec: Readonly<Record<string, unknown>>,
): Promise<CanaryReport> {
  const startedAt = new Date().toISOString();
  const began = performance.now();
  const finish = (part: Pick<CanaryReport, 'checks' | 'controls'>): CanaryReport => ({
    schemaVersion: 1,
    startedAt,
    seconds: Math.round((performance.now() - began) / 10) / 100,
    passed: [...part.checks, ...part.controls].every(({ held }) => held),
    ...part,
  });
  const scratch = await createScratchFolder('canary');
  try {
    const nonce = randomBytes(16).toString('hex');
    const script = await readFile(join(packageRoot(), 'sandbox-tools', 'canary-probe.mjs'), 'utf8');
    const stdoutPath = join(scratch, 'out');
    const outcome = await prepared.execute({
      command: ['node', '--input-type=module', '-'],
      environment: { [expected.controlVariable.name]: expected.controlVariable.value },
      stdin: `globalThis.CANARY = ${JSON.stringify({ ...spec, nonce })};\n${script}`,
      stdoutPath,
      stderrPath: join(scratch, 'err'),
      signal: AbortSignal.timeout(PROBE_SECONDS * 1000),
    });
    const report = probeReportSchema.safeParse(parsed(await readFile(stdoutPath, 'utf8')));
    if (!report.success || report.data.nonce !== nonce) {
      const error = (await readFile(join(scratch, 'err'), 'utf8')).trim().split('\n').at(-1) ?? '';
      const how = outcome.endedBy ?? `exit status ${outcome.exitCode}`;
      return finish({
        checks: [failed(`${how}${error === '' ? '' : `: ${error.slice(0, 300)}`}`)],
        controls: [],
      });
    }
    return finish({
      checks: [...checksOf(report.data, expected)],
      controls: [...controlsOf(report.data, expected)],
    });
  } catch (thrown) {
    return finish({ checks: [failed(messageOf(thrown).slice(0, 300))], controls: [] });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const failed = (detail: string) => ({ name: 'the probe came to its end', held: false, detail });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
