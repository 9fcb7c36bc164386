import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/support/home.js';

/**
 * The package as it is shipped: packed, unpacked into an empty project with nothing but its declared dependencies,
 * and used there. `npm run check:package` does the same with a real installation.
 */
const root = packageRoot();
const isBuilt = existsSync(join(root, 'dist', 'index.d.ts'));
if (!isBuilt) console.warn('Tests of the package are skipped: run `npm run build` first.');
const run = promisify(execFile);

let project: string;
let files: readonly string[];
const shipped = (): string => join(project, 'node_modules', 'm4bench');
const m4bench = (...words: readonly string[]) =>
  run(process.execPath, [join(shipped(), 'dist', 'cli', 'main.js'), ...words], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: project },
  });

beforeAll(async () => {
  if (!isBuilt) return;
  project = await mkdtemp(join(tmpdir(), 'm4bench-package-'));
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], {
    cwd: root,
    maxBuffer: 64 * 1024 ** 2,
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  files = packed.files.map(({ path }) => path);
  await mkdir(shipped(), { recursive: true });
  await run('tar', ['-xzf', join(project, packed.filename), '--strip-components=1', '-C', shipped()]);
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  for (const name of [...Object.keys(dependencies), 'typescript', '@types/node']) {
    const link = join(project, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link);
  }
}, 300_000);
afterAll(async () => {
  if (isBuilt) await rm(project, { recursive: true, force: true });
});

describe.skipIf(!isBuilt)('the package', () => {
  test('holds what a user needs and nothing of the development', () => {
    for (const needed of [
      'LICENSE',
      'README.md',
      'dist/cli/main.js',
      'dist/index.js',
      'dist/index.d.ts',
      'benchmark/versions.json',
      'benchmark/families/meld/family.toml',
      'sandbox-tools/forwarder.mjs',
      'examples/omop/omop.toml',
    ])
      expect(files).toContain(needed);
    const folders = ['dist', 'benchmark', 'sandbox-tools', 'examples'];
    const atRoot = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'CITATION.cff'];
    const strange = files.filter(
      (file) =>
        !atRoot.includes(file) && (!folders.includes(file.split('/')[0]!) || /\.(map|test\.\w+)$/.test(file)),
    );
    expect(strange).toEqual([]);
  });

  test('plays the main job with its declared dependencies only, without network', async () => {
    const { stdout } = await m4bench('quickstart', '--stays', '20', '--json');
    const { tables } = JSON.parse(stdout) as { tables: Record<string, { rows: { reward?: number }[] }> };
    const rewards = tables['reward-by-task-and-condition']!.rows.map((row) => row.reward);
    expect(rewards.length).toBeGreaterThanOrEqual(8);
    expect(rewards).toContain(1);
    expect(existsSync(join(project, '.m4bench', 'campaigns'))).toBe(true);
  }, 300_000);

  test('has types that a strict project compiles against', async () => {
    await writeFile(
      join(project, 'use.ts'),
      `import { findTask, homeAt, importDataset, M4BenchError, type Evaluation } from 'm4bench';
const home = homeAt('.m4bench');
const dataset = await importDataset(home, { name: 'mimic-iv-demo', from: '.' });
const task = await findTask('mimic-meld-24h');
const columns: readonly string[] = task.contract.scoredColumns;
const reward = (evaluation: Evaluation): number => evaluation.reward;
// @ts-expect-error a dataset has no such field: types are not \`any\`
dataset.rubbish;
export { columns, reward, M4BenchError };
`,
    );
    await writeFile(join(project, 'package.json'), '{"type":"module"}');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
    await run(
      process.execPath,
      [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...options, 'use.ts'],
      {
        cwd: project,
      },
    ).catch((thrown: { stdout?: string }) => expect(thrown.stdout).toBe(''));
  }, 300_000);
});
