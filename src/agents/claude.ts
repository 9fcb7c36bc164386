import { join } from 'node:path';
import { z } from 'zod';
import type { Agent, AgentLaunch, AgentLogin, AgentRequest, Effort } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { readClaudeTrace } from './claude-trace.js';
import { findNativeProgram, probeProgram, programOrThrow } from './cli-program.js';
import { resolveEffort } from './effort.js';
import { PLACEHOLDER_KEY, providerUrl, proxyEnvironment } from './gateway-address.js';
import type { CliPackage } from './installed-package.js';
import { checkLasts, readLoginFile } from './login-files.js';
import { readingOf } from './transcript.js';

const CLAUDE: CliPackage = {
  agent: 'claude',
  title: 'Claude Code',
  packageName: '@anthropic-ai/claude-code',
  bin: 'claude',
};
const DEFAULT_PROVIDER = 'anthropic';

const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/**
 * The tools that exist for the model. Everything else (web search and fetch, other agents, schedules, worktrees,
 * workflows) reaches beyond the gateway or outlives the run. Unknown names are passed over by the CLI; Glob and Grep
 * are part of Bash in some versions.
 */
const TOOLS: readonly string[] = [
  'Bash',
  'Read',
  'Write',
  'Edit',
  'Glob',
  'Grep',
  'Skill',
  'TaskOutput',
  'TaskStop',
];
/** Denied as well, so that no setting brings them back. */
const NETWORK_TOOLS: readonly string[] = ['WebFetch', 'WebSearch'];

/** Switches that the CLI reads from its environment. */
const SWITCHES: Readonly<Record<string, string>> = {
  // Our sandbox is the boundary; without this the CLI refuses to skip its permission questions for root.
  IS_SANDBOX: '1',
  // Telemetry, error reports, update and feature look-ups.
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  // No skill, memory or instruction but those that the harness placed.
  CLAUDE_CODE_DISABLE_BUNDLED_SKILLS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
  CLAUDE_CODE_DISABLE_WORKFLOWS: '1',
  CLAUDE_CODE_DISABLE_CRON: '1',
};

/** Variables that name the model of a slot: the aliases, and what the CLI runs in the background. */
const MODEL_SLOTS: readonly string[] = [
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
];

/** Anthropic's Claude Code (`@anthropic-ai/claude-code`), run as `claude --print` against the gateway. */
export function claudeAgent(settings: AgentSettings): Agent {
  const agent: Agent = {
    name: 'claude',
    needsModel: true,
    isHandedTheAnswer: false,
    skillFolder: '.claude/skills',
    efforts: EFFORTS,
    autoEffort: 'medium',
    login: claudeLogin(settings),
    probe: () => probeProgram(CLAUDE, findProgram(settings), settings),
    launch: async (request) => {
      const program = programOrThrow(CLAUDE, findProgram(settings));
      const overrides = modelSlots(request);
      return {
        command: [...program.command, ...claudeArguments(agent, request)],
        environment: {
          ...SWITCHES,
          ...overrides,
          ...(request.usesLogin
            ? proxyEnvironment(agent.name, request)
            : {
                ANTHROPIC_BASE_URL: providerUrl(agent.name, request, DEFAULT_PROVIDER),
                ANTHROPIC_API_KEY: PLACEHOLDER_KEY,
              }),
        },
        stdin: request.instruction,
        inputs: program.inputs,
        workFiles: [],
        overrides: Object.entries(overrides).map(([slot, model]) => `${slot}=${model}`),
      } satisfies AgentLaunch;
    },
    readTranscript: readClaudeTrace,
    readTrace: async (tracePath) => readingOf(await readClaudeTrace(tracePath)),
  };
  return agent;
}

const credentialsSchema = z.object({
  claudeAiOauth: z.object({
    accessToken: z.string().min(1),
    /** Milliseconds. */
    expiresAt: z.number(),
    scopes: z.array(z.string()),
    subscriptionType: z.string().nullish(),
  }),
});

/** A subscription of Claude, from `~/.claude/.credentials.json`; the account's name and history stay outside. */
function claudeLogin({ userHome }: AgentSettings): AgentLogin {
  return {
    provider: DEFAULT_PROVIDER,
    hosts: ['api.anthropic.com'],
    async read(need) {
      const path = join(userHome, '.claude', '.credentials.json');
      const cli = { title: CLAUDE.title, signIn: 'claude, then /login', renew: 'claude -p hello' };
      const { claudeAiOauth } = await readLoginFile(path, credentialsSchema, cli);
      checkLasts(new Date(claudeAiOauth.expiresAt), need, cli);
      const credentials = JSON.stringify({ claudeAiOauth: { ...claudeAiOauth, refreshToken: '' } });
      return {
        files: [
          { path: '.claude/.credentials.json', content: { text: credentials } },
          { path: '.claude.json', content: { text: JSON.stringify({ hasCompletedOnboarding: true }) } },
        ],
        secrets: [claudeAiOauth.accessToken],
      };
    },
  };
}

/**
 * Arguments of the CLI. Values are joined to their option by `=`: several options take all words that follow, and
 * a model name may begin with a dash.
 */
export function claudeArguments(agent: Agent, request: AgentRequest): readonly string[] {
  const effort = resolveEffort(agent, request.effort);
  return [
    '--print',
    '--output-format=stream-json',
    '--verbose',
    '--permission-mode=bypassPermissions',
    `--tools=${TOOLS.join(',')}`,
    `--disallowedTools=${NETWORK_TOOLS.join(',')}`,
    // The skills of the work folder are of this source; a user's own settings are not read.
    '--setting-sources=project',
    '--strict-mcp-config',
    '--no-session-persistence',
    '--no-chrome',
    ...(effort === undefined ? [] : [`--effort=${effort}`]),
    ...(request.model === undefined ? [] : [`--model=${request.model}`]),
  ];
}

/** At a provider that is not Anthropic only the asked model exists, also for what runs in the background. */
function modelSlots({ model, provider }: AgentRequest): Readonly<Record<string, string>> {
  if (model === undefined || provider === undefined || provider === DEFAULT_PROVIDER) return {};
  return Object.fromEntries(MODEL_SLOTS.map((slot) => [slot, model]));
}

function findProgram(settings: AgentSettings) {
  const isKnown = ['linux', 'darwin'].includes(process.platform) && ['x64', 'arm64'].includes(process.arch);
  const layout = isKnown
    ? {
        platformPackage: `${CLAUDE.packageName}-${process.platform}-${process.arch}`,
        folder: '',
        programs: ['claude'],
      }
    : undefined;
  return findNativeProgram(CLAUDE, layout, settings);
}
