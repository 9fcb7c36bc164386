import { join } from 'node:path';
import { z } from 'zod';
import type { Agent, AgentLaunch, AgentLogin, AgentRequest, Effort } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { findNativeProgram, type NativeLayout, probeProgram, programOrThrow } from './cli-program.js';
import { readCodexTrace } from './codex-trace.js';
import { resolveEffort } from './effort.js';
import { PLACEHOLDER_KEY, providerUrl, proxyEnvironment } from './gateway-address.js';
import type { CliPackage } from './installed-package.js';
import { checkLasts, readLoginFile, tokenExpiry } from './login-files.js';
import { readingOf } from './transcript.js';

const CODEX: CliPackage = {
  agent: 'codex',
  title: 'Codex CLI',
  packageName: '@openai/codex',
  bin: 'codex',
};
/** The CLI insists on a key; the gateway replaces it. */
const KEY_VARIABLE = 'M4BENCH_MODEL_KEY';
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
    login: codexLogin(settings),
    probe: () => probeProgram(CODEX, findProgram(settings), settings),
    launch: async (request) => {
      const program = programOrThrow(CODEX, findProgram(settings));
      return {
        command: [...program.command, ...codexArguments(agent, request)],
        environment: request.usesLogin
          ? proxyEnvironment(agent.name, request)
          : { [KEY_VARIABLE]: PLACEHOLDER_KEY },
        // One argument may hold 128 KiB only (Linux), and instructions with a dictionary are longer.
        stdin: request.instruction,
        inputs: program.inputs,
        workFiles: [],
      } satisfies AgentLaunch;
    },
    readTranscript: readCodexTrace,
    readTrace: async (tracePath) => readingOf(await readCodexTrace(tracePath)),
  };
  return agent;
}

/**
 * Arguments of the CLI. All configuration is given here and none by file, so that it is recorded whole with the
 * command and nothing in the work folder can change it.
 */
export function codexArguments(agent: Agent, request: AgentRequest): readonly string[] {
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
    ...[...serviceOf(agent, request), ...SETTINGS].flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ...(effort === undefined ? [] : ['-c', `model_reasoning_effort=${toml(effort)}`]),
    ...(request.model === undefined ? [] : [`--model=${request.model}`]),
    '-',
  ];
}

type Setting = readonly [name: string, tomlValue: string];

/** The model service: the gateway, or with a login the one that the CLI knows by itself. */
function serviceOf(agent: Agent, request: AgentRequest): readonly Setting[] {
  if (request.usesLogin) return [['cli_auth_credentials_store', toml('file')]];
  const baseUrl = `${providerUrl(agent.name, request, DEFAULT_PROVIDER)}/v1`;
  return [
    ['model_provider', toml('m4bench')],
    [
      'model_providers.m4bench',
      `{name=${toml('m4bench gateway')},base_url=${toml(baseUrl)},env_key=${toml(KEY_VARIABLE)},` +
        'wire_api="responses",supports_websockets=false,request_max_retries=4,stream_max_retries=5,' +
        'stream_idle_timeout_ms=300000}',
    ],
  ];
}

/** The rest of the CLI's configuration. */
const SETTINGS: readonly Setting[] = [
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

const authSchema = z.object({
  tokens: z.object({
    id_token: z.string().min(1),
    access_token: z.string().min(1),
    account_id: z.string().nullish(),
  }),
});

/** A ChatGPT subscription, from `~/.codex/auth.json` (or CODEX_HOME). */
function codexLogin({ environment, userHome }: AgentSettings): AgentLogin {
  return {
    provider: DEFAULT_PROVIDER,
    // A workspace may be served from a subdomain; renewal and API keys, which other hosts serve, are not used.
    hosts: ['chatgpt.com', '.chatgpt.com'],
    async read(need) {
      const path = join(environment.CODEX_HOME ?? join(userHome, '.codex'), 'auth.json');
      const cli = { title: CODEX.title, signIn: 'codex login', renew: 'codex exec hello' };
      const { tokens } = await readLoginFile(path, authSchema, cli);
      checkLasts(tokenExpiry(tokens.access_token), need, cli);
      // Looks fresh, so that the CLI does not try to renew it, which it could not.
      const auth = {
        auth_mode: 'chatgpt',
        OPENAI_API_KEY: null,
        tokens: { ...tokens, refresh_token: '' },
        last_refresh: need.now.toISOString(),
      };
      return {
        files: [{ path: '.codex/auth.json', content: { text: JSON.stringify(auth) } }],
        secrets: [tokens.access_token, tokens.id_token],
      };
    },
  };
}

/** A TOML basic string; for the texts used here the same as a JSON string. */
function toml(text: string): string {
  return JSON.stringify(text);
}

function findProgram(settings: AgentSettings) {
  const native = NATIVE[`${process.platform}-${process.arch}`];
  const layout: NativeLayout | undefined = native && {
    platformPackage: `${CODEX.packageName}-${native.suffix}`,
    folder: join('vendor', native.target),
    // The second form is that of versions before 0.100.
    programs: ['bin/codex', 'codex/codex'],
  };
  return findNativeProgram(CODEX, layout, settings);
}
