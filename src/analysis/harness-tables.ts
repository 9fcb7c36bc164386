import { endsOf, percentileInterval, seeds } from './bootstrap.js';
import { armPairs, cellsOf, improvedCount, taskValues } from './cells.js';
import type { AnalysisContext } from './estimates.js';
import { distinct, groupBy, mean, present, total } from './moments.js';
import { isStrictPass, type RunRow } from './run-row.js';
import { nativeArms, type Stratum } from './strata.js';
import type { Table, TableRow } from './tables.js';

/** `matched`, or the first indicator in which the two arms of a task differ. */
export type HarnessLabel = 'matched' | 'CLI' | 'routing' | 'unknown';

const routingOf = (row: RunRow): string =>
  JSON.stringify([row.harness.hasOverrides, row.harness.hasBackgroundModel, row.harness.routing]);

/**
 * Label by task: matched when, for each model, all runs of both arms share one CLI version and one routing profile
 * (model overrides, background model); a cell with several versions is unmatched.
 */
export function harnessLabels(stratum: Stratum): ReadonlyMap<string, HarnessLabel> {
  const labels = new Map<string, HarnessLabel>();
  for (const [task, rows] of groupBy(nativeArms(stratum.rows), (row) => row.task)) {
    const byModel = [...groupBy(rows, (row) => row.model).values()];
    const isShared = (profileOf: (row: RunRow) => string): boolean =>
      byModel.every((members) => distinct(members.map(profileOf)).length === 1);
    if (rows.some((row) => row.harness.cliVersion === null)) labels.set(task, 'unknown');
    else if (!isShared((row) => row.harness.cliVersion!)) labels.set(task, 'CLI');
    else labels.set(task, isShared(routingOf) ? 'matched' : 'routing');
  }
  return labels;
}

/** Table 5: the headline on tasks whose two arms ran in the same harness. */
export function harnessSubsets(stratum: Stratum, context: AnalysisContext): Table | undefined {
  const labels = harnessLabels(stratum);
  if ([...labels.values()].every((label) => label === 'unknown')) return undefined;
  const arms = nativeArms(stratum.rows);
  const subset = (name: string, accepted: readonly HarnessLabel[]): readonly TableRow[] => {
    const rows = arms.filter((row) => accepted.includes(labels.get(row.task)!));
    const values = taskValues(armPairs(rows)).map(({ value }) => value);
    if (values.length === 0) return [];
    const interval = percentileInterval(values, context.drawing, seeds.task);
    const strict = (condition: string): number =>
      rows.filter((row) => row.condition === condition && isStrictPass(row)).length;
    const keyF1 = taskValues(armPairs(rows, { metric: 'keyF1' })).map(({ value }) => value);
    return [
      {
        subset: name,
        tasks: values.length,
        runs: rows.length,
        delta: mean(values),
        ...endsOf(interval),
        positiveTasks: improvedCount(values),
        strictNoSkill: strict('no-skill'),
        strictWithSkill: strict('with-skill'),
        keyF1Delta: mean(keyF1),
      },
    ];
  };
  const rows = [
    ...subset('All tasks', ['matched', 'routing', 'CLI', 'unknown']),
    ...subset('CLI-matched', ['matched', 'routing']),
    ...subset('CLI- and routing-matched', ['matched']),
  ];
  if (rows.length === 0) return undefined;
  return {
    title: 'The effect of skills on tasks whose arms share a harness',
    columns: Object.keys(rows[0]!),
    rows,
    print: [
      { header: 'Subset', from: ['subset'] },
      { header: 'Tasks', from: ['tasks'] },
      { header: 'Runs', from: ['runs'] },
      { header: 'Delta', from: ['delta', 'low', 'high'], as: 'estimate' },
      { header: 'Positive', from: ['positiveTasks', 'tasks'], as: 'count' },
      { header: 'Strict, no skill', from: ['strictNoSkill'] },
      { header: 'Strict, with skill', from: ['strictWithSkill'] },
      { header: 'Key F1 delta', from: ['keyF1Delta'], as: 'fixed' },
    ],
  };
}

/** Table 30: what of the harness differed between the arms. */
export function harnessIndicators(stratum: Stratum): Table | undefined {
  const arms = nativeArms(stratum.rows);
  const versions = distinct(arms.flatMap((row) => row.harness.cliVersion ?? []));
  if (versions.length === 0) return undefined;
  return {
    title: 'Harness indicators by condition',
    columns: [
      'condition',
      'runs',
      ...versions.map((version) => `cli ${version}`),
      'withOverrides',
      'withBackgroundModel',
      'agentHours',
    ],
    rows: ['no-skill', 'with-skill'].flatMap((condition): readonly TableRow[] => {
      const rows = arms.filter((row) => row.condition === condition);
      if (rows.length === 0) return [];
      const countOf = (holds: (row: RunRow) => boolean): number => rows.filter(holds).length;
      return [
        {
          condition,
          runs: rows.length,
          ...Object.fromEntries(
            versions.map((version) => [
              `cli ${version}`,
              countOf((row) => row.harness.cliVersion === version),
            ]),
          ),
          withOverrides: countOf((row) => row.harness.hasOverrides === true),
          withBackgroundModel: countOf((row) => row.harness.hasBackgroundModel === true),
          agentHours: total(present(rows.map((row) => row.seconds))) / 3600,
        },
      ];
    }),
    print: [
      { header: 'Condition', from: ['condition'] },
      { header: 'Runs', from: ['runs'] },
      ...versions.map((version) => ({ header: `CLI ${version}`, from: [`cli ${version}`] })),
      { header: 'Overrides recorded', from: ['withOverrides'] },
      { header: 'Background model', from: ['withBackgroundModel'] },
      { header: 'Agent hours', from: ['agentHours'], as: 'fixed', digits: 1 },
    ],
  };
}

/** How often the agent read the skill that was placed for it, and the reward when it did and did not. */
export function skillUse(stratum: Stratum): Table | undefined {
  const known = stratum.rows.filter((row) => row.hasOpenedSkill !== null);
  if (known.length === 0) return undefined;
  return {
    title: 'Use of the placed skills',
    columns: ['condition', 'model', 'runs', 'opened', 'rewardOpened', 'rewardNotOpened'],
    rows: cellsOf(known.map((row) => ({ ...row, task: '' }))).map((cell) => {
      const reward = (opened: boolean): number | null => {
        const rewards = present(
          cell.rows.filter((row) => row.hasOpenedSkill === opened).map((row) => row.reward),
        );
        return rewards.length === 0 ? null : mean(rewards);
      };
      return {
        condition: cell.schema === 'native' ? cell.condition : `${cell.condition}/${cell.schema}`,
        model: cell.model,
        runs: cell.rows.length,
        opened: cell.rows.filter((row) => row.hasOpenedSkill).length,
        rewardOpened: reward(true),
        rewardNotOpened: reward(false),
      };
    }),
    notes: [
      'Opening a skill is the agent’s choice, so the two rewards are not a comparison of like with like.',
    ],
  };
}
