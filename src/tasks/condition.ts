import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError } from '../support/errors.js';

/**
 * The six conditions, in the order in which they are listed everywhere. Exactly these names are valid.
 *
 * - `no-skill`: the instruction alone
 * - `with-skill`: the task's own reviewed skills
 * - `with-skill-all`: one folder per distinct skill name of the whole benchmark
 * - `with-skill-decoy`: one skill of another family
 * - `with-skill-rawsql`: the reference query as text
 * - `operational-spec`: the complete clinical rules appended to the instruction, no skill
 */
export const conditionNames = [
  'no-skill',
  'with-skill',
  'with-skill-all',
  'with-skill-decoy',
  'with-skill-rawsql',
  'operational-spec',
] as const;

export type ConditionName = (typeof conditionNames)[number];

/** Checks a condition name given by a user. Throws `CONDITION_UNKNOWN` with the nearest valid name. */
export function parseCondition(text: string): ConditionName {
  const found = conditionNames.find((name) => name === text);
  if (found !== undefined) return found;
  throw new M4BenchError(
    'CONDITION_UNKNOWN',
    `There is no condition "${text}".`,
    `${suggestionFor(text, conditionNames)}Valid conditions are ${conditionNames.join(', ')}.`,
  );
}
