import { testCli } from './cli-suite.js';

await testCli({
  name: 'claude',
  packageName: '@anthropic-ai/claude-code',
  tools: ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Skill', 'TaskOutput', 'TaskStop', 'Write'],
  // It opens its connection ahead of time with a HEAD request.
  refused: 1,
  statesReasoning: false,
  tracesRunningCommands: true,
  oddModel: 'org/qwen3:4b',
});
