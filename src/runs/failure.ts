import type { GatewaySummary } from '../gateway/gateway-types.js';
import type { CommandOutcome } from '../sandboxes/sandbox.js';

/** How an attempt ended, seen without its reward: retries must not depend on the score. */
export interface AttemptVerdict {
  readonly class: 'judged' | 'infrastructure' | 'agent';
  readonly reason: string | null;
}

export interface AttemptFacts {
  readonly needsModel: boolean;
  readonly outcome: CommandOutcome;
  readonly gateway: GatewaySummary | undefined;
  readonly hasOutput: boolean;
  /** For a CLI that signs in by itself: tunnels that reached its provider, and errors that its trace tells. */
  readonly login?: { readonly tunnels: number; readonly errors: readonly string[] };
}

/** How CLIs word that their service, and not the agent, is at fault (keys, rate limits, overload, connections). */
const SERVICE_ERROR =
  /invalid api key|fix external api key|authentication|unauthorized|oauth|log ?in again|please run \/login|rate.?limit|usage limit|overloaded|(?<!\d)(401|403|429|5\d\d|529)(?!\d)|econn|enotfound|connection (error|failed|refused)/i;

function loginVerdict({ outcome, hasOutput, login }: AttemptFacts): AttemptVerdict | undefined {
  if (login === undefined) return undefined;
  if (login.tunnels === 0) return { class: 'infrastructure', reason: 'no tunnel reached the model service' };
  if (outcome.endedBy !== null || (outcome.exitCode === 0 && hasOutput)) return undefined;
  const error = login.errors.find((text) => SERVICE_ERROR.test(text));
  if (error === undefined) return undefined;
  return { class: 'infrastructure', reason: `the model service failed: ${error.slice(0, 200)}` };
}

/**
 * Tells infrastructure loss from agent loss. A run that ended while the model service was failing, or that never
 * got a reply, says nothing about the agent; everything else the agent did itself.
 */
export function verdictOf(facts: AttemptFacts): AttemptVerdict {
  const { outcome, gateway, needsModel } = facts;
  const ended = outcome.endedBy !== null || outcome.exitCode !== 0;
  if (needsModel && gateway !== undefined) {
    const answered = gateway.requests - gateway.failed - gateway.refused;
    if (answered <= 0 && gateway.failed > 0) {
      const last = gateway.lastServiceFailure;
      const how = last === null ? '' : ` (${last.kind}, status ${last.status})`;
      return { class: 'infrastructure', reason: `the model service never answered${how}` };
    }
    // Some CLIs end with status 0 when their model is gone; without an output that is the same loss.
    if ((ended || !facts.hasOutput) && gateway.lastServiceFailure !== null) {
      const { kind, status } = gateway.lastServiceFailure;
      return {
        class: 'infrastructure',
        reason: `the model service failed before the end (${kind}, status ${status})`,
      };
    }
    if (answered <= 0 && ended)
      return { class: 'agent', reason: 'the agent ended without reaching its model' };
  }
  const byLogin = loginVerdict(facts);
  if (byLogin !== undefined) return byLogin;
  switch (outcome.endedBy) {
    case 'time':
      return { class: 'agent', reason: 'time limit reached' };
    case 'memory':
      return { class: 'agent', reason: 'memory limit reached' };
    case 'processes':
      return { class: 'agent', reason: 'process limit reached' };
    case 'disk':
      return { class: 'agent', reason: 'work folder limit reached' };
    case 'stream':
      return { class: 'agent', reason: 'output stream limit reached' };
    default:
      break;
  }
  if (outcome.exitCode !== 0) {
    const how = outcome.signal === null ? `exit status ${outcome.exitCode}` : `signal ${outcome.signal}`;
    return { class: 'agent', reason: `the agent ended with ${how}` };
  }
  if (!facts.hasOutput) return { class: 'agent', reason: 'no output.csv' };
  return { class: 'judged', reason: null };
}

/** Whether a failure reason of `verdictOf` says that the model service was asked too much (429) or was overloaded. */
export function isRateLimited(reason: string | null): boolean {
  return reason !== null && /\(upstream-status, status (429|503|529)\)$/.test(reason);
}
