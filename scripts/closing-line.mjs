// Prints "N passed, N failed, N skipped" from a Vitest JSON report, and fails when no test ran.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const {
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: pending,
  numTodoTests: todo,
} = report;
console.log(`${passed} passed, ${failed} failed, ${pending + todo} skipped`);
if (passed === 0 || failed > 0) process.exitCode = 1;
