import { M4BenchError } from '../support/errors.js';
import type { Agent, Effort } from './agent.js';

/**
 * The effort that is asked of the model: a level by name, or undefined for the provider's own default.
 * Throws `EFFORT_UNSUPPORTED` for a named level that the agent does not know (harness specification, section 2).
 */
export function resolveEffort(
  agent: Pick<Agent, 'name' | 'efforts' | 'autoEffort'>,
  requested: Effort,
): Exclude<Effort, 'auto' | 'default'> | undefined {
  const effort = requested === 'auto' ? agent.autoEffort : requested;
  if (effort === 'auto' || effort === 'default') return undefined;
  if (agent.efforts.includes(effort)) return effort;
  throw new M4BenchError(
    'EFFORT_UNSUPPORTED',
    `The agent ${agent.name} has no reasoning effort "${effort}".`,
    `Choose one of: ${['auto', 'default', ...agent.efforts].join(', ')}.`,
  );
}
