import { M4BenchError } from '../support/errors.js';
import type { Agent, AgentLaunch, AgentRequest, Effort } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { findNativeProgram, probeProgram, programOrThrow } from './cli-program.js';
import { resolveEffort } from './effort.js';
import { PLACEHOLDER_KEY, providerUrl } from './gateway-address.js';
import type { CliPackage } from './installed-package.js';
import { readOpencodeTrace } from './opencode-trace.js';
import { readingOf } from './transcript.js';

const OPENCODE: CliPackage = {
  agent: 'opencode',
  title: 'OpenCode CLI',
  packageName: 'opencode-ai',
  bin: 'opencode',
};
const DEFAULT_PROVIDER = 'local';
/** Name of the one provider in the CLI's configuration. */
const PROVIDER = 'm4bench';

const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** Drivers that are part of the program (others would be downloaded), by provider, and the path of their base URL. */
const DRIVERS: Readonly<Record<string, { readonly npm: string; readonly path: string }>> = {
  openai: { npm: '@ai-sdk/openai', path: '/v1' },
  anthropic: { npm: '@ai-sdk/anthropic', path: '/v1' },
  gemini: { npm: '@ai-sdk/google', path: '/v1beta' },
};
const COMPATIBLE = { npm: '@ai-sdk/openai-compatible', path: '/v1' };

/** Switches that the CLI reads from its environment. */
const SWITCHES: Readonly<Record<string, string>> = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_SHARE: '1',
  // No skills and instructions but those that the harness placed.
  OPENCODE_DISABLE_CLAUDE_CODE: '1',
  OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
};

/**
 * What the model may not do: reach the network, start other agents, ask a person, or read the CLI's own skill.
 * Everything else is allowed; our sandbox is the boundary.
 */
const PERMISSIONS = {
  '*': 'allow',
  webfetch: 'deny',
  websearch: 'deny',
  codesearch: 'deny',
  task: 'deny',
  question: 'deny',
  skill: { '*': 'allow', 'customize-opencode': 'deny' },
} as const;

/** OpenCode (`opencode-ai`), run as `opencode run --format json` against the gateway. */
export function opencodeAgent(settings: AgentSettings): Agent {
  const agent: Agent = {
    name: 'opencode',
    needsModel: true,
    isHandedTheAnswer: false,
    skillFolder: '.opencode/skills',
    efforts: EFFORTS,
    // Which efforts a model knows is not known here.
    autoEffort: 'default',
    probe: () => probeProgram(OPENCODE, findProgram(settings), settings),
    launch: async (request) => {
      const program = programOrThrow(OPENCODE, findProgram(settings));
      return {
        command: [...program.command, ...ARGUMENTS],
        environment: {
          ...SWITCHES,
          OPENCODE_CONFIG_CONTENT: JSON.stringify(configuration(agent, request)),
        },
        stdin: request.instruction,
        inputs: program.inputs,
        workFiles: [],
        overrides: [`small_model=${request.model}`],
      } satisfies AgentLaunch;
    },
    readTranscript: readOpencodeTrace,
    readTrace: async (tracePath) => readingOf(await readOpencodeTrace(tracePath)),
  };
  return agent;
}

/** With a title none is asked of a model. */
const ARGUMENTS: readonly string[] = ['run', '--format=json', '--pure', '--title=m4bench'];

/** The CLI's configuration, given in the environment and none by file. */
export function configuration(agent: Agent, request: AgentRequest): Readonly<Record<string, unknown>> {
  const { model } = request;
  if (model === undefined) {
    throw new M4BenchError(
      'MODEL_MISSING',
      'The agent opencode has no default model of its own.',
      'Name one with --model, as the server of the provider calls it.',
    );
  }
  const effort = resolveEffort(agent, request.effort);
  const { npm, path } = DRIVERS[request.provider ?? DEFAULT_PROVIDER] ?? COMPATIBLE;
  const id = `${PROVIDER}/${model}`;
  return {
    model: id,
    small_model: id,
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    lsp: false,
    formatter: false,
    enabled_providers: [PROVIDER],
    permission: PERMISSIONS,
    provider: {
      [PROVIDER]: {
        npm,
        name: PROVIDER,
        options: {
          baseURL: `${providerUrl(agent.name, request, DEFAULT_PROVIDER)}${path}`,
          apiKey: PLACEHOLDER_KEY,
        },
        models: {
          [model]: { name: model, ...(effort === undefined ? {} : { options: { reasoningEffort: effort } }) },
        },
      },
    },
  };
}

function findProgram(settings: AgentSettings) {
  const isKnown = ['linux', 'darwin'].includes(process.platform) && ['x64', 'arm64'].includes(process.arch);
  const layout = isKnown
    ? {
        platformPackage: `opencode-${process.platform}-${process.arch}`,
        folder: '',
        programs: ['bin/opencode'],
      }
    : undefined;
  return findNativeProgram(OPENCODE, layout, settings);
}
