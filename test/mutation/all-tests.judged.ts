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
/** File names without `.test.ts`; empty for all. */
const chosen = process.env.M4BENCH_JUDGE_TESTS?.split(',').filter((name) => name !== '') ?? [];
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
  const name = path.basename(file);
  if (!name.endsWith('.test.ts') || left.has(name)) continue;
  if (chosen.length === 0 || chosen.includes(name.replace('.test.ts', '')))
    await import(path.join(folder, file));
}
