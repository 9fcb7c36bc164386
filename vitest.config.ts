import { defineConfig } from 'vitest/config';

/** Where the processes that tests start leave their coverage; `scripts/coverage` sets and reads it. */
const processCoverage = process.env.M4BENCH_PROCESS_COVERAGE;

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // Set inside the workers, so that only their children are counted here.
    env: processCoverage === undefined ? {} : { NODE_V8_COVERAGE: processCoverage },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.{ts,tsx}'],
      exclude: ['src/**/*.test.ts', 'src/**/*.fixture.ts', 'src/**/test-*.ts', 'src/viewer/client/**'],
      reporter: ['html', 'json'],
      reportOnFailure: true,
    },
  },
});
