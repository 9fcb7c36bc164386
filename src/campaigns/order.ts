import { byCodePoint } from '../support/code-points.js';
import { type SeededRandom, seededRandom } from '../support/random.js';
import type { Protocol } from '../tasks/protocol.js';
import { estimatedSeconds, type RunEstimates } from './estimate.js';
import type { RunSpec } from './expand.js';

/**
 * The order in which runs are started. Tiers follow one another; inside a tier by the protocol's switch:
 *
 * - `interleaved`: blocks of one task and trial in random order, and inside a block its arms (conditions, schemas,
 *   models) in random order, both from the seed. The arms of a comparison run side by side, so that a drift of the
 *   provider falls on all of them;
 * - `longest-first`: estimated seconds, descending, then task, condition, model, schema (code points), trial. All
 *   no-skill trials of a task then run before its with-skill trials.
 */
export function orderRuns<Spec extends Omit<RunSpec, 'condition'> & { readonly condition: string }>(
  specs: readonly Spec[],
  options: {
    readonly order: Protocol['order'];
    readonly seed: string;
    readonly estimates?: RunEstimates;
  },
): readonly Spec[] {
  const tiers = grouped(specs, (spec) => String(spec.tier));
  if (options.order === 'longest-first') {
    return tiers.flatMap((tier) => longestFirst(tier, options.estimates));
  }
  return tiers.flatMap((tier) => {
    const random = seededRandom(`${options.seed}:${tier[0]!.tier}`);
    const blocks = grouped(tier, (spec) => JSON.stringify([spec.task, spec.trial]));
    return shuffled(blocks, random).flatMap((block) => shuffled(block, random));
  });
}

function longestFirst<Spec extends Omit<RunSpec, 'condition'> & { readonly condition: string }>(
  tier: readonly Spec[],
  estimates: RunEstimates | undefined,
): readonly Spec[] {
  const seconds = (spec: Spec): number => (estimates === undefined ? 0 : estimatedSeconds(estimates, spec));
  return [...tier].sort(
    (a, b) =>
      seconds(b) - seconds(a) ||
      byCodePoint(a.task, b.task) ||
      byCodePoint(a.condition, b.condition) ||
      byCodePoint(a.model ?? '', b.model ?? '') ||
      byCodePoint(a.schema, b.schema) ||
      a.trial - b.trial,
  );
}

/** Groups in the order of their first member. */
function grouped<T>(all: readonly T[], key: (one: T) => string): readonly T[][] {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(key(one));
    if (group === undefined) groups.set(key(one), [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

/** Fisher and Yates. */
function shuffled<T>(all: readonly T[], random: SeededRandom): readonly T[] {
  const order = [...all];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = random.integer(last + 1);
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}
