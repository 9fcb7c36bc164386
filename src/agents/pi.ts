import { M4BenchError } from '../support/errors.js';
import type { Agent, AgentLaunch, AgentRequest, Effort } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { findNodeProgram, probeProgram, programOrThrow } from './cli-program.js';
import { resolveEffort } from './effort.js';
import { PLACEHOLDER_KEY, providerUrl } from './gateway-address.js';
import type { CliPackage } from './installed-package.js';
import { readPiTrace } from './pi-trace.js';
import { readingOf } from './transcript.js';

const PI: CliPackage = {
  agent: 'pi',
  title: 'Pi coding agent',
  packageName: '@mariozechner/pi-coding-agent',
  bin: 'pi',
};
const MAIN = 'dist/cli.js';
/** Ollama and any other server that speaks the OpenAI APIs. */
const DEFAULT_PROVIDER = 'local';

const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh'];

/** The CLI's own folder of settings and models, in the work folder: nothing else of its making is read. */
const AGENT_FOLDER = '.pi/agent';

/** Name of the one provider in the CLI's configuration. */
const PROVIDER = 'm4bench';

/** The API that the CLI speaks to a provider, and the path of its base URL; any other is OpenAI-compatible. */
const APIS: Readonly<Record<string, { readonly api: string; readonly path: string }>> = {
  openai: { api: 'openai-responses', path: '/v1' },
  anthropic: { api: 'anthropic-messages', path: '' },
  gemini: { api: 'google-generative-ai', path: '/v1beta' },
};
const COMPATIBLE = { api: 'openai-completions', path: '/v1' };

/**
 * Drops the events that repeat a growing message with every piece of it: their size grows with the square of the
 * message's. The text is fixed and the command follows as arguments; the exit status is the command's.
 */
const WITHOUT_UPDATES = [
  '/bin/bash',
  '-p',
  '-c',
  'set -o pipefail; "$@" | { LC_ALL=C grep --text --line-buffered --invert-match --extended-regexp \'^\\{"type":"(message|tool_execution)_update"\' || [ $? -eq 1 ]; }',
  'without-updates',
];

/** Pi (`@mariozechner/pi-coding-agent`), run as `pi --print --mode json` against the gateway. */
export function piAgent(settings: AgentSettings): Agent {
  const agent: Agent = {
    name: 'pi',
    needsModel: true,
    isHandedTheAnswer: false,
    skillFolder: '.pi/skills',
    efforts: EFFORTS,
    // Which thinking a local model knows is not known here.
    autoEffort: 'default',
    probe: () => probeProgram(PI, findNodeProgram(PI, MAIN, settings), settings),
    launch: async (request) => {
      const program = programOrThrow(PI, findNodeProgram(PI, MAIN, settings));
      return {
        command: [...WITHOUT_UPDATES, ...program.command, ...piArguments(agent, request)],
        environment: {
          PI_CODING_AGENT_DIR: `${request.workPath}/${AGENT_FOLDER}`,
          PI_OFFLINE: '1',
          PI_SKIP_VERSION_CHECK: '1',
          PI_TELEMETRY: '0',
        },
        stdin: request.instruction,
        inputs: program.inputs,
        workFiles: configuration(agent, request),
      } satisfies AgentLaunch;
    },
    readTranscript: readPiTrace,
    readTrace: async (tracePath) => readingOf(await readPiTrace(tracePath)),
  };
  return agent;
}

/** Arguments of the CLI. The model is named in the settings: as an argument, colons and slashes in it have a meaning. */
export function piArguments(agent: Agent, request: AgentRequest): readonly string[] {
  const effort = resolveEffort(agent, request.effort);
  return [
    '--print',
    '--mode',
    'json',
    '--no-session',
    '--offline',
    '--no-extensions',
    '--no-context-files',
    '--no-prompt-templates',
    '--no-themes',
    ...(effort === undefined ? [] : ['--thinking', effort]),
  ];
}

/** The CLI's settings and the model that it is to use. */
function configuration(agent: Agent, request: AgentRequest): AgentLaunch['workFiles'] {
  const { model } = request;
  if (model === undefined) {
    throw new M4BenchError(
      'MODEL_MISSING',
      'The agent pi has no default model of its own.',
      'Name one with --model, as the server of the provider calls it.',
    );
  }
  const { api, path } = APIS[request.provider ?? DEFAULT_PROVIDER] ?? COMPATIBLE;
  const models = {
    providers: {
      [PROVIDER]: {
        baseUrl: `${providerUrl(agent.name, request, DEFAULT_PROVIDER)}${path}`,
        api,
        apiKey: PLACEHOLDER_KEY,
        // What servers such as Ollama, vLLM and llama.cpp do not all know.
        compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: 'max_tokens' },
        models: [{ id: model, reasoning: resolveEffort(agent, request.effort) !== undefined }],
      },
    },
  };
  const settings = {
    defaultProvider: PROVIDER,
    defaultModel: model,
    enableInstallTelemetry: false,
    quietStartup: true,
  };
  const file = (name: string, content: unknown) => ({
    path: `${AGENT_FOLDER}/${name}`,
    content: { text: `${JSON.stringify(content, null, 2)}\n` },
  });
  return [file('models.json', models), file('settings.json', settings)];
}
