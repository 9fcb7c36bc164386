import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentNamed } from '../agents/agents.js';
import { homeAt, packageRoot } from '../support/home.js';
import { silentProgress } from '../support/progress.js';
import { AGENTS_IN_ROOTFS, currentRootfs, placeForAgents } from './rootfs.js';
import { departuresFrom, installAgents, lockedAgents, type PackageLock } from './rootfs-agents.js';
import { availableCandidates, play, playScript, withSandbox } from './test-sandboxes.js';

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(packageRoot(), path), 'utf8'));

describe('the locks of agent CLIs', () => {
  it('pin every package by a checksum, at the versions that the agent tests drive', async () => {
    const tested = readJson('test/agents/package.json') as { dependencies: Record<string, string> };
    const pinned: Record<string, string> = {};
    for (const agent of await lockedAgents()) {
      const lock = readJson(`sandbox-tools/agents/${agent}/package-lock.json`) as PackageLock;
      const manifest = readJson(`sandbox-tools/agents/${agent}/package.json`) as typeof tested;
      const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
      expect(packages.length).toBeGreaterThan(0);
      for (const [path, { integrity }] of packages)
        expect([agent, path, integrity]).toEqual([agent, path, expect.stringMatching(/^sha512-/)]);
      for (const [name, version] of Object.entries(manifest.dependencies)) {
        expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
        pinned[name] = version;
      }
    }
    expect(pinned).toEqual(tested.dependencies);
  });

  it('tell what came otherwise than it is locked', () => {
    const lock = {
      packages: {
        '': {},
        'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
        'node_modules/b': { version: '2.0.0', integrity: 'sha512-b' },
        'node_modules/c': { version: '3.0.0' },
      },
    };
    const a = { version: '1.0.0', integrity: 'sha512-a' };
    expect(departuresFrom(lock, { packages: { 'node_modules/a': a } })).toEqual([]);
    const others = {
      'node_modules/a': { ...a, integrity: 'sha512-x' },
      'node_modules/b': { version: '2.0.1', integrity: 'sha512-b' },
      'node_modules/c': { version: '3.0.0' },
      'node_modules/d': a,
    };
    expect(departuresFrom(lock, { packages: others })).toEqual([
      'node_modules/a has another checksum',
      'node_modules/b is 2.0.1 and not 2.0.0',
      'node_modules/c has no checksum in the lock',
      'node_modules/d is not in the lock',
    ]);
  });

  it('are there for the agents named, or the build says which are', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'm4bench-agents-'));
    try {
      await expect(installAgents(folder, ['codex', '../codex'], silentProgress)).rejects.toMatchObject({
        code: 'AGENT_NOT_LOCKED',
        remedy: expect.stringContaining('claude, codex, gemini, opencode, pi'),
      });
      expect(existsSync(join(folder, 'usr'))).toBe(false);
      expect(await installAgents(folder, [], silentProgress)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

const home = process.env.M4BENCH_TEST_ROOTFS;
const rootfs = home === undefined ? undefined : await currentRootfs(homeAt(home));
const candidates = rootfs === undefined ? [] : await availableCandidates();

describe.each(candidates.filter(({ sandbox }) => sandbox.rootfsDigest !== null))(
  'programs of the root file system in $name',
  ({ sandbox }) => {
    it('are those that work on data, and none that only fetches, installs or becomes another user', async () => {
      const wanted = ['python3', 'node', 'duckdb', 'jq', 'rg', 'less', 'file', 'ps'];
      const unwanted =
        'curl wget git ssh scp nc socat telnet apt apt-get dpkg dpkg-deb pip pip3 npm npx gcc su sudo mount umount ping';
      const { stdout } = await playScript(
        sandbox,
        `for name in ${wanted.join(' ')} ${unwanted}; do command -v $name > /dev/null && echo $name; done
python3 -c 'import pandas, duckdb; print(duckdb.sql("select 40 + 2").fetchone()[0])'; python3 -m pip --version 2>/dev/null
find / -xdev -perm /6000 -type f 2>/dev/null`,
      );
      expect(stdout.trim().split('\n')).toEqual([...wanted, '42']);
    });
  },
);

describe.each(candidates.filter(({ sandbox }) => sandbox.rootfsDigest !== null))(
  'agent CLIs of the root file system in $name',
  ({ sandbox }) => {
    it('start there at the version that its manifest names, with nothing mounted', async () => {
      const settings = {
        environment: { PATH: '' },
        userHome: '/nonexistent',
        rootfs: placeForAgents(rootfs!),
      };
      for (const name of await lockedAgents()) {
        const agent = agentNamed(name, settings);
        const manifest = readJson(`sandbox-tools/agents/${name}/package.json`) as {
          dependencies: Record<string, string>;
        };
        const [[packageName, version]] = Object.entries(manifest.dependencies) as [[string, string]];
        expect(await agent.probe()).toMatchObject({ available: true, source: 'rootfs', version });
        expect(rootfs!.manifest.tools).toContainEqual({
          name: packageName,
          version,
          integrity: expect.stringMatching(/^sha512-/),
        });
        const launch = await agent.launch({
          model: 'm',
          effort: 'auto',
          instruction: '',
          workPath: '/work',
          gatewayUrl: 'http://127.0.0.1:8300',
        });
        expect(launch.inputs).toEqual([]);
        // Of the command, the program alone: a script of Node, or a binary.
        const file = launch.command.find((word) => word.startsWith(`/${AGENTS_IN_ROOTFS}/${name}/`))!;
        const program = file.endsWith('.js') ? ['node', file] : [file];
        await withSandbox(sandbox, {}, async (prepared) => {
          const played = await play(prepared, [...program, '--version']);
          expect([name, played.exitCode, played.stdout + played.stderr]).toEqual([
            name,
            0,
            expect.stringContaining(version),
          ]);
        });
      }
    }, 240_000);
  },
);
