import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem, homedir, totalmem } from 'node:os';
import { Command } from 'commander';
import { agentNamed, offeredAgentNames } from '../../agents/agents.js';
import { toText } from '../../analysis/tables.js';
import { listDatasets } from '../../datasets/dataset.js';
import { engineVersion } from '../../duck/engine.js';
import { providersFromEnvironment } from '../../gateway/providers.js';
import { findEngine } from '../../sandboxes/container-engine.js';
import { type Advice, controlGroupAdvice, userNamespaceAdvice } from '../../sandboxes/host-advice.js';
import { kernelFile } from '../../sandboxes/kernel-file.js';
import { currentRootfs, placeForAgents } from '../../sandboxes/rootfs.js';
import { sandboxKinds, sandboxOf } from '../../sandboxes/sandboxes.js';
import { benchmarkVersion } from '../../version.js';
import { contextOf } from '../context.js';

interface Finding {
  readonly what: string;
  readonly ok: 'yes' | 'no';
  readonly detail: string;
  readonly remedy: string;
}

const gib = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

/** What stands in the way of sandboxes on this machine, or nothing does. */
async function hostAdvice(): Promise<readonly (readonly [string, Advice])[]> {
  if (process.platform !== 'linux') return [];
  const docker = await findEngine('docker');
  return [
    ['user namespaces', userNamespaceAdvice(kernelFile)],
    ['control groups', controlGroupAdvice(kernelFile)],
    ...('program' in docker && docker.advice !== undefined
      ? [['docker limits', docker.advice] as const]
      : []),
  ];
}

/** `m4bench doctor`: what this machine can do, and what to install for what is missing. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('what this machine can do, and what is missing')
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const findings: Finding[] = [
        {
          what: 'm4bench',
          ok: 'yes',
          detail: `${benchmarkVersion}, Node ${process.version}, DuckDB ${engineVersion}`,
          remedy: '',
        },
        {
          what: 'machine',
          ok: 'yes',
          detail: `${availableParallelism()} cores, ${gib(freemem())} of ${gib(totalmem())} memory free`,
          remedy: '',
        },
      ];
      if (existsSync(context.home.root)) {
        const disk = await statfs(context.home.root);
        findings.push({
          what: 'disk',
          ok: 'yes',
          detail: `${gib(disk.bavail * disk.bsize)} free at ${context.home.root}`,
          remedy: '',
        });
      }
      const rootfs = await currentRootfs(context.home);
      findings.push({
        what: 'root file system',
        ok: rootfs === undefined ? 'no' : 'yes',
        detail:
          rootfs === undefined ? 'none built: no run is publishable' : rootfs.manifest.digest.slice(0, 23),
        remedy: rootfs === undefined ? 'm4bench sandbox build (as root, with debootstrap installed)' : '',
      });
      for (const kind of sandboxKinds()) {
        const state = await sandboxOf(kind, rootfs).probe();
        findings.push({
          what: `sandbox ${kind}`,
          ok: state.available ? 'yes' : 'no',
          detail: state.detail,
          remedy: state.remedy ?? '',
        });
      }
      for (const [what, advice] of await hostAdvice())
        findings.push({ what, ok: advice.ok ? 'yes' : 'no', detail: advice.detail, remedy: advice.remedy });
      for (const name of offeredAgentNames) {
        const state = await agentNamed(name, {
          environment: process.env,
          userHome: homedir(),
          ...(rootfs === undefined ? {} : { rootfs: placeForAgents(rootfs) }),
        }).probe();
        findings.push({
          what: `agent ${name}`,
          ok: state.available ? 'yes' : 'no',
          detail: state.detail,
          remedy: state.remedy ?? '',
        });
      }
      const providers = providersFromEnvironment(process.env);
      findings.push({
        what: 'model services',
        ok: providers.length > 0 ? 'yes' : 'no',
        detail:
          providers.length > 0
            ? providers.map(({ name, baseUrl }) => `${name} at ${new URL(baseUrl).host}`).join(', ')
            : 'none configured',
        remedy:
          providers.length > 0 ? '' : 'Set OPENAI_API_KEY, ANTHROPIC_API_KEY or M4BENCH_LOCAL_BASE_URL.',
      });
      const datasets = await listDatasets(context.home);
      findings.push({
        what: 'datasets',
        ok: datasets.length > 0 ? 'yes' : 'no',
        detail:
          datasets.map(({ name, verified }) => `${name}${verified ? '' : ' (unverified)'}`).join(', ') ||
          `none under ${context.home.datasets}`,
        remedy: datasets.length > 0 ? '' : 'm4bench data synthesize mimic-iv, or m4bench data import.',
      });
      context.say(
        toText({
          columns: ['what', 'ok', 'detail'],
          rows: findings.map(({ what, ok, detail }) => ({ what, ok, detail })),
        }),
      );
      const missing = findings.filter(({ remedy }) => remedy !== '');
      if (missing.length > 0) context.say('\nWhat to do, where you need it:');
      for (const { what, remedy } of missing) context.say(`  ${what}: ${remedy}`);
      context.json({ findings });
    });
}
