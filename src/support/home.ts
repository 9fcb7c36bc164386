import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { M4BenchError } from './errors.js';

/** Folders under `--home`; see "On disk" in ARCHITECTURE.md. All paths absolute. */
export interface Home {
  readonly root: string;
  readonly datasets: string;
  readonly references: string;
  readonly schemas: string;
  readonly taskDatabases: string;
  readonly campaigns: string;
}

/** Lays out a home folder; creates nothing. */
export function homeAt(root: string): Home {
  const absolute = resolve(root);
  return {
    root: absolute,
    datasets: join(absolute, 'datasets'),
    references: join(absolute, 'references'),
    schemas: join(absolute, 'schemas'),
    taskDatabases: join(absolute, 'task-databases'),
    campaigns: join(absolute, 'campaigns'),
  };
}

/**
 * The folder that holds `package.json`, `benchmark/` and `sandbox-tools/`.
 * The same from `src/` (tests), `dist/` (built) and an installed package.
 */
export function packageRoot(from: string = fileURLToPath(import.meta.url)): string {
  let folder = dirname(from);
  while (!existsSync(join(folder, 'benchmark')) || !existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) {
      throw new M4BenchError(
        'PACKAGE_BROKEN',
        'The benchmark content of this installation was not found.',
        'Install m4bench again.',
        {
          party: 'internal',
        },
      );
    }
    folder = parent;
  }
  return folder;
}

/** Reviewable content: concepts, references, families, profiles, protocols. */
export function benchmarkFolder(): string {
  return join(packageRoot(), 'benchmark');
}
