import type { RunResult } from '../runs/result.js';

/** A word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The command that makes this run again. */
export function runAgainCommand({ cell, trial }: RunResult): string {
  const options: readonly (readonly [string, string | null])[] = [
    ['--dataset', cell.dataset],
    ['--condition', cell.condition],
    ['--schema', cell.schema === 'native' ? null : cell.schema],
    ['--agent', cell.agent],
    ['--model', cell.model],
    ['--effort', cell.effort],
    ['--protocol', cell.protocol],
    ['--trial', String(trial)],
  ];
  const words = options.flatMap(([name, value]) => (value === null ? [] : [name, shellWord(value)]));
  const login = cell.auth === 'login' ? ['--login'] : [];
  return ['m4bench run', shellWord(cell.task), ...words, ...login].join(' ');
}
