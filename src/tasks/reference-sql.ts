import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { readTextIfPresent } from '../support/files.js';

/** A query without the comment block that opens the file: that block is prose, the query is not. */
export function withoutHeader(sql: string): string {
  const lines = sql.split('\n');
  const start = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('--'));
  return lines.slice(Math.max(start, 0)).join('\n').trimEnd().replace(/;$/, '');
}

/**
 * The text of a reference query for the raw-SQL control, complete: where the reference reads the very concept that
 * the task removes, the query of that concept stands before it, so that the control holds the whole definition.
 *
 * Undefined when the reference file does not exist.
 */
export async function referenceSqlText(
  referenceFile: string,
  conceptFolder: string,
  concepts: readonly string[],
): Promise<string | undefined> {
  const reference = await readTextIfPresent(referenceFile);
  if (reference === undefined) return undefined;
  if (concepts.length === 0) return withoutHeader(reference);
  const files = (await readdir(conceptFolder, { recursive: true }).catch(() => [])).filter((file) =>
    file.endsWith('.sql'),
  );
  const parts: string[] = [];
  for (const concept of concepts) {
    const file = files.find((candidate) => basename(candidate, '.sql') === concept);
    const text = file === undefined ? undefined : await readTextIfPresent(join(conceptFolder, file));
    if (text === undefined) {
      throw new M4BenchError(
        'TASK_INVALID',
        `The reference ${referenceFile} names the concept ${concept}, which has no SQL file under ${conceptFolder}.`,
        'Correct reference_concepts in family.toml, or add the concept.',
      );
    }
    parts.push(`-- mimiciv_derived.${concept}\n${withoutHeader(text)};\n\n-- reference\n`);
  }
  return parts.join('\n') + withoutHeader(reference);
}
