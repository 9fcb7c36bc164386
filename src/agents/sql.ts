import { DuckSession } from '../duck/session.js';
import { parseSelect } from '../duck/syntax-tree.js';
import { M4BenchError } from '../support/errors.js';
import type { Agent } from './agent.js';
import { builtInAgent } from './built-in.js';

const SCRIPT = 'query.sql';

/**
 * Plays a person's SQL file on the task database, inside the sandbox: one bare SELECT becomes `output.csv`, anything
 * else is a script that writes `./output.csv` itself (`copy … to './output.csv'`).
 */
export function sqlAgent(): Agent {
  return builtInAgent('sql', {}, async (request) => {
    if (request.sqlText === undefined || request.sqlText.trim() === '') {
      throw new M4BenchError(
        'SQL_MISSING',
        'The agent sql was given no query.',
        'Name an SQL file that is not empty.',
      );
    }
    return {
      command: ['duckdb', './database.duckdb', '-c', `.read ./${SCRIPT}`],
      workFiles: [{ path: SCRIPT, content: { text: await scriptFor(request.sqlText) } }],
    };
  });
}

/** The script that is played. The text of a SELECT is kept as it is, with its comments and final semicolon. */
export async function scriptFor(sqlText: string): Promise<string> {
  if (!(await isOneSelect(sqlText))) return sqlText;
  return [
    'create temp table m4bench_answer as',
    sqlText,
    ';',
    "copy m4bench_answer to './output.csv' (format csv, header);",
    '',
  ].join('\n');
}

async function isOneSelect(sqlText: string): Promise<boolean> {
  await using session = await DuckSession.open({ threads: 1, memoryBytes: 64 * 1024 ** 2 });
  try {
    await parseSelect(session, sqlText, 'the query');
    return true;
  } catch (thrown) {
    // A script, or a mistake, which the engine inside the sandbox reports in its own words.
    if (thrown instanceof M4BenchError && thrown.code === 'SQL_INVALID') return false;
    throw thrown;
  }
}
