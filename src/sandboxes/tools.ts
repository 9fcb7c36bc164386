import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { packageRoot } from '../support/home.js';
import type { InputMount } from './sandbox.js';

/** Where the benchmark's own programs stand inside a sandbox. */
export const TOOLS_ROOT = '/opt/m4bench';
export const TOOLS_BIN = `${TOOLS_ROOT}/bin`;
export const INSIDE_NODE = `${TOOLS_BIN}/node`;
export const INSIDE_INIT = `${TOOLS_ROOT}/tools/init.mjs`;
/** Limits of the sandbox, for programs that can adapt to them. */
export const INSIDE_LIMITS = `${TOOLS_ROOT}/sandbox-limits.json`;
/** Files that init copies into the home. */
export const INSIDE_HOME_FILES = `${TOOLS_ROOT}/home-files`;
export const INSIDE_SOCKET = `${TOOLS_ROOT}/gateway.sock`;

/** Host folder of the programs that run inside. */
export function toolsFolder(): string {
  return join(packageRoot(), 'sandbox-tools');
}

interface PackageManifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Folder of an installed package as seen from a file, or undefined (optional parts for other platforms). */
function packageFolder(name: string, from: string): string | undefined {
  for (const base of createRequire(from).resolve.paths(name) ?? []) {
    const folder = join(base, name);
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder);
  }
  return undefined;
}

/** A package and all it needs, by name, in their real folders. */
function packagesBelow(name: string, from: string, found: Map<string, string>): void {
  if (found.has(name)) return;
  const folder = packageFolder(name, from);
  if (folder === undefined) return;
  found.set(name, folder);
  const manifest = join(folder, 'package.json');
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(manifest, 'utf8'),
  ) as PackageManifest;
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies }))
    packagesBelow(needed, manifest, found);
}

/** Node, the `duckdb` shell with the engine, forwarder and init: read-only files under `/opt/m4bench`. */
export function toolMounts(): readonly InputMount[] {
  const packages = new Map<string, string>();
  packagesBelow('@duckdb/node-api', join(packageRoot(), 'package.json'), packages);
  return [
    { source: realpathSync(process.execPath), target: INSIDE_NODE },
    { source: toolsFolder(), target: `${TOOLS_ROOT}/tools` },
    ...[...packages].map(([name, source]) => ({ source, target: `${TOOLS_ROOT}/node_modules/${name}` })),
  ];
}

/** The folder that holds the running Node binary. */
export function nodeFolder(): string {
  return dirname(process.execPath);
}
