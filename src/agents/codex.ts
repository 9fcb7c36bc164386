import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { M4BenchError, messageOf } from '../support/errors.js';
import type { Agent, AgentAvailability, AgentLaunch, AgentRequest, Effort } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { readCodexTrace } from './codex-trace.js';
import { resolveEffort } from './effort.js';
import { dependencyFolder, findInstalled } from './installed-package.js';

const run = promisify(execFile);

const PACKAGE = '@openai/codex';
/** Where the CLI stands inside a sandbox. */
const INSIDE_FOLDER = '/opt/agents/codex';
/** The CLI insists on a key; the gateway replaces it. */
const KEY_VARIABLE = 'M4BENCH_MODEL_KEY';
const PLACEHOLDER_KEY = 'not-a-key';
const DEFAULT_PROVIDER = 'openai';

/** Platform package and target name of the native program, by `process.platform` and `process.arch`. */
const NATIVE: Readonly<Record<string, { readonly suffix: string; readonly target: string }>> = {
  'linux-x64': { suffix: 'linux-x64', target: 'x86_64-unknown-linux-musl' },
  'linux-arm64': { suffix: 'linux-arm64', target: 'aarch64-unknown-linux-musl' },
  'darwin-x64': { suffix: 'darwin-x64', target: 'x86_64-apple-darwin' },
  'darwin-arm64': { suffix: 'darwin-arm64', target: 'aarch64-apple-darwin' },
};

/** Effort names of the CLI; which of them a model accepts is the provider's matter. */
const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Features that are switched off. Each either reaches beyond the gateway, or gives the agent helpers that the
 * benchmark did not place, or hides requests from the gateway. Names of version 0.171; others ignore unknown ones.
 */
const FEATURES_OFF: readonly string[] = [
  // Remote tools, stores and catalogues.
  'apps',
  'plugins',
  'remote_plugin',
  'plugin_sharing',
  'tool_suggest',
  'skill_mcp_dependency_install',
  'image_generation',
  'api_key_model_discovery',
  // Other surfaces of the product.
  'browser_use',
  'browser_use_external',
  'browser_use_full_cdp_access',
  'computer_use',
  'in_app_browser',
  'goals',
  'hooks',
  // Would run the user's shell start-up files once before the first command.
  'shell_snapshot',
  // The gateway reads request bodies.
  'enable_request_compression',
  // Would wait forever for a gateway that is gone.
  'unbounded_connection_retries',
];

interface NativeProgram {
  /** Host folder (or, for a program without a package, file) that is mounted. */
  readonly source: string;
  readonly target: string;
  /** The program on the host and inside. */
  readonly hostPath: string;
  readonly insidePath: string;
}

/** OpenAI's Codex CLI (`@openai/codex`), run as `codex exec --json` against the gateway. */
export function codexAgent(settings: AgentSettings): Agent {
  const agent: Agent = {
    name: 'codex',
    needsModel: true,
    isHandedTheAnswer: false,
    // Also read: `.agents/skills`. Seen in the requests of version 0.171, in untrusted folders too.
    skillFolder: '.codex/skills',
    efforts: EFFORTS,
    autoEffort: 'medium',
    probe: () => probe(settings),
    launch: async (request) => {
      const program = findProgram(settings);
      if (!('insidePath' in program)) {
        throw new M4BenchError(
          'AGENT_NOT_AVAILABLE',
          `The Codex CLI cannot be used: ${program.detail}.`,
          program.remedy ?? installRemedy(),
          { party: 'environment' },
        );
      }
      return {
        command: [program.insidePath, ...codexArguments(agent, request)],
        environment: { [KEY_VARIABLE]: PLACEHOLDER_KEY },
        // One argument may hold 128 KiB only (Linux), and instructions with a dictionary are longer.
        stdin: request.instruction,
        inputs: [{ source: program.source, target: program.target }],
        workFiles: [],
      } satisfies AgentLaunch;
    },
    readTrace: readCodexTrace,
  };
  return agent;
}

/**
 * Arguments of the CLI. All configuration is given here and none by file, so that it is recorded whole with the
 * command and nothing in the work folder can change it.
 */
export function codexArguments(agent: Agent, request: AgentRequest): readonly string[] {
  if (request.gatewayUrl === undefined) {
    throw new M4BenchError(
      'GATEWAY_MISSING',
      'The agent codex needs a model, and no gateway was started for this run.',
      'Configure a provider, or choose an agent without a model.',
      { party: 'internal' },
    );
  }
  const effort = resolveEffort(agent, request.effort);
  return [
    'exec',
    '--json',
    '--color=never',
    '--skip-git-repo-check',
    '--ephemeral',
    '--ignore-user-config',
    '--ignore-rules',
    `--cd=${request.workPath}`,
    ...settingsOf(request.gatewayUrl, request.provider ?? DEFAULT_PROVIDER).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]),
    ...(effort === undefined ? [] : ['-c', `model_reasoning_effort=${toml(effort)}`]),
    ...(request.model === undefined ? [] : [`--model=${request.model}`]),
    '-',
  ];
}

/** Names and TOML values of the CLI's configuration. */
function settingsOf(gatewayUrl: string, provider: string): readonly (readonly [string, string])[] {
  const baseUrl = `${gatewayUrl.replace(/\/$/, '')}/${encodeURIComponent(provider)}/v1`;
  return [
    ['model_provider', toml('m4bench')],
    [
      'model_providers.m4bench',
      `{name=${toml('m4bench gateway')},base_url=${toml(baseUrl)},env_key=${toml(KEY_VARIABLE)},` +
        'wire_api="responses",supports_websockets=false,request_max_retries=4,stream_max_retries=5,' +
        'stream_idle_timeout_ms=300000}',
    ],
    // Our sandbox is the boundary; the CLI's own cannot nest its user namespaces in it.
    ['sandbox_mode', toml('danger-full-access')],
    ['approval_policy', toml('never')],
    // A login shell would read /etc/profile, which resets PATH and loses the `duckdb` command.
    ['allow_login_shell', 'false'],
    ['web_search', toml('disabled')],
    ['tools.web_search', 'false'],
    // No skill but those that the harness placed: neither the CLI's own, nor those of a repository around the folder.
    ['skills.bundled.enabled', 'false'],
    ['project_root_markers', '[]'],
    ['agents.enabled', 'false'],
    ['history.persistence', toml('none')],
    ['check_for_update_on_startup', 'false'],
    ['analytics.enabled', 'false'],
    ['feedback.enabled', 'false'],
    ['otel.exporter', toml('none')],
    ['otel.trace_exporter', toml('none')],
    ['otel.metrics_exporter', toml('none')],
    ...FEATURES_OFF.map((feature) => [`features.${feature}`, 'false'] as const),
  ];
}

/** A TOML basic string; for the texts used here the same as a JSON string. */
function toml(text: string): string {
  return JSON.stringify(text);
}

async function probe(settings: AgentSettings): Promise<AgentAvailability> {
  const program = findProgram(settings);
  if (!('insidePath' in program)) return program;
  try {
    const { stdout } = await run(program.hostPath, ['--version'], {
      timeout: 20_000,
      env: { HOME: '/nonexistent', PATH: settings.environment.PATH },
    });
    const version = stdout.trim().split(/\s+/).at(-1);
    if (!version) throw new Error('it states no version');
    return { available: true, version, detail: `${stdout.trim()}, ${program.hostPath}` };
  } catch (thrown) {
    return {
      available: false,
      detail: `${program.hostPath} does not run: ${messageOf(thrown).slice(0, 300)}`,
      remedy: installRemedy(),
    };
  }
}

/** The native program, which the package's Node launcher would start; without it no Node is needed inside. */
function findProgram(settings: AgentSettings): NativeProgram | AgentAvailability {
  const native = NATIVE[`${process.platform}-${process.arch}`];
  const found = findInstalled(PACKAGE, 'codex', settings);
  if (native === undefined) {
    return { available: false, detail: `no Codex CLI exists for ${process.platform} on ${process.arch}` };
  }
  if (found === undefined) {
    return { available: false, detail: 'the Codex CLI is not installed', remedy: installRemedy() };
  }
  if (found.kind === 'program') {
    if (isScript(found.path)) {
      return {
        available: false,
        detail: `${found.path} is a script that starts a Codex CLI elsewhere`,
        remedy: 'Set M4BENCH_AGENTS_DIR to a folder in which npm installed @openai/codex.',
      };
    }
    const insidePath = `${INSIDE_FOLDER}/bin/codex`;
    return { source: found.path, target: insidePath, hostPath: found.path, insidePath };
  }
  const vendor = dependencyFolder(`${PACKAGE}-${native.suffix}`, found.folder) ?? found.folder;
  const source = join(vendor, 'vendor', native.target);
  // The second form is that of versions before 0.100.
  const inner = ['bin/codex', 'codex/codex'].find((path) => existsSync(join(source, path)));
  if (inner === undefined) {
    return {
      available: false,
      detail: `${found.folder} lacks its native program (${PACKAGE}-${native.suffix})`,
      remedy: 'Install it again with optional dependencies (npm ci --include=optional).',
    };
  }
  const insidePath = `${INSIDE_FOLDER}/${inner}`;
  return { source, target: INSIDE_FOLDER, hostPath: join(source, inner), insidePath };
}

function isScript(path: string): boolean {
  const start = Buffer.alloc(2);
  const file = openSync(path, 'r');
  try {
    readSync(file, start, 0, 2, 0);
  } finally {
    closeSync(file);
  }
  return start.toString('latin1') === '#!';
}

function installRemedy(): string {
  return 'Run: npm install --global @openai/codex (or, in a source checkout, test/agents/install.sh).';
}
