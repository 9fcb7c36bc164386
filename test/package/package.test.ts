import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunResult } from '../../src/runs/result.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { packageRoot } from '../../src/support/home.js';

/**
 * The package as it is shipped: packed, unpacked into an empty project with nothing but its declared dependencies,
 * and used there. `npm run check:package` does the same with a real installation.
 */
const root = packageRoot();
const isBuilt = existsSync(join(root, 'dist', 'index.d.ts'));
if (!isBuilt) console.warn('Tests of the package are skipped: run `npm run build` first.');
const run = promisify(execFile);

const bubblewrap = await sandboxOf('bubblewrap').probe();
if (!bubblewrap.available) console.warn(`Runs of the package use the sandbox process: ${bubblewrap.detail}.`);
const sandbox = ['--sandbox', bubblewrap.available ? 'bubblewrap' : 'process'];

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

/** Starts a campaign and ends it with a signal when its first run has finished; its exit code, or the signal. */
async function interrupted(
  words: readonly string[],
  signal: NodeJS.Signals,
): Promise<number | string | null> {
  const child = spawn(process.execPath, [join(shipped(), 'dist', 'cli', 'main.js'), ...words], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: project },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const listen = (part: Buffer): void => {
    said += String(part);
    if (!/^\d+\/\d+ /m.test(said)) return;
    // Once: a second Ctrl-C would end it at once.
    child.stderr.off('data', listen).resume();
    child.kill(signal);
  };
  child.stderr.on('data', listen);
  return await new Promise((resolve) => child.on('exit', (code, by) => resolve(code ?? by)));
}

/** Text of every finished result by the name of its run. */
async function resultsIn(runs: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const name of await readdir(runs)) {
    const text = await readFile(join(runs, name, 'result.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) found.set(name, text);
  }
  return found;
}

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
      'examples/agent/agent.toml',
      'docs/start.md',
    ])
      expect(files).toContain(needed);
    const folders = ['dist', 'benchmark', 'sandbox-tools', 'examples', 'docs'];
    const atRoot = [
      'package.json',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'CITATION.cff',
      'ARCHITECTURE.md',
    ];
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

  test('has every page and picture that its README and its pages link to, but the generated ones', async () => {
    const pages = files.filter((file) => file.endsWith('.md') && !file.startsWith('benchmark/'));
    const dead: string[] = [];
    for (const page of pages) {
      const text = await readFile(join(shipped(), page), 'utf8');
      for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
        const path = posix.normalize(posix.join(posix.dirname(page), target!));
        const isThere =
          files.includes(path) || files.some((file) => file.startsWith(`${path.replace(/\/$/, '')}/`));
        if (!isThere && !path.startsWith('docs/generated/') && path !== 'CONTRIBUTING.md')
          dead.push(`${page}: ${target}`);
      }
    }
    expect(dead).toEqual([]);
  });

  describe('takes a stranger the whole way, on the data of the quickstart', () => {
    const tasks = ['--tasks', 'tasks'];

    test('to a task of their own, linted and scored', async () => {
      await writeFile(
        join(project, 'hours.sql'),
        "select stay_id, round(date_diff('minute', intime, outtime) / 60.0, 2) as hours from mimiciv_icu.icustays\n",
      );
      const words = ['--title', 'Length of ICU stay', '--keys', 'stay_id', '--grain', 'one row per ICU stay'];
      const more = [
        '--describe',
        'Compute the length of every ICU stay in hours.',
        '--tolerance',
        'hours=0.05',
      ];
      await m4bench('tasks', 'new', 'icu-stay-hours', '--reference', 'hours.sql', ...words, ...more);
      expect((await m4bench('tasks', 'lint', ...tasks)).stdout).toBe('No findings.\n');
      const { stdout } = await m4bench(
        'run',
        'icu-stay-hours',
        ...tasks,
        ...sandbox,
        '--agent',
        'reference',
        '--json',
      );
      expect(JSON.parse(stdout)).toMatchObject({ status: 'judged', reward: 1 });
    }, 120_000);

    test.skipIf(!bubblewrap.available)(
      'to an agent of their own, played without a model',
      async () => {
        const agent = 'node_modules/m4bench/examples/agent';
        const program = [process.execPath, join(shipped(), 'dist', 'cli', 'main.js')];
        const asked = [
          'run',
          'mimic-meld-24h',
          '--agent',
          `./${agent}/agent.toml`,
          '--model',
          'scripted',
          '--json',
        ];
        const { stdout } = await run(
          process.execPath,
          [`${agent}/model.mjs`, `${agent}/answer.sql`, ...program, ...asked],
          { cwd: project, env: { PATH: process.env.PATH, HOME: project } },
        );
        const result = JSON.parse(stdout) as RunResult;
        // Every stay is there, and everybody has the same score.
        expect(result).toMatchObject({ status: 'judged', evaluation: { keyF1: 1, error: null } });
        expect(result.tokens?.output).toBeGreaterThan(0);
      },
      120_000,
    );

    test('through a campaign that Ctrl-C and then a kill interrupt, to its evidence', async () => {
      const plan = ['--agent', 'sql', '--sql', 'hours.sql', '--task', 'icu-stay-hours', '--trials', '6'];
      const first = ['campaign', 'run', 'night', ...tasks, ...plan, '--condition', 'no-skill', ...sandbox];
      expect(await interrupted(first, 'SIGINT')).toBe(130);
      const runs = join(project, '.m4bench', 'campaigns', 'night', 'runs');
      const finished = await resultsIn(runs);
      expect(finished.size).toBeGreaterThan(0);
      expect(finished.size).toBeLessThan(6);
      expect(await interrupted(['campaign', 'run', 'night'], 'SIGKILL')).toBe('SIGKILL');
      const { stdout } = await m4bench('campaign', 'run', 'night', '--json');
      const { results } = JSON.parse(stdout) as { results: readonly RunResult[] };
      expect(results.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1, 1]);
      const all = await resultsIn(runs);
      expect(all.size).toBe(6);
      for (const [name, text] of finished) expect(all.get(name)).toBe(text);
      await expect(m4bench('campaign', 'run', 'night', '--trials', '7')).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining('PLAN_DIFFERS'),
      });
      expect((await m4bench('analyze', 'night', ...tasks)).stdout).toMatch(/icu-stay-hours +no-skill/);
      await m4bench('report', 'night', ...tasks);
      const page = await readFile(join(runs, '..', 'analysis', 'report', 'index.html'), 'utf8');
      expect(page).toContain('<b data-number="finished">6</b>');
      await m4bench('evidence', 'pack', 'night', '--out', 'night.tar.zst', ...tasks);
      expect((await m4bench('evidence', 'verify', 'night.tar.zst')).stdout).toContain('good (public');
    }, 240_000);
  });

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
