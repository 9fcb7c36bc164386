import { testCli, testOtherProviders } from './cli-suite.js';

await testCli(
  {
    name: 'pi',
    packageName: '@mariozechner/pi-coding-agent',
    tools: ['bash', 'edit', 'read', 'write'],
    refused: 0,
    statesReasoning: true,
    tracesRunningCommands: true,
    oddModel: 'org/qwen3:4b',
  },
  testOtherProviders,
);
