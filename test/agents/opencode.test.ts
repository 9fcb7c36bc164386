import { testCli, testOtherProviders } from './cli-suite.js';

await testCli(
  {
    name: 'opencode',
    packageName: 'opencode-ai',
    tools: ['bash', 'edit', 'glob', 'grep', 'read', 'skill', 'todowrite', 'write'],
    refused: 0,
    statesReasoning: true,
    tracesRunningCommands: false,
    oddModel: 'org/qwen3:4b',
  },
  testOtherProviders,
);
