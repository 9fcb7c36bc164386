import { describe, expect, it } from 'vitest';
import { closestName, editDistance, suggestionFor } from './closest-name.js';

describe('closestName', () => {
  it('counts insertions, deletions and replacements', () => {
    expect(editDistance('kitten', 'sitting')).toBe(3);
    expect(editDistance('', 'abc')).toBe(3);
    expect(editDistance('sofa', 'sofa')).toBe(0);
  });

  it('finds a misspelled or shortened name and says nothing when none is near', () => {
    const names = ['mimic-meld-24h', 'mimic-sofa-24h', 'eicu-gcs'];
    expect(closestName('mimic-meld24h', names)).toBe('mimic-meld-24h');
    expect(closestName('sofa', names)).toBe('mimic-sofa-24h');
    expect(closestName('ventilation', names)).toBeUndefined();
    expect(suggestionFor('eicu-gsc', names)).toBe('Did you mean "eicu-gcs"? ');
    expect(suggestionFor('', names)).toBe('');
  });
});
