import { testCli } from './cli-suite.js';

await testCli({
  name: 'gemini',
  packageName: '@google/gemini-cli',
  tools: [
    'activate_skill',
    'glob',
    'grep_search',
    'list_background_processes',
    'list_directory',
    'read_background_output',
    'read_file',
    'replace',
    'run_shell_command',
    'write_file',
  ],
  refused: 0,
  statesReasoning: true,
  tracesRunningCommands: true,
  // The model is a part of the path.
  oddModel: null,
});
