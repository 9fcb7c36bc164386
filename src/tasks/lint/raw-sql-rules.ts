import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { derivedSchema } from '../../concepts/concept.js';
import type { DuckSession } from '../../duck/session.js';
import { relationsRead } from '../../duck/syntax-tree.js';
import { type ConceptReads, removedRelations } from '../removal.js';
import type { Task } from '../task.js';
import type { Finding } from './finding.js';

/**
 * The raw-SQL control holds the whole definition: where the reference of a standard task reads a concept that the
 * task removes, the query of that concept stands in the text too, and so on down. (In raw tasks every concept is
 * gone on purpose: the text is a definition to rebuild.)
 */
export async function rawSqlFindings(
  session: DuckSession,
  tasks: readonly Task[],
  graph: ConceptReads,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const task of tasks) {
    const text = task.material.referenceSql;
    if (task.mode !== 'standard' || text === undefined || !existsSync(task.referenceFile)) continue;
    const removed = new Set(removedRelations(task, { removal: 'lineage' }, graph));
    const given = new Set(
      [...text.matchAll(/^-- mimiciv_derived\.([a-z0-9_]+)$/gm)].map(([, concept]) => concept ?? ''),
    );
    const query = (await readFile(task.referenceFile, 'utf8')).trimEnd().replace(/;$/, '');
    const reads = await relationsRead(session, query, task.referenceFile).catch(() => []);
    const read = [
      ...reads.filter(({ schema }) => schema === derivedSchema).map(({ table }) => table),
      ...[...given].flatMap((concept) => graph.get(concept)?.derivedTables ?? []),
    ];
    for (const concept of new Set(read)) {
      if (!removed.has(`${derivedSchema}.${concept}`) || given.has(concept)) continue;
      findings.push({
        file: task.referenceFile,
        line: 1,
        rule: 'rawsql-incomplete',
        message: `reads ${concept}, which ${task.name} removes; name it in reference_concepts of the family.`,
      });
    }
  }
  return findings;
}
