import { expect, it } from 'vitest';
import { conditionNames, parseCondition } from './condition.js';

it('knows exactly the six conditions', () => {
  expect(conditionNames).toEqual([
    'no-skill',
    'with-skill',
    'with-skill-all',
    'with-skill-decoy',
    'with-skill-rawsql',
    'operational-spec',
  ]);
  for (const name of conditionNames) expect(parseCondition(name)).toBe(name);
});

it('refuses any other name and suggests the nearest', () => {
  expect(() => parseCondition('with-skills')).toThrowError(
    expect.objectContaining({
      code: 'CONDITION_UNKNOWN',
      remedy: expect.stringContaining('Did you mean "with-skill"?'),
    }),
  );
  expect(() => parseCondition('No-Skill')).toThrowError(
    expect.objectContaining({ code: 'CONDITION_UNKNOWN' }),
  );
});
