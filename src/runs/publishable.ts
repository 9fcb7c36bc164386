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
  if (result.status === 'unjudged') reasons.push('only infrastructure failures happened');
  if (result.cell.condition === 'with-skill' && result.tokens !== null && result.skill.offered.length === 0) {
    reasons.push('the skill was not offered to the model');
  }
  if (result.integrity.canaries === null) reasons.push('the canaries were not run');
  if (result.integrity.lint === null) reasons.push('the contamination lint was not run');
  return reasons;
}
