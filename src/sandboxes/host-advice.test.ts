import { describe, expect, it } from 'vitest';
import { controlGroupAdvice, dockerAdvice, isVirtualEngine, userNamespaceAdvice } from './host-advice.js';

const files = (given: Readonly<Record<string, string>>) => (path: string) => given[path];
const APPARMOR = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';
const MOST = '/proc/sys/user/max_user_namespaces';

describe('advice on user namespaces', () => {
  it('knows what Ubuntu, Debian and others do, and says how it is lifted', () => {
    const ubuntu = userNamespaceAdvice(files({ [APPARMOR]: '1', [MOST]: '63000' }));
    expect(ubuntu.ok).toBe(false);
    expect(ubuntu.detail).toContain('AppArmor');
    expect(ubuntu.remedy).toContain('/etc/apparmor.d/bwrap');
    expect(ubuntu.remedy).toContain('kernel.apparmor_restrict_unprivileged_userns=0');
    const debian = userNamespaceAdvice(
      files({ '/proc/sys/kernel/unprivileged_userns_clone': '0', [MOST]: '63000' }),
    );
    expect(debian.remedy).toBe('Run: sudo sysctl -w kernel.unprivileged_userns_clone=1');
    expect(userNamespaceAdvice(files({ [MOST]: '0' })).remedy).toContain('user.max_user_namespaces');
    expect(userNamespaceAdvice(files({})).detail).toContain('no user namespaces');
    const usual = { [APPARMOR]: '0', '/proc/sys/kernel/unprivileged_userns_clone': '1', [MOST]: '63000' };
    expect(userNamespaceAdvice(files(usual))).toEqual({
      ok: true,
      detail: 'ordinary users may make 63000',
      remedy: '',
    });
  });
});

describe('advice on control groups', () => {
  const UNIFIED = '/sys/fs/cgroup/cgroup.controllers';
  const table = (memory: 0 | 1, pids: 0 | 1): string =>
    `#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t1\t5\t1\nmemory\t2\t5\t${memory}\npids\t3\t5\t${pids}`;

  it('tells the versions apart and names the controller that is missing', () => {
    expect(controlGroupAdvice(files({ [UNIFIED]: 'cpuset cpu io memory pids' }))).toEqual({
      ok: true,
      detail: 'version 2',
      remedy: '',
    });
    const delegated = controlGroupAdvice(files({ [UNIFIED]: 'cpu pids' }));
    expect(delegated).toMatchObject({ ok: false, detail: 'version 2 without memory' });
    expect(delegated.remedy).toContain('"+memory"');
    expect(controlGroupAdvice(files({ '/proc/cgroups': table(1, 1) }))).toEqual({
      ok: true,
      detail: 'version 1',
      remedy: '',
    });
    expect(controlGroupAdvice(files({ '/proc/cgroups': table(0, 1) })).remedy).toContain(
      'cgroup_enable=memory swapaccount=1',
    );
    expect(controlGroupAdvice(files({}))).toMatchObject({ ok: false, detail: 'there are none' });
  });
});

describe('advice on docker', () => {
  const whole = {
    CgroupVersion: '2',
    CgroupDriver: 'systemd',
    MemoryLimit: true,
    PidsLimit: true,
    SecurityOptions: ['name=seccomp,profile=builtin'],
  };
  const rootless = { ...whole, SecurityOptions: [...whole.SecurityOptions, 'name=rootless'] };

  it('tells whether its limits hold, with and without root', () => {
    expect(dockerAdvice(whole, 'linux')).toEqual({ ok: true, detail: 'holds limits', remedy: '' });
    expect(dockerAdvice(rootless, 'linux')).toEqual({
      ok: true,
      detail: 'rootless, and holds limits',
      remedy: '',
    });
    expect(dockerAdvice({ ...rootless, CgroupVersion: '1' }, 'linux').remedy).toContain(
      'unified_cgroup_hierarchy',
    );
    expect(dockerAdvice({ ...rootless, CgroupDriver: 'none', MemoryLimit: false }, 'linux').ok).toBe(false);
    expect(dockerAdvice({ ...rootless, MemoryLimit: false }, 'linux').remedy).toContain('Delegate=');
    expect(dockerAdvice({ ...whole, PidsLimit: false }, 'linux').detail).toBe(
      'docker cannot limit processes',
    );
  });

  it('knows the machines where a socket cannot be mounted', () => {
    expect(isVirtualEngine({ OperatingSystem: 'Docker Desktop' }, 'linux')).toBe(true);
    expect(isVirtualEngine({ OperatingSystem: 'Debian GNU/Linux 12' }, 'darwin')).toBe(true);
    expect(isVirtualEngine({ OperatingSystem: 'Debian GNU/Linux 12' }, 'linux')).toBe(false);
    expect(dockerAdvice({ ...whole, OperatingSystem: 'Docker Desktop' }, 'linux')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('side-car'),
    });
    expect(dockerAdvice({ ...whole, OperatingSystem: 'OrbStack' }, 'darwin')).toMatchObject({
      ok: false,
      remedy: expect.stringContaining('Linux machine'),
    });
  });
});
