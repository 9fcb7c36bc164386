import type { SourceSchema } from '../../datasets/source-schema.js';

/** Table names that are ordinary words of clinical prose. */
const ordinaryWords = new Set([
  'admissions',
  'allergy',
  'caregiver',
  'diagnosis',
  'hospital',
  'lab',
  'medication',
  'note',
  'patient',
  'patients',
  'pharmacy',
  'prescriptions',
  'provider',
  'services',
  'transfers',
  'treatment',
]);

/**
 * Names of source and concept tables that can only mean the table: not to stand in an instruction or a specification.
 * A concept with a one-word name (sofa, age) is clinical prose.
 */
export function tableNamesOf(
  schemas: readonly SourceSchema[],
  concepts: readonly string[],
): readonly string[] {
  const sources = schemas.flatMap((schema) => schema.tables.map((table) => table.name.toLowerCase()));
  return [...new Set([...sources, ...concepts.filter((name) => name.includes('_'))])]
    .filter((name) => !ordinaryWords.has(name))
    .sort();
}

/** Matches any of the names as a whole word, whatever its case. */
export function wholeWords(names: readonly string[]): RegExp {
  return new RegExp(`\\b(?:${names.join('|')})\\b`, 'i');
}
