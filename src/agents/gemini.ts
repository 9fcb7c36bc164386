import type { Agent, AgentLaunch, AgentRequest } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { findNodeProgram, probeProgram, programOrThrow } from './cli-program.js';
import { resolveEffort } from './effort.js';
import { PLACEHOLDER_KEY, providerUrl } from './gateway-address.js';
import { readGeminiTrace } from './gemini-trace.js';
import type { CliPackage } from './installed-package.js';
import { readingOf } from './transcript.js';

const GEMINI: CliPackage = {
  agent: 'gemini',
  title: 'Gemini CLI',
  packageName: '@google/gemini-cli',
  bin: 'gemini',
};
const MAIN = 'bundle/gemini.js';
const DEFAULT_PROVIDER = 'gemini';

/** The folder that the CLI takes for the user's home; its settings are in `.gemini` below. */
const HOME_FOLDER = '.gemini/home';

/** Tools that reach beyond the gateway, ask a person or start other agents. */
const TOOLS_OFF: readonly string[] = [
  'google_web_search',
  'web_fetch',
  'ask_user',
  'invoke_agent',
  'update_topic',
];

/** Names of version 0.61; others ignore unknown ones. */
const SETTINGS = {
  security: {
    // Said here because the CLI (since 0.44) refuses the type that it derives from a base URL.
    auth: { selectedType: 'gemini-api-key' },
    folderTrust: { enabled: false },
    blockGitExtensions: true,
  },
  general: {
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    plan: { enabled: false },
    topicUpdateNarration: false,
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  ide: { enabled: false },
  tools: { exclude: TOOLS_OFF, shell: { enableInteractiveShell: false } },
  experimental: { enableAgents: false },
  // The CLI's own; those of the work folder stay.
  skills: { disabled: ['skill-creator', 'antigravity-support'] },
  hooksConfig: { enabled: false },
} as const;

/** Google's Gemini CLI (`@google/gemini-cli`), run without a terminal against the gateway. */
export function geminiAgent(settings: AgentSettings): Agent {
  const agent: Agent = {
    name: 'gemini',
    needsModel: true,
    isHandedTheAnswer: false,
    skillFolder: '.gemini/skills',
    // Its thinking is set per model and has no levels on the command line.
    efforts: [],
    autoEffort: 'default',
    probe: () => probeProgram(GEMINI, findNodeProgram(GEMINI, MAIN, settings), settings),
    launch: async (request) => {
      const program = programOrThrow(GEMINI, findNodeProgram(GEMINI, MAIN, settings));
      return {
        command: [...program.command, ...geminiArguments(agent, request)],
        environment: {
          GEMINI_CLI_HOME: `${request.workPath}/${HOME_FOLDER}`,
          GEMINI_API_KEY: PLACEHOLDER_KEY,
          GOOGLE_GEMINI_BASE_URL: providerUrl(agent.name, request, DEFAULT_PROVIDER),
          // Would start itself a second time for more memory.
          GEMINI_CLI_NO_RELAUNCH: 'true',
          NO_BROWSER: '1',
        },
        // Also what makes the CLI run without a terminal.
        stdin: request.instruction,
        inputs: program.inputs,
        workFiles: [
          {
            path: `${HOME_FOLDER}/.gemini/settings.json`,
            content: { text: `${JSON.stringify(SETTINGS, null, 2)}\n` },
          },
        ],
      } satisfies AgentLaunch;
    },
    readTranscript: readGeminiTrace,
    readTrace: async (tracePath) => readingOf(await readGeminiTrace(tracePath)),
  };
  return agent;
}

/** Arguments of the CLI; its own sandbox stays off, ours is the boundary. */
export function geminiArguments(agent: Agent, request: AgentRequest): readonly string[] {
  resolveEffort(agent, request.effort);
  return [
    '--approval-mode=yolo',
    '--skip-trust',
    '--output-format=stream-json',
    ...(request.model === undefined ? [] : [`--model=${request.model}`]),
  ];
}
