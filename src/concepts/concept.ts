import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { loadSqlFile, type SqlFile } from '../duck/sql-file.js';
import { M4BenchError } from '../support/errors.js';
import { benchmarkFolder } from '../support/home.js';

/** Database schema of the derived tables. */
export const derivedSchema = 'mimiciv_derived';

/** One derived table: one SQL file. */
export interface Concept {
  readonly table: string;
  /** Folder name: demographics, measurement, score … */
  readonly category: string;
  readonly sql: SqlFile;
}

/** All concepts of MIMIC-IV, sorted by table name. Only this database has derived tables. */
export async function loadConcepts(
  folder: string = join(benchmarkFolder(), 'concepts', 'mimic-iv'),
): Promise<readonly Concept[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.sql')).sort();
  const concepts = await Promise.all(
    files.map(async (file): Promise<Concept> => {
      const path = join(folder, file);
      return {
        table: basename(file, '.sql'),
        category: basename(dirname(path)),
        sql: await loadSqlFile(path),
      };
    }),
  );
  const seen = new Map<string, Concept>();
  for (const concept of concepts) {
    const twin = seen.get(concept.table);
    if (twin) {
      throw new M4BenchError(
        'CONCEPT_DUPLICATE',
        `Concept ${concept.table} is defined twice: ${twin.sql.path} and ${concept.sql.path}.`,
        'Remove one of the two files.',
      );
    }
    seen.set(concept.table, concept);
  }
  return [...seen.values()].sort((a, b) => (a.table < b.table ? -1 : 1));
}
