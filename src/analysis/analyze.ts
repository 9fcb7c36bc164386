import { M4BenchError } from '../support/errors.js';
import { encodeSegment } from '../support/ids.js';
import { seeds } from './bootstrap.js';
import {
  allSkillsProbe,
  controlSubsets,
  controlsByTask,
  deltasWithArms,
  matchedControls,
  operationalSpecByTask,
  operationalSpecControl,
} from './control-tables.js';
import {
  clusterSensitivity,
  deltasByTask,
  extremeDeltas,
  modelSkillEffect,
  modeSplit,
  nativeSkillEffect,
  secondaryByTask,
} from './effect-tables.js';
import type { AnalysisContext } from './estimates.js';
import {
  armMeans,
  type Figure,
  rewardAgainst,
  rewardHeatmap,
  schemaSlopes,
  scoreDistributions,
  skillDeltaForest,
  skillDeltaHeatmap,
} from './figures.js';
import { harnessIndicators, harnessLabels, harnessSubsets, skillUse } from './harness-tables.js';
import {
  artifactPackage,
  completenessTable,
  computeTable,
  failureTable,
  followUpIntegrity,
  integrityTable,
  keyDiagnostics,
} from './integrity-tables.js';
import {
  conditionTable,
  evidencePackages,
  licenceTable,
  reviewerTable,
  reviewProvenance,
  taskDetails,
  taskInventory,
  validityCaveats,
} from './inventory-tables.js';
import { distinct } from './moments.js';
import type { EvidencePackage, ValidityCaveat } from './published-documents.js';
import { sentinelTasks } from './published-release.js';
import { type RandomKind, resampler } from './random-stream.js';
import {
  headlineIntervals,
  mixedEffects,
  powerTable,
  rankTable,
  taskSignificance,
  trialReliability,
} from './reviewer-tables.js';
import { type RunSet, runSetHash } from './run-set.js';
import { cellsToLookAt, cellTable, costTable, nativeDeltaTable, runTable } from './run-tables.js';
import { schemaGeneralisationTable, schemaProbe } from './schema-tables.js';
import { leaveOneOut, sensitivityTable } from './sensitivity.js';
import { rewardByArm } from './skill-effect.js';
import { nativeArms, type Stratum, strataOf } from './strata.js';
import { stackTables, type Table } from './tables.js';
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

/** Builds one table for one stratum; undefined when its inputs are missing. */
type StratumBuilder = (stratum: Stratum) => Table | undefined;

/** Why a table is missing when its builder has nothing to build from. */
interface TableEntry {
  readonly name: string;
  readonly needs: string;
  readonly build: () => Table | undefined;
}

const isSentinelOnly = (stratum: Stratum): boolean =>
  nativeArms(stratum.rows).every((row) => sentinelTasks.includes(row.task));
const isClaude = (stratum: Stratum): boolean => stratum.agent.startsWith('claude');
const isOpenWeights = (stratum: Stratum): boolean => stratum.agent === 'pi-ollama';

const bothArms = 'native no-skill and with-skill runs';

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
  const figures: Record<string, Figure> = {};
  if (options.only === undefined) {
    for (const [name, figure] of figureEntries(strata, context)) {
      if (figure === undefined) omitted[name] = 'the runs hold nothing to draw';
      else figures[name] = figure;
    }
  }
  return {
    tables,
    figures,
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

/** One table over several strata, rows labelled where there are several. */
function stacked(strata: readonly Stratum[], build: StratumBuilder): Table | undefined {
  return stackTables(
    strata.flatMap((stratum) => {
      const table = build(stratum);
      return table === undefined ? [] : [{ label: stratum.label, table }];
    }),
  );
}

function paperTables(
  set: RunSet,
  strata: readonly Stratum[],
  context: AnalysisContext,
  options: AnalyzeOptions,
): readonly TableEntry[] {
  const { listed = 6 } = options;
  const each = (
    name: string,
    needs: string,
    build: StratumBuilder,
    which: (stratum: Stratum) => boolean = () => true,
  ): TableEntry => ({ name, needs, build: () => stacked(strata.filter(which), build) });
  const whole = (name: string, needs: string, build: () => Table | undefined): TableEntry => ({
    name,
    needs,
    build,
  });
  const recordOf = (stratum: Stratum) => set.records.find((record) => record.campaign === stratum.campaign);
  const sentinelClaude = (stratum: Stratum): boolean => isClaude(stratum) && isSentinelOnly(stratum);
  const fullClaude = (stratum: Stratum): boolean => isClaude(stratum) && !isSentinelOnly(stratum);
  const run = set.tasks.filter((task) => set.rows.some((row) => row.task === task.name));
  return [
    whole('table01-conditions', 'nothing', conditionTable),
    whole('table02-task-inventory', 'facts of the tasks', () => taskInventory(run)),
    each('table03-native-skill-effect', bothArms, (stratum) => nativeSkillEffect(stratum, context)),
    each('table04-operational-spec', 'operational-spec runs with both arms', (stratum) =>
      operationalSpecControl(stratum, context),
    ),
    each('table05-harness-matched-subsets', 'recorded CLI versions and both arms', (stratum) =>
      harnessSubsets(stratum, context),
    ),
    whole('table06-task-details', 'facts of the tasks', () => taskDetails(run, set.rows)),
    whole('table07-review-provenance', 'published tasks', () => reviewProvenance(run)),
    whole('table08-reviewers', 'nothing', reviewerTable),
    whole('table09-validity-caveats', 'the conventions and caveats of the families', () =>
      validityCaveats(options.caveats ?? []),
    ),
    whole('table10-artifact-package', 'records of the campaigns', () => artifactPackage(set.records)),
    whole('table11-compute', 'records of the campaigns', () => computeTable(set)),
    whole('table12-licences', 'nothing', licenceTable),
    each('table13-control-subsets', bothArms, (stratum) => controlSubsets(stratum, context)),
    whole('table14-evidence-packages', 'built evidence packages', () =>
      evidencePackages(options.packages ?? []),
    ),
    each('table15-integrity', 'primary runs', (stratum) =>
      integrityTable(stratum, context.tasks, recordOf(stratum)),
    ),
    each('table16-largest-gains', bothArms, (stratum) => extremeDeltas(stratum, 'descending', listed)),
    each('table17-largest-declines', bothArms, (stratum) => extremeDeltas(stratum, 'ascending', listed)),
    each('table18-mode-split', `${bothArms}, and facts of the tasks`, (stratum) =>
      modeSplit(stratum, context),
    ),
    each('table19-cluster-sensitivity', bothArms, (stratum) => clusterSensitivity(stratum, context)),
    each('table20-key-diagnostics', 'native runs with key metrics', keyDiagnostics),
    each('table21-secondary-by-task', bothArms, secondaryByTask),
    each('table22-controls', 'raw-SQL, decoy or all-skills runs with both arms', (stratum) =>
      matchedControls(stratum, context),
    ),
    each('table23-schema-generalisation', 'with-skill runs under a transformed schema', (stratum) =>
      schemaGeneralisationTable(stratum, context, set.printedProbeMeans),
    ),
    each('table24-follow-up-integrity', 'follow-up runs', (stratum) =>
      followUpIntegrity(stratum, set.superseded),
    ),
    each('table25-operational-spec-by-task', 'operational-spec runs with both arms', operationalSpecByTask),
    each(
      'table26-claude-sentinel',
      'Claude runs of the sentinel tasks',
      (stratum) => modelSkillEffect(stratum, context, 'Claude on the sentinel tasks'),
      sentinelClaude,
    ),
    each(
      'table27-claude-sentinel-by-task',
      'Claude runs of the sentinel tasks',
      (stratum) => deltasByTask(stratum, 'Claude on the sentinel tasks, by task'),
      sentinelClaude,
    ),
    each(
      'table28-open-weights',
      'runs of a local open-weights model',
      (stratum) => modelSkillEffect(stratum, context, 'Local open weights', seeds.openWeights),
      isOpenWeights,
    ),
    each(
      'table29-claude-replication',
      'Claude runs beyond the sentinel tasks',
      (stratum) => modelSkillEffect(stratum, context, 'Claude, full replication'),
      fullClaude,
    ),
    each('table30-harness-indicators', 'recorded CLI versions', harnessIndicators),
    each(
      'table31-claude-replication-by-task',
      'Claude runs beyond the sentinel tasks',
      (stratum) => deltasByTask(stratum, 'Claude, full replication, by task', harnessLabels(stratum)),
      fullClaude,
    ),
  ];
}

function furtherTables(
  set: RunSet,
  strata: readonly Stratum[],
  context: AnalysisContext,
): readonly TableEntry[] {
  const each = (name: string, needs: string, build: StratumBuilder): TableEntry => ({
    name,
    needs,
    build: () => stacked(strata, build),
  });
  return [
    each('sensitivity', bothArms, (stratum) => sensitivityTable(stratum, context, set.printedProbeMeans)),
    each('headline-intervals', bothArms, (stratum) => headlineIntervals(stratum, context)),
    each('task-significance', bothArms, (stratum) => taskSignificance(stratum, context)),
    each('mixed-effects', `${bothArms} of two models`, mixedEffects),
    each('trial-reliability', 'cells with two judged runs', trialReliability),
    each('leave-one-family-out', `${bothArms} of two families`, (stratum) =>
      leaveOneOut(stratum, context, 'family'),
    ),
    each('leave-one-task-out', `${bothArms} of two tasks`, (stratum) =>
      leaveOneOut(stratum, context, 'task'),
    ),
    each('power', `${bothArms} of two tasks`, (stratum) => powerTable(stratum, context)),
    ...distinct(set.rows.map((row) => row.condition)).map((condition) => ({
      // A condition comes from a file and ends in a file name.
      name: `rank-stability-${encodeSegment(condition)}`,
      needs: 'two agents with tasks in common, of one protocol and edition',
      build: () => rankTables(strata, condition, context),
    })),
    {
      name: 'completeness',
      needs: 'campaigns with a plan',
      build: () => completenessTable(set.records),
    },
    each('reward-by-arm', 'runs', (stratum) => rewardByArm(stratum.rows)),
    each('failures', 'failed or unjudged runs', failureTable),
    each('skill-use', 'runs with placed skills and a record of their use', skillUse),
    each('cost', 'recorded time or tokens', (stratum) => costTable(stratum.rows)),
    each('schema-probe', 'no-skill runs under a transformed schema', schemaProbe),
    each('controls-by-task', 'control runs with both arms', controlsByTask),
    each('all-skills-probe', 'all-skills runs with both arms', allSkillsProbe),
    each('native-deltas', bothArms, (stratum) => nativeDeltaTable(stratum.rows)),
    each('task-deltas', bothArms, deltasWithArms),
    each('cells-to-look-at', 'judged runs', (stratum) => cellsToLookAt(stratum.rows)),
    each('cells', 'runs', (stratum) => cellTable(stratum.rows)),
    { name: 'runs', needs: 'runs', build: () => runTable(set.rows) },
  ];
}

/** Rankings within one protocol and edition; agents of different ones are not comparable. */
function rankTables(
  strata: readonly Stratum[],
  condition: string,
  context: AnalysisContext,
): Table | undefined {
  const worlds = distinct(strata.map((stratum) => `${stratum.protocol} / ${stratum.edition}`));
  return stackTables(
    worlds.flatMap((world) => {
      const table = rankTable(
        strata.filter((stratum) => `${stratum.protocol} / ${stratum.edition}` === world),
        condition,
        context,
      );
      return table === undefined ? [] : [{ label: world, table }];
    }),
  );
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
