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
import { failingColumnTable } from './failing-columns.js';
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
import {
  headlineIntervals,
  mixedEffects,
  powerTable,
  rankTable,
  taskSignificance,
  trialReliability,
} from './reviewer-tables.js';
import type { RunSet } from './run-set.js';
import { cellsToLookAt, cellTable, costTable, nativeDeltaTable, runTable } from './run-tables.js';
import { schemaGeneralisationTable, schemaProbe } from './schema-tables.js';
import { leaveOneOut, sensitivityTable } from './sensitivity.js';
import { rewardByArm } from './skill-effect.js';
import { nativeArms, type Stratum } from './strata.js';
import { stackTables, type Table } from './tables.js';

/** What the tables need beside the runs. */
export interface CatalogueOptions {
  /** Rows listed of largest gains and declines, default 6 as published. */
  readonly listed?: number;
  readonly caveats?: readonly ValidityCaveat[];
  readonly packages?: readonly EvidencePackage[];
}

/** Builds one table for one stratum; undefined when its inputs are missing. */
type StratumBuilder = (stratum: Stratum) => Table | undefined;

/** Why a table is missing when its builder has nothing to build from. */
export interface TableEntry {
  readonly name: string;
  readonly needs: string;
  readonly build: () => Table | undefined;
}

const isSentinelOnly = (stratum: Stratum): boolean =>
  nativeArms(stratum.rows).every((row) => sentinelTasks.includes(row.task));
const isClaude = (stratum: Stratum): boolean => stratum.agent.startsWith('claude');
const isOpenWeights = (stratum: Stratum): boolean => stratum.agent === 'pi-ollama';

const bothArms = 'native no-skill and with-skill runs';

/** One table over several strata, rows labelled where there are several. */
function stacked(strata: readonly Stratum[], build: StratumBuilder): Table | undefined {
  return stackTables(
    strata.flatMap((stratum) => {
      const table = build(stratum);
      return table === undefined ? [] : [{ label: stratum.label, table }];
    }),
  );
}

/** The paper's tables, by number. */
export function paperTables(
  set: RunSet,
  strata: readonly Stratum[],
  context: AnalysisContext,
  options: CatalogueOptions,
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

/** Tables beyond the paper's, by purpose. */
export function furtherTables(
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
      needs: 'two agents with tasks in common, of one protocol, version and edition',
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
    each('columns', 'judged runs with readable outputs', (stratum) => failingColumnTable(stratum.rows)),
    each('cells-to-look-at', 'judged runs', (stratum) => cellsToLookAt(stratum.rows)),
    each('cells', 'runs', (stratum) => cellTable(stratum.rows)),
    { name: 'runs', needs: 'runs', build: () => runTable(set.rows) },
  ];
}

/** Rankings within one protocol, version, edition and way to the model; agents of different ones are not comparable. */
function rankTables(
  strata: readonly Stratum[],
  condition: string,
  context: AnalysisContext,
): Table | undefined {
  const versions = distinct(strata.map((stratum) => stratum.benchmarkVersion));
  const worldOf = ({ protocol, benchmarkVersion, edition, auth }: Stratum): string =>
    [
      protocol,
      ...(versions.length > 1 ? [benchmarkVersion] : []),
      edition,
      ...(auth === 'login' ? [auth] : []),
    ].join(' / ');
  const worlds = distinct(strata.map(worldOf));
  return stackTables(
    worlds.flatMap((world) => {
      const table = rankTable(
        strata.filter((stratum) => worldOf(stratum) === world),
        condition,
        context,
      );
      return table === undefined ? [] : [{ label: world, table }];
    }),
  );
}
