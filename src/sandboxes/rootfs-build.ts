import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { M4BenchError, messageOf } from '../support/errors.js';
import { writeFileAtomic, writeJsonAtomic } from '../support/files.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { digestTree, type Rootfs, type RootfsManifest, rootfsFolders, shortDigest } from './rootfs.js';
import { installAgents, lockedAgents } from './rootfs-agents.js';

const run = promisify(execFile);

/** What agents need to work on a database and nothing that only reaches out: no curl, no git, no package manager. */
const PACKAGES = [
  'python3',
  'python3-pandas',
  'ca-certificates',
  'libstdc++6',
  'ripgrep',
  'jq',
  'file',
  'less',
  'procps',
];
/** Python packages from wheels; what cannot be had is left out, and the manifest says so. */
const WHEELS = ['duckdb'];
/** Where Debian's python looks first for what was installed by hand. */
const WHEEL_FOLDER = 'usr/local/lib/python3/dist-packages';

/** Nothing in these is needed by an agent, and some of it differs from build to build. */
const REMOVED = [
  'var/cache',
  'var/log',
  'var/lib/apt',
  'var/lib/dpkg/info',
  'var/backups',
  'tmp',
  'run',
  'root',
  'home',
  'dev',
  'proc',
  'sys',
  'boot',
  'media',
  'mnt',
  'opt',
  'srv',
  'usr/share/doc',
  'usr/share/man',
  'usr/share/locale',
  'usr/share/info',
  'usr/share/lintian',
  'usr/share/bug',
  'usr/bin/apt',
  'usr/bin/apt-get',
  'usr/bin/apt-cache',
  'usr/bin/apt-key',
  'usr/lib/apt',
  'usr/bin/dpkg',
  'usr/bin/dpkg-deb',
  'usr/bin/dpkg-split',
  'usr/bin/mount',
  'usr/bin/umount',
  'usr/bin/su',
  'etc/shadow',
  'etc/shadow-',
  'etc/gshadow',
  'etc/gshadow-',
  'etc/apt',
  'etc/machine-id',
  'etc/hostname',
  'etc/resolv.conf',
  'debootstrap',
];
const MADE = [
  'tmp',
  'run',
  'dev',
  'proc',
  'sys',
  'work',
  'home/agent',
  'opt/m4bench',
  'var/log',
  'var/cache',
];

export interface RootfsBuildOptions {
  readonly suite?: string;
  readonly mirror?: string;
  /** A prepared tree (a container image unpacked, an earlier debootstrap) instead of debootstrap. */
  readonly from?: string;
  /** Agents whose CLI goes in, default every one that has a lock. */
  readonly agents?: readonly string[];
  readonly progress?: Progress;
}

/**
 * Builds the root file system that docker, podman and bubblewrap share: Debian from debootstrap, Python with pandas,
 * the Python package of the engine where a wheel can be had, the running Node binary, and agent CLIs as they are
 * locked. Needs root.
 */
export async function buildRootfs(home: Home, options: RootfsBuildOptions = {}): Promise<Rootfs> {
  const progress = options.progress ?? silentProgress;
  const suite = options.suite ?? 'bookworm';
  const mirror = options.mirror ?? 'http://deb.debian.org/debian';
  checkMeans(options.from);
  const { all, current } = rootfsFolders(home);
  await mkdir(all, { recursive: true });
  const scratch = await mkdtemp(join(all, 'building-'));
  await chmod(scratch, 0o755);
  const root = join(scratch, 'root');
  try {
    if (options.from === undefined) await bootstrap(root, suite, mirror, progress);
    else {
      progress.update(`copying ${options.from}`);
      await run('cp', ['-a', '--reflink=auto', options.from, root]);
    }
    const wheels = await addWheels(root, progress);
    await addNode(root);
    const agents = await installAgents(root, options.agents ?? (await lockedAgents()), progress);
    await cleanTree(root);
    progress.update('hashing');
    const digest = await digestTree(root);
    const manifest: RootfsManifest = {
      schemaVersion: 1,
      builtAt: new Date().toISOString(),
      base: options.from === undefined ? `debian ${suite}, from ${mirror}` : 'a prepared tree',
      architecture: process.arch,
      ...digest,
      tools: [
        { name: 'node', version: process.version },
        ...agents,
        ...wheels,
        ...(await debianPackages(root)),
      ],
    };
    await writeJsonAtomic(join(scratch, 'rootfs.json'), manifest);
    const name = shortDigest(digest.digest);
    await rm(join(all, name), { recursive: true, force: true });
    await rename(scratch, join(all, name));
    await writeFileAtomic(current, `${name}\n`);
    progress.done(
      `root file system ${digest.digest}: ${digest.entries} entries, ${Math.round(digest.bytes / 1e6)} MB`,
    );
    return { root: join(all, name, 'root'), manifest };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function checkMeans(from: string | undefined): void {
  const missing = (what: string, remedy: string): M4BenchError =>
    new M4BenchError('ROOTFS_BUILD_IMPOSSIBLE', what, remedy, { party: 'environment' });
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw missing(
      'A root file system is built by root on Linux.',
      'Run the command as root, or in a virtual machine.',
    );
  if (from === undefined && !existsSync('/usr/sbin/debootstrap'))
    throw missing(
      'debootstrap is not installed.',
      'Install it with: apt-get install debootstrap, or give a prepared tree with --from.',
    );
  if (from !== undefined && !existsSync(join(from, 'usr/bin/python3')))
    throw missing(
      `${from} holds no root file system with Python.`,
      'Give a folder with usr/bin/python3 in it.',
    );
}

async function bootstrap(root: string, suite: string, mirror: string, progress: Progress): Promise<void> {
  progress.update(`debootstrap ${suite}`);
  try {
    await run(
      '/usr/sbin/debootstrap',
      ['--variant=minbase', `--include=${PACKAGES.join(',')}`, suite, root, mirror],
      {
        maxBuffer: 64 * 1024 * 1024,
      },
    );
  } catch (thrown) {
    const said =
      (thrown as { stdout?: string }).stdout?.trim().split('\n').slice(-3).join('; ') ?? messageOf(thrown);
    throw new M4BenchError(
      'ROOTFS_BUILD_FAILED',
      `debootstrap failed: ${said.slice(0, 400)}.`,
      'Check that the mirror can be reached, or give another with --mirror.',
      { party: 'environment', cause: thrown },
    );
  }
}

/** Unpacks wheels for the Python inside with the pip outside. */
async function addWheels(root: string, progress: Progress): Promise<RootfsManifest['tools']> {
  const added: { name: string; version: string }[] = [];
  const python = (await readdir(join(root, 'usr/lib'))).find((name) => /^python3\.\d+$/.test(name));
  if (python === undefined) return added;
  const target = join(root, WHEEL_FOLDER.replace('python3', python));
  for (const name of WHEELS) {
    progress.update(`wheel ${name}`);
    const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
    const platforms = ['manylinux_2_28', 'manylinux_2_26', 'manylinux2014'].flatMap((one) => [
      '--platform',
      `${one}_${machine}`,
    ]);
    const words = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-deps',
      '--no-compile',
      '--only-binary=:all:',
      ...platforms,
      '--python-version',
      python.slice('python'.length),
      '--target',
      target,
      name,
    ];
    try {
      await run('python3', words, { maxBuffer: 16 * 1024 * 1024 });
      const info = (await readdir(target)).find(
        (entry) => entry.startsWith(`${name}-`) && entry.endsWith('.dist-info'),
      );
      added.push({
        name: `python-${name}`,
        version: info?.slice(name.length + 1, -'.dist-info'.length) ?? 'unknown',
      });
    } catch (thrown) {
      progress.warn(
        `no wheel of ${name} for ${python} can be had (${messageOf(thrown).slice(0, 160)}); the duckdb shell does without`,
      );
    }
  }
  return added;
}

async function addNode(root: string): Promise<void> {
  await mkdir(join(root, 'usr/local/bin'), { recursive: true });
  await copyFile(process.execPath, join(root, 'usr/local/bin/node'));
  await chmod(join(root, 'usr/local/bin/node'), 0o755);
}

/** Takes out what nobody needs inside, every set-user-id bit and every compiled Python file, and fills `/etc`. */
async function cleanTree(root: string): Promise<void> {
  for (const path of REMOVED) await rm(join(root, path), { recursive: true, force: true });
  for (const path of MADE) await mkdir(join(root, path), { recursive: true, mode: 0o755 });
  // Container engines give a tmpfs the mode of the folder that it covers, whatever mode is asked for.
  for (const path of ['tmp', 'home/agent']) await chmod(join(root, path), 0o1777);
  const etc: Readonly<Record<string, string>> = {
    passwd: 'root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/bash\n',
    group: 'root:x:0:\nagent:x:1000:\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    hostname: 'sandbox\n',
    'resolv.conf': '',
  };
  for (const [name, text] of Object.entries(etc))
    await writeFile(join(root, 'etc', name), text, { mode: 0o644 });
  await rm(join(root, 'usr/local/bin/duckdb'), { force: true });
  await symlink('/opt/m4bench/tools/bin/duckdb', join(root, 'usr/local/bin/duckdb'));
  await visitTree(root);
}

async function visitTree(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const status = await lstat(path);
    if (status.isSymbolicLink()) continue;
    if (
      (status.isDirectory() && name === '__pycache__') ||
      status.isCharacterDevice() ||
      status.isBlockDevice()
    ) {
      await rm(path, { recursive: true, force: true });
      continue;
    }
    if ((status.mode & 0o6000) !== 0) await chmod(path, status.mode & 0o1777);
    if (status.isDirectory()) await visitTree(path);
  }
}

async function debianPackages(root: string): Promise<RootfsManifest['tools']> {
  const text = await readFile(join(root, 'var/lib/dpkg/status'), 'utf8').catch(() => '');
  const tools: { name: string; version: string }[] = [];
  for (const paragraph of text.split('\n\n')) {
    const name = /^Package: (.+)$/m.exec(paragraph)?.[1];
    const version = /^Version: (.+)$/m.exec(paragraph)?.[1];
    if (name !== undefined && version !== undefined) tools.push({ name, version });
  }
  return tools.sort((a, b) => (a.name < b.name ? -1 : 1));
}
