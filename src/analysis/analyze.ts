import { M4BenchError } from '../support/errors.js';
import type { AnalysisContext } from './estimates.js';
import { type Figure, rewardHeatmap, skillDeltaForest, skillDeltaHeatmap } from './figures.js';
import type { EvidencePackage, ValidityCaveat } from './published-documents.js';
import { type RandomKind, resampler } from './random-stream.js';
import { armMeans, rewardAgainst, schemaSlopes, scoreDistributions } from './reward-figures.js';
import { type RunSet, runSetHash } from './run-set.js';
import { type Stratum, strataOf } from './strata.js';
import { furtherTables, paperTables, type TableEntry } from './table-catalogue.js';
import type { Table } from './tables.js';
import { taskIndexOf } from './task-facts.js';

export interface AnalyzeOptions {
  /** Default 20,000. */
  readonly resamples?: number;
  /** Default `modern`; `published` gives the published intervals to the last digit. */
  readonly rng?: RandomKind;
  /** Only these tables; an unknown or empty one is an error. Default all. */
  readonly only?: readonly string[];
  /** Rows printed of largest gains and declines, default 6 as published. */
  readonly listed?: number;
  /** Leave out runs that may not be published, and say how many; default false. */
  readonly publishableOnly?: boolean;
  readonly caveats?: readonly ValidityCaveat[];
  readonly packages?: readonly EvidencePackage[];
}

export interface Analysis {
  /** By name, in the order of the paper, then alphabetical by purpose. */
  readonly tables: Readonly<Record<string, Table>>;
  readonly figures: Readonly<Record<string, Figure>>;
  /** Tables and figures for which the runs give nothing, with the reason. */
  readonly omitted: Readonly<Record<string, string>>;
  /** Hash of the rows that every number comes from. */
  readonly dataHash: string;
  readonly counts: {
    readonly runs: number;
    readonly unjudged: number;
    readonly unpublishable: number;
    /** Left out on request. */
    readonly dropped: number;
  };
  readonly settings: { readonly resamples: number; readonly rng: RandomKind };
}

/**
 * Every table and figure that the runs allow. Pure: the same set and options give the same values, whatever the order
 * of the rows. Protocols, agents and campaigns are never pooled; where there are several, their rows stand in one
 * table with a column `campaign`.
 *
 * Throws `NO_RUNS` for an empty set, `TABLE_UNKNOWN` and `TABLE_EMPTY` for tables asked for by name.
 */
export function analyze(all: RunSet, options: AnalyzeOptions = {}): Analysis {
  const set = options.publishableOnly
    ? { ...all, rows: all.rows.filter((row) => row.integrity.isPublishable) }
    : all;
  if (set.rows.length === 0) {
    throw new M4BenchError(
      'NO_RUNS',
      all.rows.length === 0
        ? 'There is no run to analyse.'
        : `None of the ${all.rows.length} runs may be published.`,
      all.rows.length === 0
        ? 'Name a campaign that has results, or import runs.'
        : 'Look at the reasons in their results, or analyse all runs.',
    );
  }
  const drawing = resampler(options);
  const context: AnalysisContext = { tasks: taskIndexOf(set.tasks), drawing };
  const ordered = { ...set, rows: inFixedOrder(set.rows) };
  const strata = strataOf(ordered.rows);
  const entries = [
    ...paperTables(ordered, strata, context, options),
    ...furtherTables(ordered, strata, context),
  ];
  const { tables, omitted } = built(entries, options.only);
  const figures = options.only === undefined ? figuresFrom(strata, context) : { drawn: {}, empty: [] };
  for (const name of figures.empty) omitted[name] = 'the runs hold nothing to draw';
  return {
    tables,
    figures: figures.drawn,
    omitted,
    dataHash: runSetHash(set),
    counts: {
      runs: set.rows.length,
      unjudged: set.rows.filter((row) => row.reward === null).length,
      unpublishable: all.rows.filter((row) => !row.integrity.isPublishable).length,
      dropped: all.rows.length - set.rows.length,
    },
    settings: { resamples: drawing.resamples, rng: drawing.kind },
  };
}

/** The figures of `analyze` alone, which cost a small part of its tables. Pure; empty for an empty set. */
export function figuresOf(set: RunSet, options: AnalyzeOptions = {}): Readonly<Record<string, Figure>> {
  const context: AnalysisContext = { tasks: taskIndexOf(set.tasks), drawing: resampler(options) };
  return figuresFrom(strataOf(inFixedOrder(set.rows)), context).drawn;
}

function figuresFrom(
  strata: readonly Stratum[],
  context: AnalysisContext,
): { readonly drawn: Readonly<Record<string, Figure>>; readonly empty: readonly string[] } {
  const entries = figureEntries(strata, context);
  return {
    drawn: Object.fromEntries(
      entries.flatMap(([name, figure]) => (figure === undefined ? [] : [[name, figure]])),
    ),
    empty: entries.flatMap(([name, figure]) => (figure === undefined ? [name] : [])),
  };
}

/** Campaigns in their order of appearance, runs by their identity: the order on disk changes nothing. */
function inFixedOrder(rows: RunSet['rows']): RunSet['rows'] {
  const campaigns = new Map<string, number>();
  for (const row of rows) if (!campaigns.has(row.campaign)) campaigns.set(row.campaign, campaigns.size);
  const key = (row: RunSet['rows'][number]): string =>
    [row.task, row.condition, row.schema, row.agent, row.model, row.effort, row.runId].join('\u0000');
  return rows
    .map((row) => ({ row, campaign: campaigns.get(row.campaign)!, key: key(row) }))
    .sort((a, b) => a.campaign - b.campaign || a.row.trial - b.row.trial || (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
}

function built(
  entries: readonly TableEntry[],
  only: readonly string[] | undefined,
): { readonly tables: Record<string, Table>; readonly omitted: Record<string, string> } {
  const known = new Set(entries.map((entry) => entry.name));
  const unknown = only?.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new M4BenchError(
      'TABLE_UNKNOWN',
      `There is no table "${unknown}".`,
      `Known tables: ${[...known].join(', ')}.`,
    );
  }
  const tables: Record<string, Table> = {};
  const omitted: Record<string, string> = {};
  for (const { name, needs, build } of entries) {
    if (only !== undefined && !only.includes(name)) continue;
    const table = build();
    if (table !== undefined) tables[name] = table;
    else if (only === undefined) omitted[name] = `needs ${needs}`;
    else {
      throw new M4BenchError(
        'TABLE_EMPTY',
        `Table ${name} needs ${needs}, of which these runs have none.`,
        'Name a campaign that has them, or leave this table out.',
      );
    }
  }
  return { tables, omitted };
}

function figureEntries(
  strata: readonly Stratum[],
  context: AnalysisContext,
): readonly (readonly [string, Figure | undefined])[] {
  const suffixes = fileSuffixes(strata.map((stratum) => stratum.label));
  const suffix = (stratum: Stratum): string => suffixes[strata.indexOf(stratum)]!;
  return [
    ['figure02-skill-delta-forest', skillDeltaForest(strata, context)],
    ['figure02-skill-delta-heatmap', skillDeltaHeatmap(strata, context)],
    ...strata.map((stratum) => [`schema-slopes${suffix(stratum)}`, schemaSlopes(stratum)] as const),
    ...strata.map(
      (stratum) => [`reward-heatmap${suffix(stratum)}`, rewardHeatmap(stratum, context)] as const,
    ),
    ['reward-against-tokens', rewardAgainst(strata, 'tokens')],
    ['reward-against-cost', rewardAgainst(strata, 'cost')],
    ['reward-against-seconds', rewardAgainst(strata, 'seconds')],
    ['score-distributions', scoreDistributions(strata)],
    ['arm-means', armMeans(strata)],
  ];
}

/** One file-name ending per label, all different; none for a single label. */
function fileSuffixes(labels: readonly string[]): readonly string[] {
  if (labels.length === 1) return [''];
  const used = new Set<string>();
  return labels.map((label) => {
    const plain = label
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '');
    let suffix = `-${plain}`;
    for (let copy = 2; used.has(suffix); copy += 1) suffix = `-${plain}-${copy}`;
    used.add(suffix);
    return suffix;
  });
}
