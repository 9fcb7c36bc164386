import { readdirSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';

// A failed property judges a mutant; its smallest counterexample says no more.
fc.configureGlobal({ endOnFailure: true });

const folder = path.resolve(import.meta.dirname, '../../src', process.env.M4BENCH_MUTANTS_OF!);
/** Slow, and they judge little. */
const left = new Set([
  'fuzz.test.ts',
  'large-outputs.test.ts',
  'properties.test.ts',
  'published-tables.test.ts',
]);
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
  if (file.endsWith('.test.ts') && !left.has(path.basename(file))) await import(path.join(folder, file));
