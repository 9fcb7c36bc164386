import { describe, expect, it } from 'vitest';
import { loadConcepts } from '../concepts/concept.js';
import { conceptGraph } from '../concepts/graph.js';
import { DuckSession } from '../duck/session.js';
import { loadTasks } from './load-tasks.js';
import { loadProtocol } from './protocol.js';
import { removedRelations, withDescendants } from './removal.js';

/** What the tables around SOFA read, after concepts/dependencies.md of the specification. */
const graph = new Map(
  Object.entries({
    bg: [],
    gcs: [],
    chemistry: [],
    urine_output: [],
    urine_output_rate: ['urine_output'],
    first_day_gcs: ['gcs'],
    sofa: ['bg', 'gcs', 'chemistry', 'urine_output_rate'],
    first_day_sofa: ['bg', 'first_day_gcs'],
    suspicion_of_infection: [],
    sepsis3: ['sofa', 'suspicion_of_infection'],
  }).map(([table, derivedTables]) => [table, { derivedTables }]),
);

const sofaTask = {
  mode: 'standard',
  database: 'mimic-iv',
  removesPublished: ['mimiciv_derived.sofa', 'mimiciv_derived.first_day_sofa'],
} as const;

describe('removedRelations', () => {
  it('keeps to the configured list as published, which leaves Sepsis-3 in the SOFA database', () => {
    expect(removedRelations(sofaTask, { removal: 'configured' }, graph)).toEqual([
      'mimiciv_derived.first_day_sofa',
      'mimiciv_derived.sofa',
    ]);
  });

  it('removes by lineage what is computed from a removed relation', () => {
    expect(removedRelations(sofaTask, { removal: 'lineage' }, graph)).toEqual([
      'mimiciv_derived.first_day_sofa',
      'mimiciv_derived.sepsis3',
      'mimiciv_derived.sofa',
    ]);
  });

  it('follows lineage over several steps', () => {
    expect([...withDescendants(graph, ['urine_output'])].sort()).toEqual([
      'sepsis3',
      'sofa',
      'urine_output',
      'urine_output_rate',
    ]);
  });

  it('removes every concept from a raw task on MIMIC-IV under both protocols', () => {
    const raw = { ...sofaTask, mode: 'raw' } as const;
    const all = [...graph.keys()].map((table) => `mimiciv_derived.${table}`).sort();
    expect(removedRelations(raw, { removal: 'configured' }, graph)).toEqual(all);
    expect(removedRelations(raw, { removal: 'lineage' }, graph)).toEqual(all);
  });

  it('removes nothing from an eICU task', () => {
    const eicu = { mode: 'raw', database: 'eicu', removesPublished: [] } as const;
    expect(removedRelations(eicu, { removal: 'lineage' }, graph)).toEqual([]);
  });

  it('keeps a listed relation that no concept defines', () => {
    const task = { ...sofaTask, removesPublished: ['mimiciv_derived.gone'] };
    expect(removedRelations(task, { removal: 'lineage' }, graph)).toEqual(['mimiciv_derived.gone']);
  });
});

describe('the shipped tasks under removal by lineage', () => {
  it('leave nothing that descends from a removed relation, and standard tasks keep intermediates', async () => {
    await using session = await DuckSession.open();
    const shipped = await conceptGraph(session, await loadConcepts());
    const protocol = await loadProtocol('m4bench-1');
    for (const task of (await loadTasks()).filter(({ database }) => database === 'mimic-iv')) {
      const removed = new Set(
        removedRelations(task, protocol, shipped).map((relation) => relation.replace('mimiciv_derived.', '')),
      );
      const left = [...shipped.keys()].filter((table) => !removed.has(table));
      for (const table of left) {
        const reads = shipped.get(table)?.derivedTables ?? [];
        expect(
          reads.filter((source) => removed.has(source)),
          `${task.name}: ${table}`,
        ).toEqual([]);
      }
      expect(left.length > 0, task.name).toBe(task.mode === 'standard');
    }
  });

  it('take the Sepsis-3 table away from the standard SOFA task', async () => {
    await using session = await DuckSession.open();
    const shipped = await conceptGraph(session, await loadConcepts());
    const task = (await loadTasks()).find(({ name }) => name === 'mimic-sofa-24h');
    expect(task?.mode).toBe('standard');
    expect(task && removedRelations(task, { removal: 'lineage' }, shipped)).toEqual([
      'mimiciv_derived.first_day_sofa',
      'mimiciv_derived.sepsis3',
      'mimiciv_derived.sofa',
    ]);
  });
});
