import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { InputMount } from '../sandboxes/sandbox.js';
import { M4BenchError, messageOf } from '../support/errors.js';
import type { AgentAvailability } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { type CliPackage, dependencyFolder, findInstalled, packageClosure } from './installed-package.js';

const run = promisify(execFile);

/** A CLI as found on the host, and how it is started inside a sandbox. */
export interface CliProgram {
  /** Program and first arguments on the host. */
  readonly hostCommand: readonly string[];
  /** The same inside, where `inputs` are mounted. */
  readonly command: readonly string[];
  /** None for a CLI of the root file system. */
  readonly inputs: readonly InputMount[];
  readonly source: NonNullable<AgentAvailability['source']>;
}

/** Where a native program stands in the package of a platform. */
export interface NativeLayout {
  readonly platformPackage: string;
  /** Folder that is mounted, relative to the platform package; empty for the package itself. */
  readonly folder: string;
  /** The program, relative to that folder; the first that exists. */
  readonly programs: readonly string[];
}

export type Found = CliProgram | AgentAvailability;

/** Where a host folder stands inside when it is part of the root file system; undefined when it is not. */
function placeInRootfs(folder: string, { rootfs }: AgentSettings): string | undefined {
  const root = rootfs !== undefined && existsSync(rootfs.root) ? realpathSync(rootfs.root) : undefined;
  return root !== undefined && folder.startsWith(`${root}/`) ? folder.slice(root.length) : undefined;
}

const insideFolder = (cli: CliPackage): string => `/opt/agents/${cli.agent}`;

/** True for a program that was found. */
export function isProgram(found: Found): found is CliProgram {
  return 'command' in found;
}

/**
 * Finds the native program of a CLI, which the package's Node launcher would start; without the launcher no Node is
 * needed inside. `layout` is undefined where the CLI does not exist for this platform.
 */
export function findNativeProgram(
  cli: CliPackage,
  layout: NativeLayout | undefined,
  settings: AgentSettings,
): Found {
  if (layout === undefined) return unavailable(`no ${cli.title} exists for ${platform()}`);
  const found = findInstalled(cli, settings);
  if (found === undefined) return notInstalled(cli);
  if (found.kind === 'program') {
    if (isScript(found.path)) return foreignScript(cli, found.path);
    const inside = `${insideFolder(cli)}/bin/${cli.bin}`;
    return {
      hostCommand: [found.path],
      command: [inside],
      inputs: [{ source: found.path, target: inside }],
      source: 'host',
    };
  }
  const platformFolder = dependencyFolder(layout.platformPackage, found.folder) ?? found.folder;
  const source = layout.folder === '' ? platformFolder : join(platformFolder, layout.folder);
  const program = layout.programs.find((path) => existsSync(join(source, path)));
  if (program === undefined) {
    return unavailable(
      `${found.folder} lacks its native program (${layout.platformPackage})`,
      'Install it again with optional dependencies (npm ci --include=optional).',
    );
  }
  const hostCommand = [join(source, program)];
  const place = placeInRootfs(source, settings);
  if (place !== undefined)
    return { hostCommand, command: [`${place}/${program}`], inputs: [], source: 'rootfs' };
  return {
    hostCommand,
    command: [`${insideFolder(cli)}/${program}`],
    inputs: [{ source, target: insideFolder(cli) }],
    source: 'host',
  };
}

/** Finds a CLI that is a Node program; `main` is relative to its package. Its dependencies are mounted beside it. */
export function findNodeProgram(cli: CliPackage, main: string, settings: AgentSettings): Found {
  const found = findInstalled(cli, settings);
  if (found === undefined) return notInstalled(cli);
  if (found.kind === 'program') return foreignScript(cli, found.path);
  if (!existsSync(join(found.folder, main))) return unavailable(`${found.folder} lacks ${main}`);
  const hostCommand = [process.execPath, join(found.folder, main)];
  const place = placeInRootfs(found.folder, settings);
  if (place !== undefined)
    return { hostCommand, command: ['node', `${place}/${main}`], inputs: [], source: 'rootfs' };
  const modules = `${insideFolder(cli)}/node_modules`;
  return {
    hostCommand,
    command: ['node', `${modules}/${cli.packageName}/${main}`],
    inputs: packageClosure(cli.packageName, found.folder).map(({ name, folder }) => ({
      source: folder,
      target: `${modules}/${name}`,
    })),
    source: 'host',
  };
}

/** The program, or `AGENT_NOT_AVAILABLE` with the reason and the remedy. */
export function programOrThrow(cli: CliPackage, found: Found): CliProgram {
  if (isProgram(found)) return found;
  throw new M4BenchError(
    'AGENT_NOT_AVAILABLE',
    `The agent ${cli.agent} cannot run: ${found.detail}.`,
    found.remedy ?? 'Choose another agent.',
    { party: 'environment' },
  );
}

/** Asks a program for its version (`--version`). */
export async function probeProgram(
  cli: CliPackage,
  found: Found,
  settings: AgentSettings,
): Promise<AgentAvailability> {
  if (!isProgram(found)) return found;
  const [program, ...first] = found.hostCommand;
  const place = found.hostCommand.at(-1)!;
  try {
    const { stdout, stderr } = await run(program!, [...first, '--version'], {
      timeout: 60_000,
      env: { HOME: '/nonexistent', PATH: settings.environment.PATH, ...QUIET },
    });
    // Some print it to standard error.
    const version = /\d+\.\d+\.\d+[\w.+-]*/.exec(stdout + stderr)?.[0];
    if (version === undefined) throw new Error('it states no version');
    return { available: true, version, source: found.source, detail: `${cli.title} ${version}, ${place}` };
  } catch (thrown) {
    return unavailable(`${place} does not run: ${messageOf(thrown).slice(0, 300)}`, installRemedy(cli));
  }
}

/** No look-ups while a version is asked for. */
const QUIET = { DISABLE_AUTOUPDATER: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', PI_OFFLINE: '1', NO_COLOR: '1' };

function platform(): string {
  return `${process.platform} on ${process.arch}`;
}

function unavailable(detail: string, remedy?: string): AgentAvailability {
  return { available: false, detail, ...(remedy === undefined ? {} : { remedy }) };
}

function notInstalled(cli: CliPackage): AgentAvailability {
  return unavailable(`the ${cli.title} is not installed`, installRemedy(cli));
}

function foreignScript(cli: CliPackage, path: string): AgentAvailability {
  return unavailable(
    `${path} is a script that starts a ${cli.title} elsewhere`,
    `Set M4BENCH_AGENTS_DIR to a folder in which npm installed ${cli.packageName}.`,
  );
}

function installRemedy(cli: CliPackage): string {
  return `Run: npm install --global ${cli.packageName} (or, in a source checkout, test/agents/install.sh).`;
}

function isScript(path: string): boolean {
  const start = Buffer.alloc(2);
  const file = openSync(path, 'r');
  try {
    readSync(file, start, 0, 2, 0);
  } finally {
    closeSync(file);
  }
  return start.toString('latin1') === '#!';
}
