import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { join, posix } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { packageRoot } from '../support/home.js';
import type { CommandSpec, InputMount, SandboxLimits } from './sandbox.js';
import {
  INSIDE_HOME_FILES,
  INSIDE_INIT,
  INSIDE_LIMITS,
  INSIDE_NODE,
  INSIDE_SOCKET,
  TOOLS_BIN,
} from './tools.js';

export const INSIDE_WORK = '/work';
export const INSIDE_HOME = '/home/agent';
export const INSIDE_PORT = 8300;
export const INSIDE_GATEWAY_URL = `http://127.0.0.1:${INSIDE_PORT}`;

/** Descriptors handed to bubblewrap, beyond the three standard streams. */
export const DESCRIPTORS = { bubblewrapStatus: 3, arguments: 4, initStatus: 5, seccomp: 6 } as const;

/**
 * How bubblewrap separates the agent's user from ours.
 * - `dropped-user`: started by root, which builds the mounts and then becomes an unprivileged user id;
 * - `user-namespace`: started by an ordinary user, in a user namespace where no further one can be made.
 */
export type Separation = 'dropped-user' | 'user-namespace';

/** What the installed bubblewrap can do, read from its `--help`. */
export interface BubblewrapFeatures {
  readonly disablesUserNamespaces: boolean;
  readonly limitsTmpfs: boolean;
}

export interface BubblewrapLayout {
  readonly separation: Separation;
  readonly features: BubblewrapFeatures;
  /** Agent's user and group id inside. */
  readonly uid: number;
  readonly hasSeccomp: boolean;
  /** Host work folder, shown as `/work`. */
  readonly workFolder: string;
  /** Host folder with the generated files of `/etc`. */
  readonly etcFolder: string;
  /** Host file with the limits, for programs inside. */
  readonly limitsFile: string;
  /** Host folder with the files of the home, where a command has some. */
  readonly homeFilesFolder?: string;
  readonly inputs: readonly InputMount[];
  readonly tools: readonly InputMount[];
  readonly gatewaySocket: string | undefined;
  readonly limits: SandboxLimits;
  /** Root file system whose `/usr` and `/etc` are shown; undefined for the host's own. */
  readonly rootfs: string | undefined;
}

/** Host files of `/etc` that programs need and that say nothing about the host's users. */
const ETC_FROM_HOST = ['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'ssl/certs'];
const SYSTEM_FOLDERS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
/** No input may stand on, in or above these. */
const RESERVED = ['/work', '/proc', '/dev', '/sys', '/usr', '/etc', INSIDE_HOME, TOOLS_BIN];
const WRITABLE_ROOT = '/tmp';
const SCRATCH_BYTES = 512 * 1024 * 1024;

/** Generated files of `/etc`: one user, one host, no name service. */
export function etcFiles(uid: number): Readonly<Record<string, string>> {
  return {
    passwd: `root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:${uid}:${uid}:agent:${INSIDE_HOME}:/bin/bash\n`,
    group: `root:x:0:\nagent:x:${uid}:\n`,
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    hostname: 'sandbox\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
    'resolv.conf': '',
  };
}

function invalidInput(input: InputMount, reason: string): M4BenchError {
  return new M4BenchError(
    'SANDBOX_INPUT_INVALID',
    `The input ${input.source} cannot be shown at ${input.target}: ${reason}.`,
    'Choose an absolute path that no other part of the sandbox uses, for example below /opt or /tmp.',
    { party: 'internal' },
  );
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Checks sources and targets of inputs before anything is started. */
export function checkInputs(inputs: readonly InputMount[], separation: Separation): void {
  const sources = new Map<string, string>();
  for (const input of inputs) {
    const { source, target } = input;
    if (!posix.isAbsolute(target) || posix.normalize(target) !== target || target.endsWith('/'))
      throw invalidInput(input, 'the target is not a plain absolute path');
    if (target === WRITABLE_ROOT) throw invalidInput(input, 'the target is the temporary folder itself');
    const clash = RESERVED.find((reserved) => isWithin(target, reserved) || isWithin(reserved, target));
    if (clash !== undefined) throw invalidInput(input, `it would cover ${clash}`);
    const other = sources.get(target);
    if (other !== undefined && other !== source) throw invalidInput(input, `so is ${other}`);
    sources.set(target, source);
    if (!existsSync(source)) throw invalidInput(input, 'the source does not exist');
    if (separation === 'dropped-user') checkReadable(input);
  }
}

/** Entries of an input that are looked at; data folders hold a few dozen, packages of CLIs many thousands. */
const MAX_CHECKED_ENTRIES = 500;

/** As another user the agent sees only what everybody may read; better told now than found by the agent. */
export function checkReadable({ source }: InputMount): void {
  const pending = [realpathSync(source)];
  for (let checked = 0; pending.length > 0 && checked < MAX_CHECKED_ENTRIES; checked += 1) {
    const path = pending.pop()!;
    const found = lstatSync(path);
    if (found.isSymbolicLink()) continue;
    const needed = found.isDirectory() ? 0o005 : 0o004;
    if ((found.mode & needed) !== needed) {
      throw new M4BenchError(
        'SANDBOX_INPUT_UNREADABLE',
        `${path} is readable by its owner only, and the agent runs as another user.`,
        `Run: chmod -R go+rX ${source}`,
        { party: 'environment' },
      );
    }
    if (found.isDirectory()) pending.push(...readdirSync(path).map((name) => join(path, name)));
  }
}

function systemMounts(rootfs: string | undefined): string[] {
  const from = (path: string): string => (rootfs === undefined ? path : join(rootfs, path));
  const words = ['--ro-bind', from('/usr'), '/usr'];
  for (const name of SYSTEM_FOLDERS) {
    const path = from(`/${name}`);
    if (!existsSync(path)) continue;
    if (lstatSync(path).isSymbolicLink()) words.push('--symlink', readlinkSync(path), `/${name}`);
    else words.push('--ro-bind', path, `/${name}`);
  }
  for (const name of ETC_FROM_HOST) words.push('--ro-bind-try', from(`/etc/${name}`), `/etc/${name}`);
  // An installation below /usr must not show the benchmark's own files.
  if (rootfs === undefined && isWithin(packageRoot(), '/usr'))
    words.push('--tmpfs', packageRoot(), '--remount-ro', packageRoot());
  return words;
}

/** Folders above mount points, made readable for everyone: bubblewrap itself makes some of them private. */
function parentFolders(targets: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const target of targets) {
    const parts = target.split('/');
    for (let depth = 2; depth < parts.length; depth += 1) folders.add(parts.slice(0, depth).join('/'));
  }
  return [...folders].sort().flatMap((folder) => ['--perms', '0755', '--dir', folder]);
}

/** Inputs read-only; below /tmp their parents are read-only too, so that nothing can be moved into their place. */
function inputMounts(
  inputs: readonly InputMount[],
  tmpfs: (path: string, bytes: number) => string[],
): string[] {
  const guards = new Set<string>();
  for (const { target } of inputs) {
    const parts = target.split('/');
    if (isWithin(target, WRITABLE_ROOT) && parts.length > 3) guards.add(parts.slice(0, 3).join('/'));
  }
  const byDepth = [...new Map(inputs.map((input) => [input.target, input])).values()].sort((a, b) =>
    a.target < b.target ? -1 : 1,
  );
  return [
    ...[...guards].flatMap((path) => tmpfs(path, 1024 * 1024)),
    ...parentFolders(byDepth.map(({ target }) => target)),
    ...byDepth.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    ...[...guards].flatMap((path) => ['--remount-ro', path]),
  ];
}

/** The options of bubblewrap for one layout and one command's environment, without the command. */
export function bubblewrapOptions(layout: BubblewrapLayout, command: CommandSpec): string[] {
  const { separation, features } = layout;
  const tmpfs = (path: string, bytes: number, mode = '0755'): string[] => [
    '--perms',
    mode,
    ...(features.limitsTmpfs ? ['--size', String(bytes)] : []),
    '--tmpfs',
    path,
  ];
  const scratch = Math.min(SCRATCH_BYTES, layout.limits.workBytes);
  const environment: Record<string, string> = {
    PATH: `${TOOLS_BIN}:/usr/local/bin:/usr/bin:/bin`,
    HOME: INSIDE_HOME,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    ...command.environment,
  };
  delete environment.M4BENCH_GATEWAY_URL;
  if (layout.gatewaySocket !== undefined) environment.M4BENCH_GATEWAY_URL = INSIDE_GATEWAY_URL;
  return [
    ...separationOptions(separation, features, layout.uid),
    '--die-with-parent',
    '--new-session',
    '--hostname',
    'sandbox',
    '--clearenv',
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    '--json-status-fd',
    String(DESCRIPTORS.bubblewrapStatus),
    ...(layout.hasSeccomp ? ['--seccomp', String(DESCRIPTORS.seccomp)] : []),
    ...tmpfs(WRITABLE_ROOT, scratch, '1777'),
    ...parentFolders([INSIDE_HOME]),
    ...tmpfs(INSIDE_HOME, scratch, separation === 'dropped-user' ? '1777' : '0700'),
    ...parentFolders(['/etc/ssl/certs', ...layout.tools.map(({ target }) => target)]),
    ...systemMounts(layout.rootfs),
    ...Object.keys(etcFiles(0)).flatMap((name) => [
      '--ro-bind',
      join(layout.etcFolder, name),
      `/etc/${name}`,
    ]),
    ...layout.tools.flatMap(({ source, target }) => ['--ro-bind', source, target]),
    '--ro-bind',
    layout.limitsFile,
    INSIDE_LIMITS,
    '--symlink',
    '../tools/bin/duckdb',
    `${TOOLS_BIN}/duckdb`,
    ...(layout.homeFilesFolder === undefined ? [] : ['--ro-bind', layout.homeFilesFolder, INSIDE_HOME_FILES]),
    ...(layout.gatewaySocket === undefined ? [] : ['--ro-bind', layout.gatewaySocket, INSIDE_SOCKET]),
    '--bind',
    layout.workFolder,
    INSIDE_WORK,
    ...inputMounts(layout.inputs, tmpfs),
    '--proc',
    '/proc',
    '--ro-bind',
    '/proc/sys',
    '/proc/sys',
    '--dev',
    '/dev',
    ...tmpfs('/dev/shm', scratch, '1777'),
    '--remount-ro',
    '/dev',
    '--remount-ro',
    '/',
    '--chdir',
    INSIDE_WORK,
  ];
}

function separationOptions(separation: Separation, features: BubblewrapFeatures, uid: number): string[] {
  if (separation === 'user-namespace') {
    return [
      '--unshare-user',
      '--unshare-all',
      ...(features.disablesUserNamespaces ? ['--disable-userns'] : []),
      '--uid',
      String(uid),
      '--gid',
      String(uid),
      '--cap-drop',
      'ALL',
    ];
  }
  // Only what becoming another user takes; setpriv gives these up as well.
  return [
    '--unshare-ipc',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--cap-drop',
    'ALL',
    ...['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((capability) => ['--cap-add', capability]),
  ];
}

/**
 * Closes every descriptor that this process inherited from whoever started it: bubblewrap hands them on. The list
 * is fixed text; the command follows as arguments. `-p` keeps bash from reading a start-up file.
 */
const CLOSE_DESCRIPTORS = [
  '/bin/bash',
  '-p',
  '-c',
  `for entry in /proc/self/fd/*; do number=\${entry##*/}; case $number in 0|1|2|${DESCRIPTORS.initStatus}) ;; *) eval "exec $number>&-" ;; esac; done; exec "$@"`,
  'close-descriptors',
];

/** The command as it is started inside: limits, then (for root) the unprivileged user, then init. */
export function innerCommand(layout: BubblewrapLayout, command: readonly string[]): string[] {
  const { limits, uid } = layout;
  const identity =
    layout.separation === 'user-namespace'
      ? []
      : [
          '/usr/bin/setpriv',
          `--reuid=${uid}`,
          `--regid=${uid}`,
          '--clear-groups',
          '--no-new-privs',
          '--bounding-set=-all',
          '--inh-caps=-all',
          '--ambient-caps=-all',
        ];
  return [
    '/usr/bin/prlimit',
    `--nproc=${limits.processes}:${limits.processes}`,
    `--fsize=${limits.workBytes}:${limits.workBytes}`,
    '--core=0:0',
    '--memlock=0:0',
    ...identity,
    ...CLOSE_DESCRIPTORS,
    INSIDE_NODE,
    INSIDE_INIT,
    '--status-fd',
    String(DESCRIPTORS.initStatus),
    ...(layout.gatewaySocket === undefined ? [] : ['--forward', String(INSIDE_PORT), INSIDE_SOCKET]),
    ...(layout.homeFilesFolder === undefined ? [] : ['--home', INSIDE_HOME_FILES]),
    '--',
    ...command,
  ];
}
