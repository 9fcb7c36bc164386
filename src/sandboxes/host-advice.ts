/** Text of a file of the kernel, trimmed; undefined where there is none. Reading is left to the caller. */
export type KernelFiles = (path: string) => string | undefined;

/** Something about this machine that a sandbox cares for. */
export interface Advice {
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; empty when nothing is amiss. */
  readonly remedy: string;
}

const fine = (detail: string): Advice => ({ ok: true, detail, remedy: '' });
const amiss = (detail: string, remedy: string): Advice => ({ ok: false, detail, remedy });

/** A profile that lets bubblewrap alone make user namespaces, as Ubuntu's own profiles do for browsers. */
const APPARMOR_PROFILE =
  'abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, include if exists <local/bwrap> }';

/** Whether an ordinary user may make user namespaces, which bubblewrap needs unless it is started by root. */
export function userNamespaceAdvice(read: KernelFiles): Advice {
  if (read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1')
    return amiss(
      'AppArmor forbids user namespaces to ordinary users (Ubuntu 23.10 and later)',
      `Write this to /etc/apparmor.d/bwrap, one clause a line, and run sudo apparmor_parser -r /etc/apparmor.d/bwrap: ${APPARMOR_PROFILE}. Or, for every program: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`,
    );
  if (read('/proc/sys/kernel/unprivileged_userns_clone') === '0')
    return amiss(
      'the kernel forbids user namespaces to ordinary users (older Debian)',
      'Run: sudo sysctl -w kernel.unprivileged_userns_clone=1',
    );
  const most = read('/proc/sys/user/max_user_namespaces');
  if (most === '0')
    return amiss(
      'no user namespace may be made at all',
      'Run: sudo sysctl -w user.max_user_namespaces=10000',
    );
  if (most === undefined)
    return amiss(
      'the kernel has no user namespaces',
      'Use a kernel with CONFIG_USER_NS, run m4bench as root, or use docker.',
    );
  return fine(`ordinary users may make ${most}`);
}

/** Controllers that hold memory and the number of processes of containers. */
const NEEDED = ['memory', 'pids'] as const;

/** Which version of control groups there is, and whether they can hold memory and processes of containers. */
export function controlGroupAdvice(read: KernelFiles): Advice {
  const unified = read('/sys/fs/cgroup/cgroup.controllers');
  if (unified !== undefined) {
    const missing = NEEDED.filter((name) => !unified.split(/\s+/).includes(name));
    if (missing.length === 0) return fine('version 2');
    return amiss(
      `version 2 without ${missing.join(' and ')}`,
      `Hand the controllers down: echo "${missing.map((name) => `+${name}`).join(' ')}" | sudo tee /sys/fs/cgroup/cgroup.subtree_control; for a rootless engine see systemctl edit user@.service, Delegate=yes. Until then a watch holds the limits.`,
    );
  }
  // Columns: name, hierarchy, number of groups, enabled.
  const enabled = (read('/proc/cgroups') ?? '')
    .split('\n')
    .map((line) => line.split(/\s+/))
    .filter((columns) => columns[3] === '1')
    .map(([name]) => name);
  const missing = NEEDED.filter((name) => !enabled.includes(name));
  if (enabled.length === 0)
    return amiss(
      'there are none',
      'Mount them (systemd does), or rely on the watch over processes and memory.',
    );
  if (missing.length === 0) return fine('version 1');
  return amiss(
    `version 1 without ${missing.join(' and ')}`,
    `Start the kernel with cgroup_enable=${missing.join(',')}${missing.includes('memory') ? ' swapaccount=1' : ''}. Until then a watch holds the limits.`,
  );
}

/** What `docker info --format '{{json .}}'` tells that matters here. */
export interface DockerInfo {
  readonly SecurityOptions?: readonly string[];
  readonly CgroupVersion?: string;
  readonly CgroupDriver?: string;
  readonly OperatingSystem?: string;
  readonly MemoryLimit?: boolean;
  readonly PidsLimit?: boolean;
}

/** For machines whose own Node and DuckDB cannot run in a container. */
export const LINUX_REMEDY =
  'Run m4bench inside a Linux machine (WSL 2, Lima or another virtual one), with docker there or Docker Desktop, or with bubblewrap.';

/** Whether an engine runs in a virtual machine, where a socket of this machine cannot be mounted. */
export function isVirtualEngine({ OperatingSystem: system }: DockerInfo, platform: NodeJS.Platform): boolean {
  return platform !== 'linux' || /desktop|orbstack|colima|lima/i.test(system ?? '');
}

/** Whether docker holds what it is asked to hold. */
export function dockerAdvice(info: DockerInfo, platform: NodeJS.Platform): Advice {
  const isRootless = (info.SecurityOptions ?? []).some((option) => option.includes('rootless'));
  const missing = [
    ...(info.MemoryLimit === false ? ['memory'] : []),
    ...(info.PidsLimit === false ? ['processes'] : []),
  ];
  if (isRootless && (info.CgroupVersion === '1' || info.CgroupDriver === 'none'))
    return amiss(
      'rootless docker without control groups of version 2: it ignores limits of memory and processes',
      'Boot with systemd.unified_cgroup_hierarchy=1 and delegate controllers to users (systemctl edit user@.service: Delegate=cpu cpuset io memory pids). Until then a watch holds the limits.',
    );
  if (missing.length > 0)
    return amiss(
      `docker cannot limit ${missing.join(' and ')}`,
      isRootless
        ? 'Delegate the controllers to users (systemctl edit user@.service: Delegate=cpu cpuset io memory pids), and sign in again.'
        : 'Start the kernel with cgroup_enable=memory swapaccount=1.',
    );
  if (platform !== 'linux')
    return amiss(`the programs of ${platform} do not run in its containers`, LINUX_REMEDY);
  if (isVirtualEngine(info, platform))
    return fine('holds limits, in a machine of its own: a side-car leads to the gateway');
  return fine(isRootless ? 'rootless, and holds limits' : 'holds limits');
}
