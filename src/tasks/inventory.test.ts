import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../support/home.js';
import { loadTasks } from './load-tasks.js';

const dataFolder = process.env.M4BENCH_TEST_DATA ?? join(packageRoot(), '..', 'shared');
const inventoryFile = join(dataFolder, 'spec', 'tasks', 'inventory.json');

interface InventoryTask {
  readonly name: string;
  readonly family: string;
  readonly family_label: string;
  readonly kind: string;
  readonly title: string;
  readonly mode: string;
  readonly database: string;
  readonly difficulty: string;
  readonly tags: readonly string[];
  readonly grain: string;
  readonly dropped_relations: { readonly configured: readonly string[] };
  readonly reference: { readonly key: string };
  readonly evaluation: {
    readonly key_columns: readonly string[];
    readonly required_columns: readonly string[];
    readonly value_columns: readonly string[];
    readonly scored_columns: readonly string[];
    readonly tolerance: Readonly<Record<string, number>>;
    readonly row_coverage_threshold: number;
    readonly accuracy_threshold: number;
  };
  readonly skills: readonly string[];
  readonly decoy_skill: string;
  readonly conditions: readonly string[];
}

const inventory: readonly InventoryTask[] = existsSync(inventoryFile)
  ? (JSON.parse(readFileSync(inventoryFile, 'utf8')) as { tasks: InventoryTask[] }).tasks
  : [];

describe.skipIf(inventory.length === 0)(
  'shipped tasks against the inventory (skipped without test data)',
  () => {
    it('are the 28 tasks in the order of the inventory', async () => {
      const tasks = await loadTasks();
      expect(tasks.map((task) => task.name)).toEqual(inventory.map((task) => task.name));
      expect(new Set(tasks.map((task) => task.family)).size).toBe(15);
    });

    it('state every fact as the inventory does', async () => {
      const tasks = new Map((await loadTasks()).map((task) => [task.name, task]));
      for (const expected of inventory) {
        const task = tasks.get(expected.name);
        expect(task, expected.name).toBeDefined();
        if (task === undefined) continue;
        const { evaluation } = expected;
        expect(
          {
            family: task.family,
            familyTitle: task.familyTitle,
            kind: task.kind,
            title: task.title,
            mode: task.mode,
            database: task.database,
            difficulty: task.difficulty,
            tags: task.tags,
            grain: task.grain,
            removes: task.removesPublished,
            reference: task.reference,
            contract: task.contract,
            skills: task.skills.map((skill) => skill.name),
            decoy: task.material.decoys.published?.name,
          },
          expected.name,
        ).toEqual({
          family: expected.family,
          familyTitle: expected.family_label,
          kind: expected.kind,
          title: expected.title,
          mode: expected.mode,
          database: expected.database,
          difficulty: expected.difficulty,
          tags: expected.tags,
          grain: expected.grain,
          removes: expected.dropped_relations.configured,
          reference: expected.reference.key,
          contract: {
            keyColumns: evaluation.key_columns,
            requiredColumns: evaluation.required_columns,
            valueColumns: evaluation.value_columns,
            scoredColumns: evaluation.scored_columns,
            tolerance: evaluation.tolerance,
            rowCoverageThreshold: evaluation.row_coverage_threshold,
            accuracyThreshold: evaluation.accuracy_threshold,
          },
          skills: expected.skills,
          decoy: expected.decoy_skill,
        });
        expect(task.conditions, expected.name).toEqual(expect.arrayContaining([...expected.conditions]));
      }
    });
  },
);
