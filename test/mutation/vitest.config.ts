import { defineConfig } from 'vitest/config';

/** What judges the mutants of `npm run test:mutation`: the tests of scoring and analysis, and nothing slower. */
export default defineConfig({
  test: {
    include: ['src/evaluation/**/*.test.ts', 'src/analysis/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'src/evaluation/{fuzz,large-outputs,properties}.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
