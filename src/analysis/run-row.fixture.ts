import type { RunRow } from './run-row.js';
import type { TaskFacts } from './task-facts.js';

/** A judged row without anything remarkable; tests say what is. */
export function rowWith(changes: Partial<RunRow> & { readonly reward: number | null }): RunRow {
  const {
    task = 'task-a',
    condition = 'no-skill',
    model = 'model-a',
    schema = 'native',
    trial = 1,
  } = changes;
  return {
    runId: [task, condition, schema, model, trial, changes.campaign ?? 'campaign'].join('_'),
    campaign: 'campaign',
    part: 'primary',
    task,
    condition,
    schema,
    agent: 'agent-a',
    model,
    effort: 'medium',
    protocol: 'm4bench-1',
    benchmarkVersion: '1.0.0',
    dataset: 'mimic-iv-demo',
    edition: 'demo',
    trial,
    rewardRobust: null,
    failure: null,
    failureReason: null,
    matchRates: {},
    passedChecks: 4,
    failedChecks: 1,
    errors: 0,
    hasFailedDiagnostics: true,
    keyPrecision: 1,
    keyRecall: 1,
    keyF1: 1,
    extraKeys: 0,
    truthRows: 100,
    orderedNmae: 0.1,
    orderedColumns: 2,
    integrity: { isPublishable: true, isIsolated: true, hasCleanCanaries: true, hasCleanLint: true },
    returnCode: 0,
    seconds: 10,
    tokens: null,
    cost: null,
    harness: { cliVersion: null, hasOverrides: null, hasBackgroundModel: null, routing: [] },
    hasOpenedSkill: null,
    artifactBytes: null,
    attempts: 1,
    ...changes,
  };
}

/** Rows of both native arms: rewards by task, each list one cell. */
export function armsOf(
  cells: Readonly<Record<string, readonly [readonly number[], readonly number[]]>>,
  changes: Partial<RunRow> = {},
): readonly RunRow[] {
  return Object.entries(cells).flatMap(([task, [without, withSkill]]) =>
    (
      [
        ['no-skill', without],
        ['with-skill', withSkill],
      ] as const
    ).flatMap(([condition, rewards]) =>
      rewards.map((reward, index) => rowWith({ ...changes, task, condition, reward, trial: index + 1 })),
    ),
  );
}

/** Facts of made-up tasks, each a family of its own unless told. */
export function factsFor(
  names: readonly string[],
  changes: (name: string) => Partial<TaskFacts> = () => ({}),
): readonly TaskFacts[] {
  return names.map((name) => ({
    name,
    family: name,
    familyLabel: name,
    mode: 'standard',
    database: 'mimic-iv',
    keyColumns: ['stay_id'],
    valueColumns: ['a'],
    scoredColumns: ['a', 'b'],
    ...changes(name),
  }));
}
