import { join } from 'node:path';
import { defineConfig } from 'vite';

const folder = import.meta.dirname;

/**
 * The browser's part of the pages: one classic script and one style sheet with the fonts inside. Browsers load no
 * ES module from `file://`, and a report must open from there.
 */
export default defineConfig({
  root: folder,
  publicDir: false,
  logLevel: 'warn',
  build: {
    outDir: join(folder, '..', '..', '..', 'dist', 'viewer'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    lib: {
      entry: join(folder, 'main.tsx'),
      formats: ['iife'],
      name: 'm4bench',
      fileName: () => 'viewer.js',
      cssFileName: 'viewer',
    },
  },
});
