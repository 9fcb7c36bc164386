import { expect, test } from 'vitest';
import type { Scenario } from '../model-server/scenario.js';
import { testCli } from './cli-suite.js';

await testCli(
  {
    name: 'codex',
    packageName: '@openai/codex',
    tools: ['exec_command', 'request_user_input', 'view_image', 'write_stdin'],
    refused: 0,
    statesReasoning: true,
    tracesRunningCommands: true,
    oddModel: 'org/qwen3:4b',
  },
  (play) => {
    test('takes its tools as a script with its default model, and works just so', async () => {
      const played = await play([{ shell: 'echo a,b > output.csv' }, { message: 'Done.' }], { model: null });
      expect(played.verdict.class).toBe('judged');
      expect(played.output).toBe('a,b\n');
      expect(played.summary.skillsOffered).toEqual(['sirs-score']);
      expect(played.trace.commands).toEqual(['echo a,b > output.csv']);
    });

    test('does not mix with a run beside it', async () => {
      const say = (text: string): Scenario => [
        { shell: `echo ${text} > output.csv; sleep 0.2` },
        { message: text },
      ];
      const played = await Promise.all(['one', 'two', 'three'].map((text) => play(say(text))));
      expect(played.map(({ output }) => output)).toEqual(['one\n', 'two\n', 'three\n']);
    });
  },
);
