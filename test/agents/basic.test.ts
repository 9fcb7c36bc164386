import { expect, test } from 'vitest';
import { testCli, testOtherProviders } from './cli-suite.js';

await testCli(
  {
    name: 'basic',
    packageName: null,
    tools: ['bash'],
    refused: 0,
    statesReasoning: true,
    tracesRunningCommands: true,
    oddModel: 'org/qwen3:4b',
  },
  (play) => {
    testOtherProviders(play);

    test('shows the model the beginning and the end of a long output, and its exit status', async () => {
      const { server, transcript } = await play([
        { shell: 'echo begin; head -c 100000 /dev/zero | tr "\\0" x; echo end; exit 7' },
        { message: 'Done.' },
      ]);
      const seen = JSON.stringify(server.exchanges.at(-1)?.body);
      expect(seen).toContain('begin\\nxxx');
      // begin, newline, 100,000 times x, end, newline: 100,010 characters, of which 30,000 are shown.
      expect(seen).toContain('[70010 characters left out]');
      expect(seen).toContain('xend\\n\\n[exit status 7]');
      expect(transcript.turns[0]?.calls[0]).toMatchObject({ status: 'failed', exitCode: 7 });
    });
  },
);
