import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { M4BenchError } from '../support/errors.js';

/**
 * Asks for a password without showing it; from a pipe, the first line of standard input. It is never an option of a
 * command, where other users of the machine and the shell's history would see it.
 */
export async function askPassword(prompt: string): Promise<string> {
  const isTerminal = process.stdin.isTTY === true;
  // What readline would echo goes nowhere; the prompt itself is written beside it.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (isTerminal) process.stderr.write(`${prompt}: `);
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: isTerminal });
  try {
    const password = await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () =>
        reject(new M4BenchError('INTERRUPTED', 'No password was given.', 'Run the command again.')),
      );
      lines.once('close', () => resolve(''));
    });
    if (password !== '') return password;
    throw new M4BenchError(
      'DOWNLOAD_LOGIN_MISSING',
      'No password was given.',
      'Run the command again in a terminal, or pipe the password into it.',
    );
  } finally {
    lines.close();
    if (isTerminal) process.stderr.write('\n');
  }
}
