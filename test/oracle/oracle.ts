/**
 * `npm run oracle`: builds every concept and reference on the two open demos and compares them with the expected
 * results, one line per table. Exit code 1 when anything differs that `exceptions.json` does not list.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/support/errors.js';
import { homeAt } from '../../src/support/home.js';
import type { Comparison } from './compare.js';
import { hasOracle, runOracle, testDataFolder } from './run-oracle.js';

function lineOf(name: string, { file, rows, excepted, needless, difference }: Comparison): string {
  const ties = excepted === 0 ? '' : ` (${excepted} rows by listed ties)`;
  const spare = needless === 0 ? '' : ` [${needless} listed rows do not differ]`;
  const verdict = difference === undefined ? `equal${ties}${spare}` : `DIFFERENT: ${difference}`;
  return `${name} ${file.padEnd(40)} ${String(rows).padStart(6)} rows  ${verdict}`;
}

async function main(): Promise<number> {
  if (!hasOracle()) {
    console.error(`There are no demos with expected results in ${testDataFolder()}; set M4BENCH_TEST_DATA.`);
    return 2;
  }
  const root = await mkdtemp(join(tmpdir(), 'm4bench-oracle-'));
  try {
    let tables = 0;
    let different = 0;
    for (const name of ['mimic-iv-demo', 'eicu-demo'] as const) {
      const { comparisons } = await runOracle(homeAt(root), name);
      for (const comparison of comparisons) console.log(lineOf(name, comparison));
      tables += comparisons.length;
      different += comparisons.filter((comparison) => comparison.difference !== undefined).length;
    }
    console.log(`${tables} tables, ${different} different`);
    return different === 0 ? 0 : 1;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (thrown: unknown) => {
    console.error(messageOf(thrown));
    process.exitCode = 1;
  },
);
