import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { messageOf } from '../support/errors.js';
import type { Agent, AgentAvailability, AgentLaunch, AgentRequest } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { type CommandFile, filled, type Placeholder, readCommandFile } from './command-file.js';
import { resolveEffort } from './effort.js';
import { PLACEHOLDER_KEY, providerUrl } from './gateway-address.js';
import { programOnPath } from './installed-package.js';
import { readTranscript } from './trace-formats.js';
import { readingOf } from './transcript.js';

const run = promisify(execFile);

/** Any program, as a TOML file describes it (docs/agents.md). */
export function commandAgent(path: string, reservedNames: readonly string[], settings: AgentSettings): Agent {
  const file = readCommandFile(path, reservedNames);
  const agent: Agent = {
    name: file.name,
    needsModel: file.provider !== undefined,
    isHandedTheAnswer: false,
    skillFolder: file.skill_folder,
    efforts: file.efforts,
    autoEffort: 'default',
    probe: () => probe(file, settings),
    launch: async (request) => {
      const values = valuesOf(file, agent, request);
      return {
        command: file.command.flatMap((word) => filled(word, values) ?? []),
        environment: Object.fromEntries(
          Object.entries(file.environment).flatMap(([name, text]) => {
            const value = filled(text, values);
            return value === undefined ? [] : [[name, value]];
          }),
        ),
        ...(file.stdin ? { stdin: request.instruction } : {}),
        inputs: Object.entries(file.files).map(([target, source]) => ({ source, target })),
        workFiles: [],
      } satisfies AgentLaunch;
    },
    readTranscript: (tracePath) => readTranscript(file.trace, tracePath),
    readTrace: async (tracePath) => readingOf(await readTranscript(file.trace, tracePath)),
  };
  return agent;
}

function valuesOf(
  file: CommandFile,
  agent: Agent,
  request: AgentRequest,
): Readonly<Record<Placeholder, string | undefined>> {
  return {
    instruction: request.instruction,
    model: request.model,
    effort: resolveEffort(agent, request.effort),
    gateway: file.provider === undefined ? undefined : providerUrl(agent.name, request, file.provider),
    key: PLACEHOLDER_KEY,
    work: request.workPath,
  };
}

/** The version that the program states, and always the fingerprint of its description. */
async function probe(file: CommandFile, settings: AgentSettings): Promise<AgentAvailability> {
  const missing = Object.values(file.files).find((source) => !existsSync(source));
  if (missing !== undefined) {
    return {
      available: false,
      detail: `${missing} is not there`,
      remedy: 'Correct the table files of its description.',
    };
  }
  const [program, ...rest] = file.version ?? [];
  if (program === undefined)
    return { available: true, version: file.fingerprint, detail: 'described by a file' };
  const found = programOnPath(program, settings.environment.PATH ?? '') ?? program;
  try {
    const { stdout, stderr } = await run(found, rest, {
      timeout: 60_000,
      env: { HOME: '/nonexistent', PATH: settings.environment.PATH },
    });
    const stated = /\d+\.\d+[\w.+-]*/.exec(stdout + stderr)?.[0] ?? 'unversioned';
    return {
      available: true,
      version: `${stated}, description ${file.fingerprint}`,
      detail: `${stated}, described by a file`,
    };
  } catch (thrown) {
    return {
      available: false,
      detail: `${found} does not run: ${messageOf(thrown).slice(0, 300)}`,
      remedy: 'Install the program, or correct the field version of its description.',
    };
  }
}
