import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { M4BenchError, reasonOf } from '../support/errors.js';
import { cleanForTerminal } from '../support/terminal.js';
import { collect } from './options.js';

/** What a new task needs and a terminal asks for. */
export interface TaskAnswers {
  title?: string;
  reference?: string;
  keys?: readonly string[];
  grain?: string;
  describe?: string;
  tolerance?: Readonly<Record<string, number>>;
  removes?: readonly string[];
}

interface Question {
  readonly name: keyof TaskAnswers;
  readonly text: string;
  /** False where an empty answer means none. */
  readonly isNeeded: boolean;
}

/** In the order in which a terminal asks. */
export const taskQuestions: readonly Question[] = [
  { name: 'title', text: 'Title of the task, such as "Length of ICU stay"', isNeeded: true },
  { name: 'reference', text: 'File with the right answer as one SELECT', isNeeded: true },
  { name: 'keys', text: 'Columns that identify a row, comma separated', isNeeded: true },
  { name: 'grain', text: 'What one row stands for, such as "one row per ICU stay"', isNeeded: true },
  { name: 'describe', text: 'What the agent is asked for, in clinical words', isNeeded: true },
  {
    name: 'tolerance',
    text: 'Largest difference that still counts as equal, such as hours=0.05; empty for none',
    isNeeded: false,
  },
  {
    name: 'removes',
    text: 'Relations that hold the answer and are to be absent, comma separated; empty for none',
    isNeeded: false,
  },
];

export interface AskOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Columns that a query returns; throws for one that does not run. */
  readonly columnsOf: (query: string) => Promise<readonly { readonly name: string; readonly type: string }[]>;
  /** Tolerances by column from `column=n,…`; throws for anything else. */
  readonly parseTolerance: (text: string) => Readonly<Record<string, number>>;
}

/**
 * Asks for what is missing and asks again for what cannot be: a file that is not there, a query that does not run, a
 * column that it does not return. Throws `INTERRUPTED` when the input ends.
 */
export async function askForTask(given: Readonly<TaskAnswers>, options: AskOptions): Promise<TaskAnswers> {
  const reader = createInterface({ input: options.input, terminal: false });
  try {
    return await answersFrom(reader[Symbol.asyncIterator](), given, options);
  } finally {
    reader.close();
  }
}

async function answersFrom(
  lines: AsyncIterator<string>,
  given: Readonly<TaskAnswers>,
  options: AskOptions,
): Promise<TaskAnswers> {
  const answers: TaskAnswers = { ...given };
  const say = (text: string): void => void options.output.write(text);
  const columns = new Map<string, string>();
  for (const { name, text, isNeeded } of taskQuestions) {
    if (answers[name] !== undefined) continue;
    for (;;) {
      if (columns.size === 0 && answers.reference !== undefined)
        for (const column of await options.columnsOf(await queryIn(answers.reference)))
          columns.set(column.name, column.type);
      say(`${text}: `);
      const { value, done } = await lines.next();
      if (done === true) {
        throw new M4BenchError(
          'INTERRUPTED',
          'The questions were not answered; nothing was written.',
          'Start the command again, or give the flags.',
        );
      }
      const answer = value.trim();
      if (answer === '') {
        if (!isNeeded) break;
        say('  An answer is needed.\n');
        continue;
      }
      try {
        await take(name, answer, answers, columns, options);
        if (name === 'reference')
          say(`  It returns ${[...columns].map((column) => column.join(' ')).join(', ')}.\n`);
        break;
      } catch (thrown) {
        say(`  ${cleanForTerminal(reasonOf(thrown))}\n`);
      }
    }
  }
  return answers;
}

const queryIn = async (file: string): Promise<string> => await readFile(file, 'utf8');

async function take(
  name: keyof TaskAnswers,
  answer: string,
  answers: TaskAnswers,
  columns: Map<string, string>,
  options: AskOptions,
): Promise<void> {
  const known = (names: readonly string[]): readonly string[] => {
    const unknown = names.find((one) => !columns.has(one));
    if (unknown !== undefined)
      throw new Error(`The reference has no column ${unknown}; it has ${[...columns.keys()].join(', ')}.`);
    return names;
  };
  switch (name) {
    case 'reference':
      for (const column of await options.columnsOf(await queryIn(answer)))
        columns.set(column.name, column.type);
      answers.reference = answer;
      return;
    case 'keys':
      answers.keys = known(collect(answer, undefined));
      return;
    case 'tolerance': {
      const tolerance = options.parseTolerance(answer);
      known(Object.keys(tolerance));
      answers.tolerance = tolerance;
      return;
    }
    case 'removes':
      answers.removes = collect(answer, undefined);
      return;
    default:
      answers[name] = answer;
  }
}
