import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { helpExamples } from './help-examples.js';
import { buildProgram, wordsAsked } from './main.js';

interface Leaf {
  readonly name: string;
  readonly command: Command;
}

function leaves(command: Command, parent = ''): readonly Leaf[] {
  return command.commands.flatMap((inner) => {
    const name = `${parent}${inner.name()}`;
    if (name === 'complete') return [];
    return inner.commands.length > 0 ? leaves(inner, `${name} `) : [{ name, command: inner }];
  });
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

const examplesIn = (help: string): readonly string[] =>
  help
    .replace(/ \\\n\s*/g, ' ')
    .split('\n')
    .flatMap(
      (line) =>
        /^ {2}(m4bench .+)$/
          .exec(line)?.[1]
          ?.replace(/\s{2,}#.*$/, '')
          .split(' && ')
          .filter((part) => part.startsWith('m4bench ')) ?? [],
    );

/** Words of a command line; quotes keep blanks together. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);

/** Parses a call without doing anything; what is wrong with it, or undefined. */
async function complaintOf(line: string): Promise<string | undefined> {
  const program = buildProgram();
  let reached = false;
  const disarm = (command: Command): void => {
    command.configureOutput({ writeErr: () => {}, writeOut: () => {} });
    if (command.commands.length === 0)
      command.action(() => {
        reached = true;
      });
    for (const inner of command.commands) disarm(inner);
  };
  disarm(program);
  try {
    await program.parseAsync(wordsOf(line).slice(1) as string[], { from: 'user' });
  } catch (thrown) {
    return String(thrown);
  }
  return reached ? undefined : 'it reaches no command';
}

const all = leaves(buildProgram());

describe('the help', () => {
  test.each(all.map(({ name, command }) => [name, command] as const))(
    'of %s says what it does, shows an example that is accepted, and the options of the program',
    async (name, command) => {
      const help = helpOf(command);
      expect(command.description()).not.toBe('');
      expect(help).toContain('Global Options:');
      const examples = examplesIn(help);
      expect(
        examples.some((line) => line.startsWith(`m4bench ${name}`)),
        help,
      ).toBe(true);
      for (const line of examples) expect(await complaintOf(line.replace(/ > .*/, '')), line).toBeUndefined();
    },
  );

  test('examples belong to commands that exist', () => {
    const names = all.map(({ name }) => name);
    expect(Object.keys(helpExamples).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('`help` reaches commands of any depth', () => {
    expect(wordsAsked(['help', 'campaign', 'run'])).toEqual(['campaign', 'run', '--help']);
    expect(wordsAsked(['help', 'campaign'])).toEqual(['help', 'campaign']);
    expect(wordsAsked(['run', 'help', 'x'])).toEqual(['run', 'help', 'x']);
  });

  test('a mistyped command and option are answered with the nearest', async () => {
    const said = async (...words: string[]): Promise<string> => {
      const program = buildProgram();
      let text = '';
      const listen = (command: Command): void => {
        command.configureOutput({ writeErr: (part) => (text += part) });
        for (const inner of command.commands) listen(inner);
      };
      listen(program);
      await program.parseAsync(words, { from: 'user' }).catch(() => undefined);
      return text;
    };
    expect(await said('evalute')).toContain('Did you mean evaluate?');
    expect(await said('data', 'imprt')).toContain('Did you mean import?');
    expect(await said('evaluate', 'a', 'b', '--datset', 'x')).toContain('Did you mean --dataset?');
  });
});
