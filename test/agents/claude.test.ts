import { expect, test } from 'vitest';
import { testCli } from './cli-suite.js';

await testCli(
  {
    name: 'claude',
    packageName: '@anthropic-ai/claude-code',
    tools: ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Skill', 'TaskOutput', 'TaskStop', 'Write'],
    // It opens its connection ahead of time with a HEAD request.
    refused: 1,
    statesReasoning: false,
    tracesRunningCommands: true,
    oddModel: 'org/qwen3:4b',
  },
  (play) => {
    test('asks for the effort that is resolved, and at another provider for the one model in every slot', async () => {
      const played = await play(
        [{ shell: 'env | grep _MODEL= | sort; echo x > output.csv' }, { message: 'Done.' }],
        {
          model: 'org/claude-like',
          route: { name: 'local', keyHeader: 'authorization-bearer', protocols: ['anthropic-messages'] },
          request: { provider: 'local', effort: 'low' },
        },
      );
      expect(played.output).toBe('x\n');
      expect(played.transcript.turns[0]?.calls[0]?.output?.split('\n')).toEqual([
        'ANTHROPIC_DEFAULT_HAIKU_MODEL=org/claude-like',
        'ANTHROPIC_DEFAULT_OPUS_MODEL=org/claude-like',
        'ANTHROPIC_DEFAULT_SONNET_MODEL=org/claude-like',
      ]);
      expect(played.server.exchangesOf('org/claude-like')[0]?.body).toMatchObject({
        output_config: { effort: 'low' },
      });
    });

    test('has a default model of its own', async () => {
      const played = await play([{ shell: 'echo x > output.csv' }, { message: 'Done.' }], { model: null });
      expect(played.verdict.class).toBe('judged');
      expect(played.summary.models).toHaveLength(1);
      expect(played.summary.models[0]).toMatch(/^claude-/);
      expect(played.trace.models).toEqual(played.summary.models);
    });
  },
);
