import { extname } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import type { Agent } from './agent.js';
import { builtInAgent } from './built-in.js';

const PARQUET_COPY = './.answer/answer.parquet';
const CSV_COPY = './.answer/answer.csv';

/**
 * Writes the right answer, which the harness hands it: proves that a task can be solved and that the whole path
 * from sandbox to score works. No run of it may be published.
 */
export function referenceAgent(): Agent {
  return builtInAgent('reference', { isHandedTheAnswer: true }, async (request) => {
    const answer = request.answerFile;
    if (answer === undefined) {
      throw new M4BenchError(
        'ANSWER_MISSING',
        'The agent reference was handed no answer.',
        'Build the reference of this task and dataset first (m4bench references build).',
      );
    }
    const isParquet = extname(answer).toLowerCase() === '.parquet';
    const path = isParquet ? PARQUET_COPY : CSV_COPY;
    return {
      command: isParquet
        ? ['duckdb', ':memory:', '-c', `copy (from '${path}') to './output.csv' (format csv, header)`]
        : ['cp', path, './output.csv'],
      workFiles: [{ path: path.slice(2), content: { copyOf: answer } }],
    };
  });
}
