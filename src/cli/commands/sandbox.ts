import { Command, Option } from 'commander';
import { toText } from '../../analysis/tables.js';
import { armCanaries } from '../../audit/canaries.js';
import type { CanaryReport } from '../../runs/gates.js';
import { cleanContainers } from '../../sandboxes/container-engine.js';
import { currentRootfs, isIntact } from '../../sandboxes/rootfs.js';
import { buildRootfs } from '../../sandboxes/rootfs-build.js';
import type { Sandbox } from '../../sandboxes/sandbox.js';
import { sandboxKinds, sandboxOf } from '../../sandboxes/sandboxes.js';
import type { Home } from '../../support/home.js';
import { cleanLeftovers, cleanScratchFolders } from '../../support/runtime-folders.js';
import { contextOf } from '../context.js';

/** Probes a sandbox from inside as every attempt does, without an agent. */
async function checkSandbox(home: Home, sandbox: Sandbox): Promise<CanaryReport> {
  await using armed = await armCanaries(home, { attemptFolder: home.root, sandbox, inputs: [], secrets: [] });
  await using prepared = await sandbox.prepare({
    inputs: [],
    workFiles: armed.workFiles,
    limits: {
      timeoutSeconds: 60,
      memoryBytes: 1024 ** 3,
      processes: 128,
      workBytes: 64 * 1024 ** 2,
      streamBytes: 1024 ** 2,
    },
  });
  return await armed.probe(prepared);
}

interface BuildOptions {
  readonly suite: string;
  readonly mirror: string;
  readonly from?: string;
  readonly agents?: string;
}

function addBuild(sandbox: Command): void {
  sandbox
    .command('build')
    .description(
      'build the root file system that docker, podman and bubblewrap share (needs root and debootstrap)',
    )
    .option('--suite <name>', 'release of Debian', 'bookworm')
    .option('--mirror <url>', 'mirror of Debian', 'http://deb.debian.org/debian')
    .option('--from <dir>', 'a prepared tree, such as an unpacked container image, instead of debootstrap')
    .option(
      '--agents <names>',
      'agents whose CLI goes in, comma separated, or none; default every pinned one',
    )
    .action(async ({ agents, ...options }: BuildOptions, command: Command) => {
      const context = contextOf(command);
      const named = agents === 'none' ? [] : agents?.split(',').map((name) => name.trim());
      const built = await buildRootfs(context.home, {
        ...options,
        ...(named === undefined ? {} : { agents: named }),
        progress: context.progress,
      });
      context.say(`${built.manifest.digest} at ${built.root}`);
      context.json({ root: built.root, ...built.manifest });
    });
}

function addCheck(sandbox: Command): void {
  sandbox
    .command('check')
    .description(
      'try to get out of each sandbox that works here, as every attempt does before its agent starts',
    )
    .addOption(new Option('--kind <kind>', 'one kind only').choices([...sandboxKinds()]))
    .action(async (options: { kind?: string }, command: Command) => {
      const context = contextOf(command);
      const rootfs = await currentRootfs(context.home);
      const isWhole = rootfs === undefined ? null : await isIntact(rootfs);
      const rows: Record<string, string>[] = [];
      const reports: Record<string, unknown> = {};
      let hasFailed = isWhole === false;
      for (const kind of options.kind === undefined ? sandboxKinds() : [options.kind]) {
        const one = sandboxOf(kind, rootfs);
        const state = await one.probe();
        if (!state.available) {
          rows.push({ sandbox: kind, holds: 'not here', detail: `${state.detail}. ${state.remedy ?? ''}` });
          continue;
        }
        const report = await checkSandbox(context.home, one);
        const broken = [...report.checks, ...report.controls].filter(({ held }) => !held);
        reports[kind] = report;
        // Without isolation nothing holds, which is known and no failure of the check.
        if (one.isIsolated && !report.passed) hasFailed = true;
        const detail = report.passed
          ? `${report.checks.length} checks and ${report.controls.length} controls in ${report.seconds} s`
          : `${broken.length} of ${report.checks.length}: ${broken.map(({ name }) => `not "${name}"`).join('; ')}`;
        rows.push({ sandbox: kind, holds: report.passed ? 'yes' : 'no', detail });
      }
      context.say(toText({ columns: ['sandbox', 'holds', 'detail'], rows }));
      if (rootfs !== undefined)
        context.say(
          `root file system ${rootfs.manifest.digest}: ${isWhole ? 'as built' : 'CHANGED since it was built'}`,
        );
      context.json({ rootfs: rootfs?.manifest.digest ?? null, rootfsIntact: isWhole, reports });
      if (hasFailed) process.exitCode = 1;
    });
}

/** `m4bench sandbox …`: the root file system, whether sandboxes hold, and what they leave on this machine. */
export function sandboxCommand(): Command {
  const sandbox = new Command('sandbox').description(
    'root file system, conformance and leftovers of sandboxes',
  );
  addBuild(sandbox);
  addCheck(sandbox);
  sandbox
    .command('clean')
    .description(
      'remove work folders, sockets, processes and containers that a crash left behind; running ones are left alone',
    )
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const removed = [
        ...(await cleanLeftovers()),
        ...(await cleanScratchFolders()),
        ...(await cleanContainers('docker')),
        ...(await cleanContainers('podman')),
      ];
      context.say(removed.length === 0 ? 'Nothing was left behind.' : `Removed: ${removed.join(', ')}`);
      context.json({ removed });
    });
  return sandbox;
}
