import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { packageRoot } from '../support/home.js';
import { benchmarkVersion } from '../version.js';
import type { Agent, AgentAvailability, AgentLaunch, AgentRequest, Effort } from './agent.js';
import { readBasicTrace } from './basic-trace.js';
import { resolveEffort } from './effort.js';
import { PLACEHOLDER_KEY, providerUrl } from './gateway-address.js';
import { dependencyFolder, packageClosure } from './installed-package.js';
import { readingOf } from './transcript.js';

const PROGRAM = 'basic-agent.mjs';
const INSIDE_FOLDER = '/opt/agents/basic';
const PACKAGES = ['ai', '@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/openai-compatible'];
const DEFAULT_PROVIDER = 'local';
const SKILL_FOLDER = '.skills';

const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The API that is spoken to a provider, and the path of its base URL; any other is OpenAI-compatible. */
const APIS: Readonly<Record<string, { readonly api: string; readonly path: string }>> = {
  openai: { api: 'openai-responses', path: '/v1' },
  anthropic: { api: 'anthropic-messages', path: '/v1' },
  gemini: { api: 'gemini', path: '/v1beta' },
};
const COMPATIBLE = { api: 'openai-chat', path: '/v1' };

/**
 * The benchmark's own agent: a loop of model and shell over the AI SDK, with no other tool, no planning and no
 * memory. Any model that the gateway knows can be tried with it, and CLIs have it to beat. The whole loop runs
 * inside the sandbox, as CLIs do: it is started, limited, traced and cut in the same way, reaches its model through
 * the gateway, and nothing that a model says is ever carried out by the harness.
 */
export function basicAgent(): Agent {
  const agent: Agent = {
    name: 'basic',
    needsModel: true,
    isHandedTheAnswer: false,
    skillFolder: SKILL_FOLDER,
    efforts: EFFORTS,
    // Which efforts a model knows is not known here.
    autoEffort: 'default',
    probe: async () => probe(),
    launch: async (request) =>
      ({
        command: ['node', `${INSIDE_FOLDER}/${PROGRAM}`],
        environment: { M4BENCH_BASIC: JSON.stringify(settingsOf(agent, request)) },
        stdin: request.instruction,
        inputs: [
          { source: programPath(), target: `${INSIDE_FOLDER}/${PROGRAM}` },
          ...packages().map(({ name, folder }) => ({
            source: folder,
            target: `${INSIDE_FOLDER}/node_modules/${name}`,
          })),
        ],
        workFiles: [],
      }) satisfies AgentLaunch,
    readTranscript: readBasicTrace,
    readTrace: async (tracePath) => readingOf(await readBasicTrace(tracePath)),
  };
  return agent;
}

function settingsOf(agent: Agent, request: AgentRequest): Readonly<Record<string, unknown>> {
  if (request.model === undefined) {
    throw new M4BenchError(
      'MODEL_MISSING',
      'The agent basic has no default model of its own.',
      'Name one with --model, as the provider calls it.',
    );
  }
  const { api, path } = APIS[request.provider ?? DEFAULT_PROVIDER] ?? COMPATIBLE;
  const effort = resolveEffort(agent, request.effort);
  return {
    api,
    baseUrl: `${providerUrl(agent.name, request, DEFAULT_PROVIDER)}${path}`,
    key: PLACEHOLDER_KEY,
    model: request.model,
    skillFolder: SKILL_FOLDER,
    ...(effort === undefined ? {} : { effort }),
  };
}

function probe(): AgentAvailability {
  const missing = PACKAGES.find((name) => dependencyFolder(name, packageRoot()) === undefined);
  if (missing !== undefined || !existsSync(programPath())) {
    return {
      available: false,
      detail: `this installation lacks ${missing ?? programPath()}`,
      remedy: 'Install m4bench again.',
    };
  }
  return { available: true, version: benchmarkVersion, detail: 'built in' };
}

function programPath(): string {
  return join(packageRoot(), 'sandbox-tools', PROGRAM);
}

/** The packages of the program and all that they need. */
function packages(): readonly { readonly name: string; readonly folder: string }[] {
  const needed = new Map<string, string>();
  for (const name of PACKAGES) {
    const folder = dependencyFolder(name, packageRoot());
    if (folder === undefined) continue;
    for (const one of packageClosure(name, folder)) needed.set(one.name, one.folder);
  }
  return [...needed].map(([name, folder]) => ({ name, folder }));
}
