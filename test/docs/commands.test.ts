import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { packageRoot } from '../../src/support/home.js';
import { bundledCli } from '../main-job/cli.js';
import { type Block, blocksOf, pages } from './blocks.js';

/** Every command of the documentation is run as it stands, page by page, with one home for all. */
const bubblewrap = await sandboxOf('bubblewrap').probe();
if (!bubblewrap.available) console.warn(`Commands of the documentation are not run: ${bubblewrap.detail}.`);

const blocks = pages().flatMap(blocksOf);
const commands = blocks.filter(({ language }) => language === 'sh');
const nameOf = ({ page, line }: Block): string => `${page}:${line}`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-docs-'));
  const program = join(folder, 'bin', 'm4bench');
  await mkdir(join(folder, 'bin'));
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${await bundledCli()}" "$@"\n`);
  await chmod(program, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a block in the folder of its page: blocks of a page see each other's files. */
async function run({
  page,
  text,
}: Block): Promise<{ readonly code: number | string; readonly output: string }> {
  const cwd = join(folder, page.replaceAll('/', '_'));
  await mkdir(cwd, { recursive: true });
  await symlink(join(packageRoot(), 'examples'), join(cwd, 'examples')).catch(() => undefined);
  return await new Promise((resolve) => {
    const environment = {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      HOME: folder,
      M4BENCH_HOME: join(folder, 'home'),
      ...(process.env.M4BENCH_FARM_DIR === undefined
        ? {}
        : { M4BENCH_FARM_DIR: process.env.M4BENCH_FARM_DIR }),
    };
    const options = { cwd, env: environment, maxBuffer: 64 * 1024 ** 2 };
    execFile(
      'bash',
      ['--norc', '--noprofile', '-euo', 'pipefail', '-c', text],
      options,
      (failure, stdout, stderr) => resolve({ code: failure?.code ?? 0, output: stdout + stderr }),
    );
  });
}

describe('commands in the documentation', () => {
  test('stand in blocks that are run: `sh`, or with a reason why not', () => {
    const looksLikeCommand = /^(m4bench|npx|npm|node|\.\/scripts\/)\s?/m;
    const escaped = blocks.filter(({ language, text }) => language === '' && looksLikeCommand.test(text));
    expect(escaped.map(nameOf)).toEqual([]);
    const reasons = blocks.filter(({ notRun }) => notRun !== undefined);
    expect(reasons.filter(({ language }) => language !== 'sh').map(nameOf)).toEqual([]);
    expect(commands.length).toBeGreaterThan(10);
  });

  test('the code of docs/api.md is that of the examples', () => {
    const examples = blocksOf('docs/api.md').filter(({ language }) => language === 'ts');
    const files = ['score-a-file.ts', 'campaign.ts', 'prepare.ts'];
    expect(examples.map(({ text }) => text)).toEqual(
      files.map((file) => readFileSync(join(packageRoot(), 'examples', file), 'utf8').trimEnd()),
    );
  });

  describe.skipIf(!bubblewrap.available)('are run as they stand', () => {
    for (const block of commands) {
      test.skipIf(block.notRun !== undefined)(
        `${nameOf(block)}${block.notRun === undefined ? '' : `: ${block.notRun}`}`,
        async () => {
          const { code, output } = await run(block);
          expect(code, output).toBe(0);
        },
        300_000,
      );
    }
  });
});
