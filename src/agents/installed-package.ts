import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { packageRoot } from '../support/home.js';
import type { AgentSettings } from './agent-settings.js';

/** A CLI that npm installs. */
export interface CliPackage {
  /** Name of the agent, which is also the folder inside. */
  readonly agent: string;
  /** What people call it. */
  readonly title: string;
  readonly packageName: string;
  /** The command that the package puts on `PATH`. */
  readonly bin: string;
}

/** Where a CLI was found: the folder of its npm package, or a program that belongs to none. */
export type Installation =
  | { readonly kind: 'package'; readonly folder: string }
  | { readonly kind: 'program'; readonly path: string };

/**
 * Finds an agent CLI that npm or the user installed. Searched in this order: the agents folder of the settings,
 * `M4BENCH_AGENTS_DIR`, the root file system, `test/agents` of a source checkout, `~/.m4bench/agents`, then the command
 * on `PATH`, followed through links to the package it belongs to.
 */
export function findInstalled(
  { agent, packageName, bin }: CliPackage,
  settings: AgentSettings,
): Installation | undefined {
  for (const folder of agentFolders(agent, settings)) {
    for (const candidate of [join(folder, 'node_modules', packageName), join(folder, packageName)]) {
      if (existsSync(join(candidate, 'package.json')))
        return { kind: 'package', folder: realpathSync(candidate) };
    }
  }
  const program = programOnPath(bin, settings.environment.PATH ?? '');
  if (program === undefined) return undefined;
  const folder = packageFolderOf(program, packageName);
  return folder === undefined ? { kind: 'program', path: program } : { kind: 'package', folder };
}

function agentFolders(agent: string, { rootfs, ...settings }: AgentSettings): string[] {
  const named = settings.agentsFolder ?? settings.environment.M4BENCH_AGENTS_DIR;
  return [
    ...(named === undefined || named === '' ? [] : [resolve(named)]),
    ...(rootfs === undefined ? [] : [join(rootfs.agentsFolder, agent)]),
    join(packageRoot(), 'test', 'agents'),
    join(settings.userHome, '.m4bench', 'agents'),
  ];
}

/** Real path of an executable on a search path. */
export function programOnPath(command: string, path: string): string | undefined {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const found = statSync(join(folder, command), { throwIfNoEntry: false });
    if (found?.isFile() && (found.mode & 0o111) !== 0) return realpathSync(join(folder, command));
  }
  return undefined;
}

/** The folder of the named package around a file. */
function packageFolderOf(file: string, packageName: string): string | undefined {
  const end = join('node_modules', packageName);
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (folder.endsWith(end) && existsSync(join(folder, 'package.json'))) return folder;
  }
  return undefined;
}

/** Folder of a package that another one depends on, as Node would find it. */
export function dependencyFolder(packageName: string, from: string): string | undefined {
  const bases = createRequire(join(from, 'package.json')).resolve.paths(packageName) ?? [];
  const found = bases.map((base) => join(base, packageName)).find((folder) => existsSync(folder));
  return found === undefined ? undefined : realpathSync(found);
}

/** A package that another one needs. */
export interface NeededPackage {
  readonly name: string;
  /** Real folder on the host. */
  readonly folder: string;
}

/**
 * A package and everything it needs at run time, as far as it is installed; packages that lie inside another one of
 * the list come with that. Mounted side by side in one `node_modules`, they resolve as they do on the host.
 */
export function packageClosure(name: string, folder: string): readonly NeededPackage[] {
  const needed = new Map<string, string>([[name, folder]]);
  const seen = new Set<string>([folder]);
  const waiting = [folder];
  for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
    for (const dependency of dependenciesOf(from)) {
      const place = dependencyFolder(dependency, from);
      if (place === undefined || seen.has(place)) continue;
      seen.add(place);
      waiting.push(place);
      const isInside = [...needed.values()].some((outer) => place.startsWith(`${outer}/`));
      if (!isInside && !needed.has(dependency)) needed.set(dependency, place);
    }
  }
  return [...needed].map(([one, place]) => ({ name: one, folder: place }));
}

function dependenciesOf(folder: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
    readonly peerDependencies?: Readonly<Record<string, string>>;
  };
  return Object.keys({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  });
}
