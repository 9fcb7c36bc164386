// Tries to get out of the sandbox it runs in and prints what it could do as one JSON line. Read from standard input
// behind an assignment to `globalThis.CANARY`; needs nothing but Node.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

const SKIPPED = new Set([
  '/proc',
  '/sys',
  '/dev',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
]);
const MAX_ENTRIES = 20_000;
const MAX_SEARCH_MILLISECONDS = 2_000;
const CONNECT_MILLISECONDS = 1_000;
/** Kernel file systems, and scratch space in memory that no other run sees. */
const SCRATCH_TYPES = new Set(['tmpfs', 'proc', 'devpts', 'mqueue', 'devtmpfs']);

const sha256 = (text) => createHash('sha256').update(text).digest('hex');

function text(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Reads a path as it is, and through the roots of other processes. */
function readAnyhow(path) {
  for (const root of ['', '/proc/1/root', `/proc/${process.ppid}/root`, '/proc/self/root', '/host', '/mnt']) {
    const found = text(root + path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Files whose name begins as planted files' names do, wherever something is mounted. */
function search(prefix, from) {
  const pending = [from];
  const until = Date.now() + MAX_SEARCH_MILLISECONDS;
  const found = [];
  for (let seen = 0; pending.length > 0 && seen < MAX_ENTRIES && Date.now() < until; ) {
    const folder = pending.shift();
    let entries;
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      continue;
    }
    seen += entries.length;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith(prefix)) found.push(path);
      else if (entry.isDirectory() && entry.name !== 'node_modules' && !SKIPPED.has(path)) pending.push(path);
    }
  }
  return found;
}

/** What a listener says, or undefined when it cannot be reached. */
function hear(target) {
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect(target);
    const end = () => {
      socket.destroy();
      resolve(heard === '' ? undefined : heard);
    };
    socket.setTimeout(CONNECT_MILLISECONDS, end);
    socket.on('data', (chunk) => {
      heard += String(chunk);
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}

/** Some files and folders at and below a path. */
function sample(path, files, folders, depth = 0) {
  let found;
  try {
    found = lstatSync(path);
    if (found.isFile() && files.length < 5) files.push(path);
    if (!found.isDirectory()) return;
    if (folders.length < 5) folders.push(path);
    if (depth < 4)
      for (const name of readdirSync(path).slice(0, 20)) sample(join(path, name), files, folders, depth + 1);
  } catch {
    // Cannot even be seen.
  }
}

function canChange(path) {
  try {
    chmodSync(path, lstatSync(path).mode & 0o7777);
    return 'chmod';
  } catch {
    return undefined;
  }
}

function canWriteFile(path) {
  try {
    closeSync(openSync(path, 'r+'));
    return 'write';
  } catch {
    return canChange(path);
  }
}

function canWriteFolder(path) {
  const inner = join(path, '.m4bench-write');
  try {
    mkdirSync(inner);
    rmdirSync(inner);
    return 'create';
  } catch {
    return canChange(path);
  }
}

/** What can be written at and below a path, as `how path`. */
function writable(path) {
  const files = [];
  const folders = [];
  sample(path, files, folders);
  return [
    ...files.map((file) => [canWriteFile(file), file]),
    ...folders.map((folder) => [canWriteFolder(folder), folder]),
  ]
    .filter(([how]) => how !== undefined)
    .map(([how, one]) => `${how} ${one}`);
}

function writableMounts(workPath) {
  const found = [];
  for (const line of (text('/proc/self/mountinfo') ?? '').split('\n')) {
    const [before, after] = line.split(' - ');
    if (after === undefined) continue;
    const fields = before.split(' ');
    const point = fields[4];
    const type = after.split(' ')[0];
    const isScratch = SCRATCH_TYPES.has(type) || point === workPath || point.startsWith('/dev/');
    if (fields[5].split(',').includes('rw') && !isScratch) found.push(`${type} ${point}`);
  }
  return found;
}

function statusField(name) {
  return new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(text('/proc/self/status') ?? '')?.[1] ?? 'unknown';
}

async function ownListener() {
  const server = createServer((socket) => socket.end('control'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const heard = await hear({ host: '127.0.0.1', port: server.address().port });
  server.close();
  return heard === 'control';
}

function controls(spec) {
  const read = readAnyhow(spec.control.path);
  const found = search(spec.control.prefix, spec.workPath);
  const wrote = writable(spec.control.path);
  rmSync(spec.control.path, { force: true });
  return { read: read === undefined ? null : sha256(read), found: found.length, wrote: wrote.length };
}

async function main(spec) {
  const control = { ...controls(spec), heard: await ownListener() };
  const files = spec.files.map(({ name, path }) => {
    const content = readAnyhow(path);
    return { name, read: content === undefined ? null : sha256(content) };
  });
  const sockets = ['/var/run/docker.sock', '/run/podman/podman.sock', '/run/containerd/containerd.sock'];
  const heardSockets = [];
  for (const path of sockets) if (existsSync(path)) heardSockets.push(path);
  const report = {
    nonce: spec.nonce,
    control,
    files,
    found: search(spec.prefix, '/').slice(0, 20),
    hostPort: (await hear({ host: '127.0.0.1', port: spec.port })) ?? null,
    abstractSocket: spec.abstractSocket === null ? null : ((await hear(spec.abstractSocket)) ?? null),
    containerSockets: heardSockets,
    devices: readDevices(),
    routes: (text('/proc/net/route') ?? '').trim().split('\n').slice(1).length,
    inputs: spec.inputs.flatMap((path) => writable(path)).slice(0, 20),
    mounts: writableMounts(spec.workPath).slice(0, 20),
    capabilities: ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map(statusField),
    noNewPrivileges: statusField('NoNewPrivs'),
    seccomp: statusField('Seccomp'),
    uid: process.getuid(),
    environment: Object.entries(process.env).map(([name, value]) => ({ name, sha256: sha256(value ?? '') })),
    hostProcess: text(`/proc/${spec.process.pid}/stat`)?.split(' ').at(21) ?? null,
    pidNamespace: linkOf('/proc/self/ns/pid'),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

function readDevices() {
  const lines = (text('/proc/net/dev') ?? '').split('\n').slice(2);
  return lines.map((line) => line.split(':')[0].trim()).filter((name) => name !== '');
}

function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

await main(globalThis.CANARY);
