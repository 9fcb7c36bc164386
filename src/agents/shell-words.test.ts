import { expect, test } from 'vitest';
import { withoutShell } from './shell-words.js';

test.each([
  ["/bin/bash -c 'cat instruction.md'", 'cat instruction.md'],
  ['bash -lc ls', 'ls'],
  [`/bin/bash -c "printf 'a\\\\n' > output.csv"`, "printf 'a\\n' > output.csv"],
  [`sh -c "echo \\"\\$HOME\\" \\x"`, 'echo "$HOME" \\x'],
  [`/usr/bin/zsh -c 'echo '\\''quoted'\\'''`, "echo 'quoted'"],
  ["bash -c ''", ''],
])('the script of %s is %s', (commandLine, script) => {
  expect(withoutShell(commandLine)).toBe(script);
});

test.each(['ls -l', "bash -c 'one' two", 'bash script.sh', "bash -c 'no end", 'python -c "1"', ''])(
  'the command line %s stays as it is',
  (commandLine) => {
    expect(withoutShell(commandLine)).toBe(commandLine);
  },
);
