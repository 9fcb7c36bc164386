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

/** Names of source tables that can only mean the table: not to stand in an instruction or a specification. */
export function tableNamesOf(schemas: readonly SourceSchema[]): readonly string[] {
  const names = schemas.flatMap((schema) => schema.tables.map((table) => table.name.toLowerCase()));
  return [...new Set(names)].filter((name) => !ordinaryWords.has(name)).sort();
}

/** Matches any of the names as a whole word, whatever its case. */
export function wholeWords(names: readonly string[]): RegExp {
  return new RegExp(`\\b(?:${names.join('|')})\\b`, 'i');
}
