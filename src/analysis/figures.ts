import type { TopLevelSpec } from 'vega-lite';
import { armPairs, cellMean, cellsOf, taskValues } from './cells.js';
import { studentQuantile } from './distributions.js';
import { type AnalysisContext, taskTrialsOf } from './estimates.js';
import { byCodePoint, distinct, variance } from './moments.js';
import { modelLabel } from './published-release.js';
import type { Stratum } from './strata.js';
import type { TaskIndex } from './task-facts.js';

/** A Vega-Lite specification with its data inside. */
export type Figure = TopLevelSpec;

/** The font that ships with the package; figures name no other. */
export const figureFont = 'PT Sans';

export const schemaUrl = 'https://vega.github.io/schema/vega-lite/v6.json';

export const figureConfig = {
  font: figureFont,
  background: 'white',
  view: { stroke: null },
  axis: { labelFontSize: 11, titleFontSize: 12, gridColor: '#e6e6e6' },
  legend: { labelFontSize: 11, titleFontSize: 12, labelLimit: 0 },
  title: { fontSize: 14, anchor: 'start' },
} as const;

/** Colours that stay apart for the colour-blind (Okabe and Ito 2008). */
export const palette = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00', '#000000'];
export const shapes = ['square', 'triangle-up', 'circle', 'diamond', 'cross', 'triangle-down'];

const clinicalGroups: readonly (readonly [string, readonly string[]])[] = [
  ['renal', ['creatinine-baseline', 'kdigo', 'urine-output-rate']],
  ['severity', ['sofa', 'sapsii', 'apsiii', 'oasis', 'sirs']],
  ['infection', ['sepsis3', 'suspicion-infection']],
  ['liver', ['meld']],
  ['respiratory/cv', ['ventilation', 'vasopressor-equivalents']],
  ['neuro', ['gcs']],
  ['comorbidity', ['charlson']],
];

/** Tasks in clinical groups, ascending inside a group; others last. */
function tasksInGroups(
  tasks: readonly string[],
  index: TaskIndex,
): readonly { task: string; label: string }[] {
  const place = (task: string): number => {
    const family = index.get(task)?.family ?? '';
    const found = clinicalGroups.findIndex(([, families]) => families.includes(family));
    return found < 0 ? clinicalGroups.length : found;
  };
  const short = (task: string): string => task.replace(/^(mimic|eicu)-/, '');
  const isShared = (task: string): boolean =>
    tasks.some((other) => other !== task && short(other) === short(task));
  return [...tasks]
    .sort((a, b) => place(a) - place(b) || byCodePoint(a, b))
    .map((task) => ({
      task,
      label: `${isShared(task) ? task : short(task)} [${clinicalGroups[place(task)]?.[0] ?? 'other'}]`,
    }));
}

/** Half-width of the Welch-type 95 % interval of a task's delta from its trials; null with too few. */
function trialHalfWidth(trials: ReturnType<typeof taskTrialsOf>[number]): number | null {
  let [spread, degrees] = [0, 0];
  for (const { baseline, treatment } of trials.models) {
    if (baseline.length < 2 || treatment.length < 2) return null;
    spread += variance(baseline) / baseline.length + variance(treatment) / treatment.length;
    degrees += baseline.length + treatment.length - 2;
  }
  return (studentQuantile(0.975, degrees) * Math.sqrt(spread)) / trials.models.length;
}

/** Figure 2: delta of each task across campaigns, with intervals from the trials. */
export function skillDeltaForest(strata: readonly Stratum[], context: AnalysisContext): Figure | undefined {
  const values = strata.flatMap((stratum) => {
    const pairs = armPairs(stratum.rows);
    const trials = new Map(taskTrialsOf(pairs, context.tasks).map((task) => [task.task, task]));
    return taskValues(pairs).map(({ task, value }) => {
      const half = trialHalfWidth(trials.get(task)!);
      return {
        task,
        campaign: stratum.label,
        delta: value,
        low: half === null ? value : value - half,
        high: half === null ? value : value + half,
      };
    });
  });
  if (values.length === 0) return undefined;
  const tasks = tasksInGroups(distinct(values.map((value) => value.task)), context.tasks);
  const labels = new Map(tasks.map(({ task, label }) => [task, label]));
  const campaigns = [...new Set(values.map((value) => value.campaign))];
  const far = Math.max(0.6, ...values.map((value) => Math.abs(value.delta)));
  const domain = [-Math.ceil(far * 10) / 10, Math.ceil(far * 10) / 10];
  const y = {
    field: 'label',
    type: 'nominal',
    sort: tasks.map(({ label }) => label),
    title: null,
    axis: { labelLimit: 500, grid: true },
  } as const;
  const series = {
    field: 'campaign',
    type: 'nominal',
    title: 'Campaign',
    sort: campaigns,
    // One campaign needs no key.
    ...(campaigns.length === 1 ? { legend: null } : {}),
  } as const;
  const yOffset = { field: 'campaign', type: 'nominal', sort: campaigns } as const;
  return {
    $schema: schemaUrl,
    title: 'Effect of skills by task (native schema)',
    width: 520,
    height: { step: Math.max(7, 20 / campaigns.length) },
    data: { values: values.map((value) => ({ ...value, label: labels.get(value.task)! })) },
    layer: [
      {
        // Its own single row, so that the line is drawn once.
        data: { values: [{ zero: 0 }] },
        mark: { type: 'rule', strokeDash: [4, 4], color: '#666666' },
        encoding: { x: { field: 'zero', type: 'quantitative' } },
      },
      {
        mark: { type: 'bar', height: 1, clip: true },
        encoding: {
          x: { field: 'low', type: 'quantitative' },
          x2: { field: 'high' },
          y,
          yOffset,
          color: { ...series, scale: { range: palette } },
        },
      },
      {
        mark: { type: 'point', filled: true, size: 46 },
        encoding: {
          x: {
            field: 'delta',
            type: 'quantitative',
            title: 'Reward delta, with skill - no skill (95 % interval of trials)',
            scale: { domain },
          },
          y,
          yOffset,
          color: { ...series, scale: { range: palette } },
          shape: { ...series, scale: { range: shapes } },
        },
      },
    ],
    config: figureConfig,
  };
}

/** Variant of figure 2: tasks by campaigns as a heatmap with signed values. */
export function skillDeltaHeatmap(strata: readonly Stratum[], context: AnalysisContext): Figure | undefined {
  const deltas = strata.flatMap((stratum) =>
    taskValues(armPairs(stratum.rows)).map(({ task, value }) => ({
      task,
      campaign: stratum.label,
      delta: value,
    })),
  );
  if (deltas.length === 0) return undefined;
  const tasks = tasksInGroups(distinct(deltas.map((value) => value.task)), context.tasks);
  const campaigns = [...new Set(deltas.map((value) => value.campaign))];
  const byKey = new Map(deltas.map((value) => [`${value.task}\u0000${value.campaign}`, value.delta]));
  const signed = (value: number): string => `${value >= 0 ? '+' : ''}${value.toFixed(2)}`;
  const values = tasks.flatMap(({ task, label }) =>
    campaigns.map((campaign) => {
      const delta = byKey.get(`${task}\u0000${campaign}`);
      return { label, campaign, delta: delta ?? null, text: delta === undefined ? '-' : signed(delta) };
    }),
  );
  return heatmap({
    title: 'Effect of skills by task and campaign',
    values,
    rows: tasks.map(({ label }) => label),
    columns: campaigns,
    row: 'label',
    column: 'campaign',
    value: 'delta',
    valueTitle: 'Delta',
    scale: { domain: [-0.55, 0.55], clamp: true, scheme: 'redblue' },
    isDark: 'abs(value) >= 0.4',
  });
}

interface HeatmapSpec {
  readonly title: string;
  readonly values: readonly Readonly<Record<string, string | number | null>>[];
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly row: string;
  readonly column: string;
  readonly value: string;
  readonly valueTitle: string;
  readonly scale: { readonly domain: readonly number[]; readonly clamp?: boolean; readonly scheme: string };
  /** Where the fill is dark, so that the text must be white: an expression over `value`. */
  readonly isDark: string;
}

function heatmap(spec: HeatmapSpec): Figure {
  const y = {
    field: spec.row,
    type: 'nominal',
    sort: [...spec.rows],
    title: null,
    axis: { labelLimit: 500 },
  } as const;
  const x = {
    field: spec.column,
    type: 'nominal',
    sort: [...spec.columns],
    title: null,
    axis: { orient: 'top', labelAngle: -30, labelLimit: 500 },
  } as const;
  return {
    $schema: schemaUrl,
    title: spec.title,
    width: { step: 72 },
    height: { step: 18 },
    data: { values: [...spec.values] },
    layer: [
      {
        mark: { type: 'rect', stroke: 'white' },
        encoding: {
          x,
          y,
          color: {
            field: spec.value,
            type: 'quantitative',
            title: spec.valueTitle,
            scale: {
              domain: [...spec.scale.domain],
              scheme: spec.scale.scheme as 'redblue',
              ...(spec.scale.clamp === undefined ? {} : { clamp: spec.scale.clamp }),
            },
          },
        },
      },
      {
        mark: { type: 'text', fontSize: 10 },
        encoding: {
          x,
          y,
          text: { field: 'text', type: 'nominal' },
          color: {
            condition: {
              test: `isValid(datum['${spec.value}']) && (${spec.isDark.replaceAll('value', `datum['${spec.value}']`)})`,
              value: 'white',
            },
            value: '#222222',
          },
        },
      },
    ],
    config: figureConfig,
  };
}

/** Mean reward of every cell: tasks by condition and model. */
export function rewardHeatmap(stratum: Stratum, context: AnalysisContext): Figure | undefined {
  const cells = cellsOf(stratum.rows);
  const columnOf = (cell: (typeof cells)[number]): string =>
    `${cell.condition}${cell.schema === 'native' ? '' : ` (${cell.schema})`} · ${modelLabel(cell.model)}`;
  const tasks = tasksInGroups(distinct(cells.map((cell) => cell.task)), context.tasks);
  const labels = new Map(tasks.map(({ task, label }) => [task, label]));
  const values = cells.map((cell) => {
    const reward = cellMean(cell, 'reward');
    const known = !Number.isNaN(reward);
    return {
      label: labels.get(cell.task)!,
      column: columnOf(cell),
      reward: known ? reward : null,
      text: known ? reward.toFixed(2) : '-',
    };
  });
  if (values.length === 0) return undefined;
  return heatmap({
    title: `Mean reward by task and arm: ${stratum.label}`,
    values,
    rows: tasks.map(({ label }) => label),
    columns: distinct(values.map((value) => value.column)),
    row: 'label',
    column: 'column',
    value: 'reward',
    valueTitle: 'Reward',
    scale: { domain: [0, 1], scheme: 'viridis' },
    isDark: 'value < 0.55',
  });
}
