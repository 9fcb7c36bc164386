import { INSIDE_GATEWAY_URL, INSIDE_HOME, INSIDE_PORT, INSIDE_WORK } from './bubblewrap-arguments.js';
import type { CommandSpec, InputMount, SandboxLimits } from './sandbox.js';
import {
  INSIDE_HOME_FILES,
  INSIDE_INIT,
  INSIDE_LIMITS,
  INSIDE_NODE,
  INSIDE_SOCKET,
  TOOLS_BIN,
  TOOLS_ROOT,
} from './tools.js';

/** Labels of everything that engines hold for us: what it is, and whose. */
export const SANDBOX_LABEL = 'm4bench=sandbox';
export const OWNER_LABEL = 'm4bench.owner';

/** Where init tells how the command ended: a socket of the host, since no descriptor can be handed in. */
const INSIDE_STATUS = `${TOOLS_ROOT}/status.sock`;
/** Where the volume of a side-car stands. */
const INSIDE_SOCKETS = `${TOOLS_ROOT}/sockets`;
const INSIDE_FILTER = `${TOOLS_ROOT}/seccomp`;
const OPEN_FILES = 4096;
/** Tasks of the user as a whole; `--pids-limit` is what holds for the container. */
const USER_TASKS = 16_384;
const SCRATCH_BYTES = 512 * 1024 * 1024;

/**
 * How sockets come into a container: those of the host, each mounted as a file, or those that a side-car offers in a
 * volume as `<channel>.sock`.
 */
export type Sockets =
  | { readonly from: 'host'; readonly status: string; readonly gateway: string | undefined }
  | { readonly from: 'side-car'; readonly volume: string; readonly hasGateway: boolean };

/** Channels of a side-car. */
export const GATEWAY_CHANNEL = 'gateway';
export const STATUS_CHANNEL = 'status';

export interface ContainerLayout {
  readonly kind: 'docker' | 'podman';
  readonly name: string;
  readonly image: string;
  /** Process and start time of who started it, for finding leftovers. */
  readonly owner: string;
  readonly uid: number;
  readonly workFolder: string;
  readonly limitsFile: string;
  /** Host folder with the files of the home, where a command has some. */
  readonly homeFilesFolder?: string;
  readonly sockets: Sockets;
  /** Host file with a system call filter beside the engine's own; undefined where there is none for this processor. */
  readonly filterFile: string | undefined;
  readonly inputs: readonly InputMount[];
  readonly tools: readonly InputMount[];
  readonly limits: SandboxLimits;
}

/** One value of `--mount`, which is a line of CSV. */
export function mountWord(source: string, target: string, isReadOnly: boolean): string {
  const fields = ['type=bind', `source=${source}`, `target=${target}`, ...(isReadOnly ? ['readonly'] : [])];
  return fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}

/** Mounts and paths inside of the sockets. */
function socketPlaces(sockets: Sockets): {
  readonly mounts: readonly string[];
  readonly status: string;
  readonly gateway: string | undefined;
} {
  if (sockets.from === 'side-car') {
    const { volume, hasGateway } = sockets;
    return {
      mounts: ['--mount', `type=volume,source=${volume},target=${INSIDE_SOCKETS},readonly`],
      status: `${INSIDE_SOCKETS}/${STATUS_CHANNEL}.sock`,
      gateway: hasGateway ? `${INSIDE_SOCKETS}/${GATEWAY_CHANNEL}.sock` : undefined,
    };
  }
  const { status, gateway } = sockets;
  return {
    mounts: [
      ...['--mount', mountWord(status, INSIDE_STATUS, true)],
      ...(gateway === undefined ? [] : ['--mount', mountWord(gateway, INSIDE_SOCKET, true)]),
    ],
    status: INSIDE_STATUS,
    gateway: gateway === undefined ? undefined : INSIDE_SOCKET,
  };
}

/**
 * The words of `docker run` or `podman run` for one command: no network, no capability, nothing to gain, a read-only
 * root file system, scratch space in memory, and only what is listed mounted.
 */
export function containerArguments(layout: ContainerLayout, command: CommandSpec): string[] {
  const { limits, uid } = layout;
  const sockets = socketPlaces(layout.sockets);
  const scratch = Math.min(SCRATCH_BYTES, limits.workBytes);
  // Podman would copy what stands at that path in the image, or on the host.
  const plain = layout.kind === 'podman' ? ',notmpcopyup' : '';
  const tmpfs = (path: string, mode: string): string[] => [
    '--tmpfs',
    `${path}:rw,nosuid,nodev,exec,size=${scratch},mode=${mode}${plain}`,
  ];
  const environment: Record<string, string> = {
    PATH: `${TOOLS_BIN}:/usr/local/bin:/usr/bin:/bin`,
    HOME: INSIDE_HOME,
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    ...command.environment,
  };
  delete environment.M4BENCH_GATEWAY_URL;
  if (sockets.gateway !== undefined) environment.M4BENCH_GATEWAY_URL = INSIDE_GATEWAY_URL;
  const readOnly = (source: string, target: string): string[] => ['--mount', mountWord(source, target, true)];
  // Names that engines add; one that the command asks for stays.
  const added = ['HOSTNAME', 'container', 'TERM'].filter((name) => !Object.hasOwn(command.environment, name));
  return [
    'run',
    '--interactive',
    '--name',
    layout.name,
    ...['--label', SANDBOX_LABEL, '--label', `${OWNER_LABEL}=${layout.owner}`],
    ...[
      '--network',
      'none',
      '--hostname',
      'sandbox',
      '--ipc',
      'private',
      '--log-driver',
      'none',
      '--pull',
      'never',
    ],
    ...['--read-only', '--user', `${uid}:${uid}`, '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--memory', String(limits.memoryBytes), '--memory-swap', String(limits.memoryBytes)],
    ...['--pids-limit', String(limits.processes), '--shm-size', String(scratch)],
    ...['--ulimit', `fsize=${limits.workBytes}:${limits.workBytes}`, '--ulimit', 'core=0:0'],
    // Stated, since podman's own default can lie above what it may set.
    ...['--ulimit', `nofile=${OPEN_FILES}:${OPEN_FILES}`, '--ulimit', `nproc=${USER_TASKS}:${USER_TASKS}`],
    ...tmpfs('/tmp', '1777'),
    ...tmpfs(INSIDE_HOME, '1777'),
    // Devices of the host are nobody's business inside.
    ...['block', 'class', 'devices'].flatMap((name) => ['--tmpfs', `/sys/${name}:ro,size=4096${plain}`]),
    '--mount',
    mountWord(layout.workFolder, INSIDE_WORK, false),
    ...layout.tools.flatMap(({ source, target }) => readOnly(source, target)),
    ...readOnly(layout.limitsFile, INSIDE_LIMITS),
    ...sockets.mounts,
    ...(layout.filterFile === undefined ? [] : readOnly(layout.filterFile, INSIDE_FILTER)),
    ...(layout.homeFilesFolder === undefined ? [] : readOnly(layout.homeFilesFolder, INSIDE_HOME_FILES)),
    ...layout.inputs.flatMap(({ source, target }) => readOnly(source, target)),
    ...['--workdir', INSIDE_WORK],
    ...Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...['--entrypoint', '/bin/bash', layout.image],
    // `-p` keeps bash from reading a start-up file.
    ...['-p', '-c', `unset ${added.join(' ')}; exec "$@"`, 'start'],
    ...(layout.filterFile === undefined
      ? []
      : ['/usr/bin/python3', '-I', '-S', `${TOOLS_ROOT}/tools/filter.py`, INSIDE_FILTER]),
    ...[INSIDE_NODE, INSIDE_INIT, '--status-socket', sockets.status],
    ...(sockets.gateway === undefined ? [] : ['--forward', String(INSIDE_PORT), sockets.gateway]),
    ...(layout.homeFilesFolder === undefined ? [] : ['--home', INSIDE_HOME_FILES]),
    '--',
    ...command.command,
  ];
}
