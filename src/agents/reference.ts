import { M4BenchError } from '../support/errors.js';
import type { Agent } from './agent.js';
import { builtInAgent } from './built-in.js';

const HANDED = '.answer/answer.csv';

/**
 * Writes the right answer, which the harness hands it: proves that a task can be solved and that the whole path
 * from sandbox to score works. No run of it may be published.
 */
export function referenceAgent(): Agent {
  return builtInAgent('reference', { isHandedTheAnswer: true }, async (request) => {
    if (request.answerFile === undefined) {
      throw new M4BenchError(
        'ANSWER_MISSING',
        'The agent reference was handed no answer.',
        'Build the reference of this task and dataset first (m4bench references build).',
      );
    }
    return {
      command: ['cp', `./${HANDED}`, './output.csv'],
      workFiles: [{ path: HANDED, content: { copyOf: request.answerFile } }],
    };
  });
}
