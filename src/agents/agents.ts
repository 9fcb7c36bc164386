import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError } from '../support/errors.js';
import type { Agent } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { basicAgent } from './basic.js';
import { claudeAgent } from './claude.js';
import { codexAgent } from './codex.js';
import { commandAgent } from './command.js';
import { emptyAgent } from './empty.js';
import { geminiAgent } from './gemini.js';
import { hostileAgent } from './hostile.js';
import { opencodeAgent } from './opencode.js';
import { piAgent } from './pi.js';
import { referenceAgent } from './reference.js';
import { sqlAgent } from './sql.js';

/** Every agent, by the name used on the command line. A new one is a file beside this one and a line here. */
const AGENTS: Readonly<Record<string, (settings: AgentSettings) => Agent>> = {
  codex: codexAgent,
  claude: claudeAgent,
  gemini: geminiAgent,
  pi: piAgent,
  opencode: opencodeAgent,
  basic: () => basicAgent(),
  sql: sqlAgent,
  reference: referenceAgent,
  empty: emptyAgent,
  hostile: hostileAgent,
};

/** Names of all agents, in the order in which they are listed. */
export const agentNames: readonly string[] = Object.keys(AGENTS);

/** Those that are offered: `hostile` tries to break out, which is for tests of sandboxes. */
export const offeredAgentNames: readonly string[] = agentNames.filter((name) => name !== 'hostile');

/**
 * The agent of a name, or the one that a TOML file describes (a name that ends in `.toml` is a path). Throws
 * `AGENT_UNKNOWN`, with the nearest name, for any other, and `AGENT_FILE_INVALID` for a file that does not hold one.
 */
export function agentNamed(name: string, settings: AgentSettings): Agent {
  if (name.endsWith('.toml')) return commandAgent(name, agentNames, settings);
  const make = Object.hasOwn(AGENTS, name) ? AGENTS[name] : undefined;
  if (make !== undefined) return make(settings);
  throw new M4BenchError(
    'AGENT_UNKNOWN',
    `There is no agent "${name}".`,
    `${suggestionFor(name, offeredAgentNames)}Known agents: ${offeredAgentNames.join(', ')}; or name a TOML file that describes one (docs/agents.md).`,
  );
}
