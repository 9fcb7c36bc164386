import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.{ts,tsx}'],
      exclude: ['src/**/*.test.ts', 'src/**/*.fixture.ts', 'src/**/test-*.ts', 'src/viewer/client/**'],
      reporter: ['text-summary', 'html', 'json-summary'],
      thresholds: { lines: 90 },
    },
  },
});
