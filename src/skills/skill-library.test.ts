import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { fittingSkill, type LibrarySkill, namedSkill, skillLibrary } from './skill-library.js';

const raw = { mode: 'raw', database: 'mimic-iv' } as const;

describe('skillLibrary', () => {
  it('holds the 15 skills, each text with a version and the checksum of its file', async () => {
    const library = await skillLibrary();
    expect([...new Set(library.map(({ name }) => name))]).toEqual([
      'apsiii-score',
      'baseline-creatinine',
      'comorbidity-score',
      'gcs-calculation',
      'kdigo-aki-staging',
      'meld-score',
      'oasis-score',
      'sapsii-score',
      'sepsis-3-cohort',
      'sirs-criteria',
      'sofa-score',
      'suspicion-of-infection',
      'urine-output-rate',
      'vasopressor-equivalents',
      'ventilation-classification',
    ]);
    const [first] = library;
    const sum = execFileSync('sha256sum', [first?.file ?? ''], { encoding: 'utf8' }).split(' ')[0];
    expect(first?.sha256).toBe(sum);
    for (const skill of library) expect(skill.version, skill.name).toMatch(/^\d+\.\d+/);
  });
});

describe('the text that fits', () => {
  const texts = [
    { name: 'a', variant: 'eicu' },
    { name: 'a', variant: 'mimic-iv' },
    { name: 'b', variant: 'raw' },
    { name: 'b', variant: 'standard' },
    { name: 'c', variant: 'common' },
  ] as unknown as readonly LibrarySkill[];

  it('is the one for the mode, else for the database, else the only one', () => {
    expect(fittingSkill(texts, 'b', raw).variant).toBe('raw');
    expect(fittingSkill(texts, 'b', { ...raw, mode: 'standard' }).variant).toBe('standard');
    expect(fittingSkill(texts, 'a', raw).variant).toBe('mimic-iv');
    expect(fittingSkill(texts, 'a', { ...raw, database: 'eicu' }).variant).toBe('eicu');
    expect(fittingSkill(texts, 'c', raw).variant).toBe('common');
  });

  it('is the named one when a text is named', () => {
    expect(namedSkill(texts, 'b/standard', raw).variant).toBe('standard');
    expect(namedSkill(texts, 'b', raw).variant).toBe('raw');
  });

  it('is an error with the nearest name for an unknown one', () => {
    expect(() => namedSkill(texts, 'b/standart', raw)).toThrowError(
      expect.objectContaining({ code: 'SKILL_UNKNOWN', remedy: expect.stringContaining('"b/standard"') }),
    );
    expect(() => namedSkill(texts, 'd', raw)).toThrowError(
      expect.objectContaining({ code: 'SKILL_UNKNOWN' }),
    );
  });
});
