import type { RunResult } from './result.js';

/** Every reason why a result may not be published; empty when it may. A gate that was not run is a reason. */
export function unpublishableReasons(
  result: Omit<RunResult, 'publishable' | 'reasons'>,
  isHandedTheAnswer: boolean,
  isIsolated: boolean,
): string[] {
  const reasons: string[] = [];
  if (isHandedTheAnswer) reasons.push('the agent was handed the answer');
  if (!isIsolated) reasons.push('the sandbox does not isolate');
  if (result.sandbox.rootfsDigest === null)
    reasons.push("the sandbox ran over the host's own file system, not a pinned root file system");
  if (!result.dataset.verified) reasons.push(`dataset ${result.dataset.name} is unverified`);
  if (result.cell.schema !== 'native' && result.presentation?.isVerified !== true)
    reasons.push(
      `schema ${result.cell.schema} is not proven to hold the same (${result.presentation?.reasons[0] ?? 'never verified'})`,
    );
  if (result.status === 'unjudged') reasons.push('only infrastructure failures happened');
  if (
    result.cell.condition === 'with-skill' &&
    (result.tokens !== null || result.login !== null) &&
    result.skill.offered.length === 0
  ) {
    reasons.push('the skill was not offered to the model');
  }
  const { canaries, lint, egress, hostedToolCalls = [] } = result.integrity;
  if (canaries === null) reasons.push('the canaries were not run');
  if (canaries === false) reasons.push('a canary was reached from inside the sandbox');
  if (lint === null) reasons.push('the contamination lint was not run');
  if (lint === false) reasons.push('the contamination lint found a violation');
  if (egress === null) reasons.push('where bytes went was not looked at');
  if (egress === false) reasons.push('bytes went where they should not, or their log is missing');
  if (hostedToolCalls.length > 0)
    reasons.push(`the provider used tools of its own: ${hostedToolCalls.join(', ')}`);
  if (result.replay !== null) reasons.push('the answers came from a cassette, not from a model');
  if (!result.dataUse.allowed) reasons.push('the data may not go to this model service');
  return reasons;
}
