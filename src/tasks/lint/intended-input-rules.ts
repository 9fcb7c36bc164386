import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readTomlFile } from '../../support/toml-file.js';
import { kebabName } from '../family-file.js';
import { type ConceptReads, removedRelations } from '../removal.js';
import type { Task } from '../task.js';
import type { Finding } from './finding.js';

const intendedInputsFile = z.strictObject({
  inputs: z.array(
    z.strictObject({
      task: kebabName,
      /** Scored column that the source reproduces. */
      column: z.string().min(1),
      source: z.string().regex(/^[a-z0-9_]+\.[a-z0-9_]+\.[a-z0-9_]+$/, 'must be schema.table.column'),
      reason: z.string().min(20, 'must say in a sentence why it is meant to be there'),
    }),
  ),
});

export type IntendedInput = z.infer<typeof intendedInputsFile>['inputs'][number];

/** `families/intended-inputs.toml`; empty when the file does not exist. */
export async function loadIntendedInputs(file: string): Promise<readonly IntendedInput[]> {
  if (!existsSync(file)) return [];
  return (await readTomlFile(file, intendedInputsFile, 'RECORD_INVALID', 'list of intended inputs')).inputs;
}

/** Each intended input is about a scored column of a task and about a relation that the task keeps. */
export async function intendedInputFindings(
  file: string,
  tasks: readonly Task[],
  graph: ConceptReads,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { task: name, column, source } of await loadIntendedInputs(file)) {
    const add = (message: string): void => {
      findings.push({ file, line: 1, rule: 'intended-input', message });
    };
    const task = tasks.find((each) => each.name === name);
    if (task === undefined) {
      add(`there is no task ${name}.`);
      continue;
    }
    if (!task.contract.scoredColumns.includes(column)) add(`${column} is no scored column of ${name}.`);
    const relation = source.split('.').slice(0, 2).join('.');
    if (removedRelations(task, { removal: 'lineage' }, graph).includes(relation)) {
      add(`${name} removes ${relation}, so it is no input.`);
    }
  }
  return findings;
}
