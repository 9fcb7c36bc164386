import { studentInterval } from './bootstrap.js';
import { cellMean, cellsOf } from './cells.js';
import { type Figure, figureConfig, palette, schemaUrl, shapes } from './figures.js';
import { distinct, groupBy, mean, present } from './moments.js';
import { modelLabel } from './published-release.js';
import { judgedRows } from './run-row.js';
import type { Stratum } from './strata.js';

/** Reward under each schema: a thin line per task, a thick one for the mean. */
export function schemaSlopes(stratum: Stratum): Figure | undefined {
  const transformed = stratum.rows.filter((row) => row.schema !== 'native');
  if (transformed.length === 0) return undefined;
  const conditions = distinct(transformed.map((row) => row.condition));
  const values = conditions.flatMap((condition) => {
    const models = distinct(transformed.filter((row) => row.condition === condition).map((row) => row.model));
    const cells = cellsOf(
      stratum.rows.filter((row) => row.condition === condition && models.includes(row.model)),
    );
    const schemas = distinct(cells.map((cell) => cell.schema));
    const complete = [...groupBy(cells, (cell) => cell.task)].filter(
      ([, members]) => distinct(members.map((cell) => cell.schema)).length === schemas.length,
    );
    return schemas.flatMap((schema) => {
      const points = complete.flatMap(([task, members]) => {
        const rewards = present(
          members.filter((cell) => cell.schema === schema).map((cell) => cellMean(cell, 'reward')),
        );
        return rewards.length === 0 ? [] : [{ condition, schema, task, reward: mean(rewards), kind: 'task' }];
      });
      if (points.length === 0) return [];
      const average = mean(points.map((point) => point.reward));
      return [...points, { condition, schema, task: 'mean over tasks', reward: average, kind: 'mean' }];
    });
  });
  if (values.length === 0) return undefined;
  const x = {
    field: 'schema',
    type: 'nominal',
    sort: ['native', 'obfuscated', 'restructured'],
    title: null,
    axis: { labelAngle: 0 },
  } as const;
  const y = {
    field: 'reward' as const,
    type: 'quantitative' as const,
    title: 'Mean reward',
    scale: { domain: [0, 1] },
  };
  return {
    $schema: schemaUrl,
    title: `Reward across schemas: ${stratum.label}`,
    data: { values },
    facet: { column: { field: 'condition', type: 'nominal', title: null } },
    spec: {
      width: 260,
      height: 300,
      layer: [
        {
          transform: [{ filter: "datum.kind === 'task'" }],
          mark: { type: 'line', point: { size: 14 }, strokeWidth: 0.8, opacity: 0.45, color: palette[0]! },
          encoding: { x, y, detail: { field: 'task', type: 'nominal' } },
        },
        {
          transform: [{ filter: "datum.kind === 'mean'" }],
          mark: { type: 'line', point: { size: 60 }, strokeWidth: 3, color: palette[1]! },
          encoding: { x, y },
        },
      ],
    },
    config: figureConfig,
  };
}

/** Mean reward of a cell against what it used: tokens or cost. */
export function rewardAgainst(
  strata: readonly Stratum[],
  measure: 'tokens' | 'cost' | 'seconds',
): Figure | undefined {
  const pick = {
    tokens: (row: Stratum['rows'][number]) =>
      row.tokens === null ? null : row.tokens.input + row.tokens.output,
    cost: (row: Stratum['rows'][number]) => row.cost,
    seconds: (row: Stratum['rows'][number]) => row.seconds,
  }[measure];
  const titles = {
    tokens: 'Input and output tokens of a run (mean of the cell)',
    cost: 'Cost of a run (mean of the cell)',
    seconds: 'Agent seconds of a run (mean of the cell)',
  };
  const values = strata.flatMap((stratum) =>
    cellsOf(judgedRows(stratum.rows)).flatMap((cell) => {
      const used = present(cell.rows.map(pick));
      // The axis is logarithmic.
      if (used.length === 0 || mean(used) <= 0) return [];
      return [
        {
          task: cell.task,
          condition: cell.condition,
          series: `${modelLabel(cell.model)} (${stratum.label})`,
          reward: cellMean(cell, 'reward'),
          used: mean(used),
        },
      ];
    }),
  );
  if (values.length === 0) return undefined;
  return {
    $schema: schemaUrl,
    title: `Reward against ${measure}`,
    width: 520,
    height: 360,
    data: { values },
    mark: { type: 'point', filled: true, size: 40, opacity: 0.75 },
    encoding: {
      x: { field: 'used', type: 'quantitative', title: titles[measure], scale: { type: 'log' } },
      y: { field: 'reward', type: 'quantitative', title: 'Mean reward', scale: { domain: [0, 1] } },
      color: { field: 'condition', type: 'nominal', title: 'Condition', scale: { range: palette } },
      shape: { field: 'series', type: 'nominal', title: 'Model', scale: { range: shapes } },
      tooltip: ['task', 'condition', 'series', 'reward', 'used'].map((field) => ({ field })),
    },
    config: figureConfig,
  };
}

/** How the rewards of single runs are spread, by condition and model. */
export function scoreDistributions(strata: readonly Stratum[]): Figure | undefined {
  const bins = 20;
  const values = strata.flatMap((stratum) =>
    [
      ...groupBy(
        judgedRows(stratum.rows).filter((row) => row.schema === 'native'),
        (row) => `${row.condition}\u0000${row.model}`,
      ).values(),
    ].flatMap((rows) => {
      const counts = new Array<number>(bins).fill(0);
      for (const row of rows) counts[Math.min(bins - 1, Math.max(0, Math.floor(row.reward * bins)))]! += 1;
      return counts.map((count, bin) => ({
        from: bin / bins,
        to: (bin + 1) / bins,
        share: count / rows.length,
        condition: rows[0]!.condition,
        series: `${modelLabel(rows[0]!.model)} (${stratum.label})`,
      }));
    }),
  );
  if (values.length === 0) return undefined;
  return {
    $schema: schemaUrl,
    title: 'Distribution of the reward of single runs (native schema)',
    data: { values },
    facet: {
      row: { field: 'series', type: 'nominal', title: null, header: { labelAngle: 0, labelAlign: 'left' } },
      column: { field: 'condition', type: 'nominal', title: null },
    },
    spec: {
      width: 150,
      height: 60,
      mark: { type: 'bar', color: palette[0]! },
      encoding: {
        x: { bin: 'binned', field: 'from', type: 'quantitative', title: 'Reward', scale: { domain: [0, 1] } },
        x2: { field: 'to' },
        y: { field: 'share', type: 'quantitative', title: 'Share of runs', axis: { format: '.0%' } },
      },
    },
    config: figureConfig,
  };
}

/** Task-balanced means of each arm with t intervals over tasks: the bars of a report. */
export function armMeans(strata: readonly Stratum[]): Figure | undefined {
  const values = strata.flatMap((stratum) =>
    [
      ...groupBy(
        cellsOf(stratum.rows.filter((row) => row.schema === 'native')),
        (cell) => `${cell.condition}\u0000${cell.model}`,
      ).values(),
    ].flatMap((cells) => {
      const rewards = present(cells.map((cell) => cellMean(cell, 'reward')));
      if (rewards.length === 0) return [];
      const interval = studentInterval(rewards);
      const centre = mean(rewards);
      return [
        {
          condition: cells[0]!.condition,
          series: `${modelLabel(cells[0]!.model)} (${stratum.label})`,
          reward: centre,
          low: Math.max(0, interval?.low ?? centre),
          high: Math.min(1, interval?.high ?? centre),
        },
      ];
    }),
  );
  if (values.length === 0) return undefined;
  const series = { field: 'series', type: 'nominal', title: null } as const;
  const y = { field: 'condition', type: 'nominal', title: null, axis: { labelLimit: 500 } } as const;
  return {
    $schema: schemaUrl,
    title: 'Mean reward over tasks by condition and model (native schema)',
    width: 420,
    height: { step: 14 },
    data: { values },
    layer: [
      {
        mark: { type: 'bar' },
        encoding: {
          x: { field: 'reward', type: 'quantitative', title: 'Mean reward', scale: { domain: [0, 1] } },
          y,
          yOffset: series,
          color: { ...series, scale: { range: palette } },
        },
      },
      {
        mark: { type: 'rule', color: '#222222' },
        encoding: {
          x: { field: 'low', type: 'quantitative' },
          x2: { field: 'high' },
          y,
          yOffset: series,
        },
      },
    ],
    config: figureConfig,
  };
}
