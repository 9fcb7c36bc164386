import { defineConfig } from 'vitest/config';

/** Tests that drive the real CLIs: `npx vitest run --config test/agents/vitest.config.ts`. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    testTimeout: 150_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
