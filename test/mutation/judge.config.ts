import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { instrumented, mutatedFiles } from './instrumented.js';

/** What `judge.ts` runs: all tests of one folder in one process, over sources that hold every mutant behind a switch. */
export default defineConfig(async () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const { plugin } = await instrumented(root, mutatedFiles(root, process.env.M4BENCH_MUTANTS_OF!));
  return {
    plugins: [plugin],
    test: {
      root,
      include: ['test/mutation/all-tests.judged.ts'],
      runner: path.join(import.meta.dirname, 'judge-runner.ts'),
      pool: 'forks' as const,
      maxWorkers: 1,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      teardownTimeout: 1000,
    },
  };
});
