import { testCli } from './cli-suite.js';

await testCli({
  name: 'codex',
  packageName: '@openai/codex',
  tools: ['exec_command', 'request_user_input', 'view_image', 'write_stdin'],
  refused: 0,
  statesReasoning: true,
  tracesRunningCommands: true,
  oddModel: 'org/qwen3:4b',
});
