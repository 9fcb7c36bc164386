import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { homeAt } from '../support/home.js';
import { completionsOf, valuesFrom } from './completion.js';
import { completionScripts } from './completion-scripts.js';
import { buildProgram } from './main.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-completion-'));
  await mkdir(join(folder, 'home', 'campaigns', 'tonight'), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const values = valuesFrom(homeAt(join(folder, 'home')), {});
  const { suggestions, allowsFiles } = await completionsOf(buildProgram(), words, values);
  return [...suggestions.map(({ value }) => value), ...(allowsFiles ? ['FILES'] : [])];
}

describe('completion', () => {
  test('offers commands and their sub-commands, none that is hidden', async () => {
    expect(await complete('da')).toEqual(['data']);
    expect(await complete('comp')).toEqual(['completion']);
    expect(await complete('tasks', '')).toEqual(['list', 'show', 'lint', 'new']);
  });

  test('offers tasks, campaigns, agents and choices where they belong', async () => {
    expect(await complete('run', 'mimic-meld')).toEqual(['mimic-meld-24h', 'mimic-meld-24h-raw']);
    expect(await complete('run', 'mimic-meld-24h', '--agent', 'co')).toEqual(['codex']);
    expect(await complete('run', '--agent', '=', 'co')).toEqual(['codex']);
    expect(await complete('run', '--effort', 'x')).toEqual(['xhigh']);
    expect(await complete('--home', 'elsewhere', 'run', '--condition', 'no')).toEqual(['no-skill']);
    expect(await complete('analyze', 'to')).toEqual(['tonight']);
    expect(await complete('completion', 'z')).toEqual(['zsh']);
  });

  test('offers options of the command and of the program', async () => {
    const options = await complete('evaluate', '--');
    expect(options).toEqual(expect.arrayContaining(['--reference', '--json', '--tasks', '--help']));
    expect(await complete('evaluate', '--sc')).toEqual(['--scores-only']);
  });

  test('leaves files to the shell where a file is meant', async () => {
    expect(await complete('evaluate', 'mimic-meld-24h', 'out')).toEqual(['FILES']);
    expect(await complete('evaluate', '--reference', '')).toEqual(['FILES']);
    expect(await complete('doctor', '')).toEqual([]);
  });
});

describe('the script of bash', () => {
  test('fills in what the program says, and evaluates nothing that is typed', async () => {
    const program = join(folder, 'm4bench');
    await writeFile(
      program,
      '#!/bin/sh\nprintf "%s\\n" "$@" > "$SEEN"\nprintf "codex\\tan agent\\nclaude\\t\\n:4\\n"\n',
    );
    await chmod(program, 0o755);
    const script = `${completionScripts.bash}
COMP_WORDS=(m4bench run '$(touch '"$OUCH"')' --agent 'c'); COMP_CWORD=4; _m4bench; printf '%s ' "\${COMPREPLY[@]}"; cat "$SEEN"`;
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', script], {
      env: { PATH: `${folder}:${process.env.PATH}`, SEEN: join(folder, 'seen'), OUCH: join(folder, 'ouch') },
    });
    expect(stdout).toBe(`codex claude complete\n--\nrun\n$(touch ${join(folder, 'ouch')})\n--agent\nc\n`);
  });
});
