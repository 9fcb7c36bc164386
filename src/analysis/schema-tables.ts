import { endsOf, type Interval, percentileInterval, percentilesOf, seeds } from './bootstrap.js';
import {
  cellsOf,
  conditionTaskMeans,
  improvedCount,
  pairCells,
  type TaskValue,
  taskValues,
} from './cells.js';
import type { AnalysisContext } from './estimates.js';
import { distinct, mean } from './moments.js';
import type { Resampler } from './random-stream.js';
import type { RunRow } from './run-row.js';
import type { RunSet } from './run-set.js';
import type { Stratum } from './strata.js';
import type { Table, TableRow } from './tables.js';

export type TransformedSchema = 'obfuscated' | 'restructured';
export const transformedSchemas: readonly TransformedSchema[] = ['obfuscated', 'restructured'];

/** Effect of skills under one schema, over tasks shared by all schemas. */
export interface SchemaEffect {
  readonly schema: 'native' | TransformedSchema;
  readonly tasks: number;
  readonly noSkill: number;
  readonly withSkill: number;
  readonly delta: number;
  readonly interval: Interval | undefined;
  readonly positive: number | undefined;
  /** Delta over native delta: the part of the gain that is kept. */
  readonly ratio: number | undefined;
  readonly ratioInterval: Interval | undefined;
  /** True when the no-skill mean is a printed number, not computed from runs. */
  readonly isPrinted: boolean;
}

export interface SchemaGeneralisation {
  readonly effects: readonly SchemaEffect[];
  readonly models: readonly string[];
  /** Tasks with a transformed skill arm that were left out because another arm or schema lacks them. */
  readonly leftOut: readonly string[];
}

const conditionRows = (rows: readonly RunRow[], condition: string, schema: string): readonly RunRow[] =>
  rows.filter((row) => row.condition === condition && row.schema === schema);

/**
 * Does the gain survive another schema? Models are those with skills under a transformed schema; tasks are those
 * with both arms everywhere (a no-skill arm known only as a printed mean does not limit them). The ratio's interval
 * resamples both deltas over the same tasks.
 */
export function schemaGeneralisation(
  stratum: Stratum,
  context: AnalysisContext,
  printed: RunSet['printedProbeMeans'] = {},
): SchemaGeneralisation | undefined {
  const transformed = stratum.rows.filter((row) => row.schema !== 'native' && row.condition === 'with-skill');
  const schemas = transformedSchemas.filter((schema) => transformed.some((row) => row.schema === schema));
  if (schemas.length === 0) return undefined;
  const models = distinct(transformed.map((row) => row.model));
  const rows = stratum.rows.filter((row) => models.includes(row.model));
  const printedFor = (schema: string): number | undefined =>
    conditionRows(rows, 'no-skill', schema).length > 0 || schema === 'native'
      ? undefined
      : printed[stratum.campaign]?.[schema as TransformedSchema];
  const taskSets = ['native' as const, ...schemas].map((schema) =>
    printedFor(schema) === undefined
      ? new Set(schemaPairs(rows, schema).map((pair) => pair.task))
      : new Set(conditionRows(rows, 'with-skill', schema).map((row) => row.task)),
  );
  const all = distinct(transformed.map((row) => row.task));
  const tasks = all.filter((task) => taskSets.every((set) => set.has(task)));
  if (tasks.length === 0) return undefined;
  const kept = rows.filter((row) => tasks.includes(row.task));
  const native = schemaDeltas(kept, 'native');
  return {
    models,
    leftOut: all.filter((task) => !tasks.includes(task)),
    effects: ['native' as const, ...schemas].map((schema) =>
      effectOf(kept, schema, native, context.drawing, printedFor(schema)),
    ),
  };
}

function schemaPairs(rows: readonly RunRow[], schema: string) {
  return pairCells(
    cellsOf(conditionRows(rows, 'no-skill', schema)),
    cellsOf(conditionRows(rows, 'with-skill', schema)),
    'reward',
  );
}

const schemaDeltas = (rows: readonly RunRow[], schema: string): readonly number[] =>
  taskValues(schemaPairs(rows, schema)).map(({ value }) => value);

function effectOf(
  rows: readonly RunRow[],
  schema: 'native' | TransformedSchema,
  native: readonly number[],
  drawing: Resampler,
  printedNoSkill: number | undefined,
): SchemaEffect {
  const balanced = (condition: string): readonly TaskValue[] =>
    conditionTaskMeans(rows, condition, 'reward', schema);
  const withSkillTasks = balanced('with-skill');
  const withSkill = mean(withSkillTasks.map(({ value }) => value));
  const nativeDelta = mean(native);
  const ratioOf = (delta: number): number | undefined =>
    nativeDelta === 0 ? undefined : delta / nativeDelta;
  if (printedNoSkill !== undefined) {
    const delta = withSkill - printedNoSkill;
    return {
      schema,
      tasks: withSkillTasks.length,
      noSkill: printedNoSkill,
      withSkill,
      delta,
      interval: undefined,
      positive: undefined,
      ratio: ratioOf(delta),
      ratioInterval: undefined,
      isPrinted: true,
    };
  }
  const deltas = schemaDeltas(rows, schema);
  return {
    schema,
    tasks: deltas.length,
    noSkill: mean(balanced('no-skill').map(({ value }) => value)),
    withSkill,
    delta: mean(deltas),
    interval: percentileInterval(deltas, drawing, seeds.followUp),
    positive: improvedCount(deltas),
    ratio: ratioOf(mean(deltas)),
    ratioInterval: schema === 'native' ? undefined : ratioInterval(deltas, native, drawing),
    isPrinted: false,
  };
}

/** Percentile interval of a ratio of mean deltas, both resampled over the same tasks; undefined if it may divide by 0. */
export function ratioInterval(
  numerators: readonly number[],
  denominators: readonly number[],
  drawing: Resampler,
): Interval | undefined {
  const units = numerators.length;
  const indices = drawing.draws(units, seeds.followUp);
  const ratios = new Float64Array(drawing.resamples);
  let at = 0;
  for (let draw = 0; draw < ratios.length; draw += 1) {
    let [above, below] = [0, 0];
    for (let picked = 0; picked < units; picked += 1, at += 1) {
      above += numerators[indices[at]!]!;
      below += denominators[indices[at]!]!;
    }
    if (below <= 0) return undefined;
    ratios[draw] = above / below;
  }
  return percentilesOf(ratios);
}

/** Table 23. */
export function schemaGeneralisationTable(
  stratum: Stratum,
  context: AnalysisContext,
  printed: RunSet['printedProbeMeans'],
): Table | undefined {
  const result = schemaGeneralisation(stratum, context, printed);
  if (result === undefined) return undefined;
  const notes = [`Models: ${result.models.join(', ')}.`];
  if (result.effects.some((effect) => effect.isPrinted))
    notes.push(
      'The no-skill means of the transformed schemas are printed numbers (3 decimals) of another campaign, whose runs ' +
        'were not published: no interval and no count of tasks can be computed, and the ratio holds to about 2 decimals.',
    );
  if (result.leftOut.length > 0)
    notes.push(`Left out, because an arm or a schema lacks them: ${result.leftOut.join(', ')}.`);
  return {
    title: 'Effect of skills across schemas',
    columns: [
      'schema',
      'tasks',
      'noSkill',
      'withSkill',
      'delta',
      'low',
      'high',
      'positiveTasks',
      'ratio',
      'ratioLow',
      'ratioHigh',
    ],
    rows: result.effects.map(
      (effect): TableRow => ({
        schema: effect.schema,
        tasks: effect.tasks,
        noSkill: effect.noSkill,
        withSkill: effect.withSkill,
        delta: effect.delta,
        ...endsOf(effect.interval),
        positiveTasks: effect.positive ?? null,
        ratio: effect.ratio ?? null,
        ratioLow: effect.ratioInterval?.low ?? null,
        ratioHigh: effect.ratioInterval?.high ?? null,
      }),
    ),
    notes,
    print: [
      { header: 'Schema', from: ['schema'] },
      { header: 'Tasks', from: ['tasks'] },
      { header: 'No skill', from: ['noSkill'], as: 'fixed' },
      { header: 'With skill', from: ['withSkill'], as: 'fixed' },
      { header: 'Delta', from: ['delta', 'low', 'high'], as: 'estimate' },
      { header: 'Positive tasks', from: ['positiveTasks', 'tasks'], as: 'count' },
      { header: 'Robustness ratio', from: ['ratio', 'ratioLow', 'ratioHigh'], as: 'estimate' },
    ],
  };
}

/** No-skill means by task and schema, and the drops from native; the probe for memory of the public schema. */
export function schemaProbe(stratum: Stratum): Table | undefined {
  const probed = stratum.rows.filter((row) => row.condition === 'no-skill');
  const models = distinct(probed.filter((row) => row.schema !== 'native').map((row) => row.model));
  if (models.length === 0) return undefined;
  const rows = probed.filter((row) => models.includes(row.model));
  const means = (schema: string): ReadonlyMap<string, number> =>
    new Map(conditionTaskMeans(rows, 'no-skill', 'reward', schema).map(({ task, value }) => [task, value]));
  const [native, obfuscated, restructured] = ['native', ...transformedSchemas].map(means);
  const difference = (a: number | undefined, b: number | undefined): number | null =>
    a === undefined || b === undefined ? null : a - b;
  const tasks = distinct(rows.filter((row) => row.schema !== 'native').map((row) => row.task));
  return {
    title: 'No-skill reward by schema',
    columns: ['task', 'native', 'obfuscated', 'restructured', 'obfuscatedDelta', 'restructuredDelta'],
    rows: tasks.map((task) => ({
      task,
      native: native!.get(task) ?? null,
      obfuscated: obfuscated!.get(task) ?? null,
      restructured: restructured!.get(task) ?? null,
      obfuscatedDelta: difference(obfuscated!.get(task), native!.get(task)),
      restructuredDelta: difference(restructured!.get(task), native!.get(task)),
    })),
    notes: [`Models: ${models.join(', ')}.`],
  };
}
