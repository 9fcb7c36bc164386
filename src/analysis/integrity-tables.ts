import { type Cell, cellMean, cellsOf, summaryOf } from './cells.js';
import { byCodePoint, distinct, groupBy, mean, present, total } from './moments.js';
import { modelLabel } from './published-release.js';
import { isExactPass, isStrictPass, type RunRow } from './run-row.js';
import type { CampaignRecord, RunSet } from './run-set.js';
import { nativeArms, type Stratum } from './strata.js';
import type { PrintColumn, Table, TableRow } from './tables.js';
import type { TaskIndex } from './task-facts.js';

const itemPrint: readonly PrintColumn[] = [
  { header: 'Item', from: ['item'] },
  { header: 'Value', from: ['value'] },
];

const itemTable = (title: string, items: readonly (readonly [string, number | null])[]): Table => ({
  title,
  columns: ['item', 'value'],
  rows: items.map(([item, value]) => ({ item, value })),
  print: itemPrint,
});

const countOf = (rows: readonly RunRow[], holds: (row: RunRow) => boolean): number =>
  rows.filter(holds).length;

function flagCounts(rows: readonly RunRow[]): readonly (readonly [string, number | null])[] {
  return [
    ['Not publishable', countOf(rows, (row) => !row.integrity.isPublishable)],
    ['Isolation not confirmed', countOf(rows, (row) => row.integrity.isIsolated !== true)],
    ['Canaries not confirmed clean', countOf(rows, (row) => row.integrity.hasCleanCanaries !== true)],
    ['Contamination lint not confirmed clean', countOf(rows, (row) => row.integrity.hasCleanLint !== true)],
    ['Nonzero agent exits', countOf(rows, (row) => row.returnCode !== null && row.returnCode !== 0)],
  ];
}

/** Table 15: integrity of the primary runs. Strict, exact and failed runs are counted beside one another. */
export function integrityTable(
  stratum: Stratum,
  tasks: TaskIndex,
  record: CampaignRecord | undefined,
): Table | undefined {
  const rows = stratum.rows.filter((row) => row.part === 'primary');
  if (rows.length === 0) return undefined;
  const byMode = (mode: string, passes: (row: RunRow) => boolean): number =>
    countOf(rows, (row) => tasks.get(row.task)?.mode === mode && passes(row));
  const artifacts = record === undefined ? null : total(Object.values(record.artifactCounts));
  return itemTable('Integrity of the primary runs', [
    ['Runs', rows.length],
    ['Planned runs', record?.plannedRuns ?? null],
    ['Cells', cellsOf(rows).length],
    ...flagCounts(rows),
    ['Missing rewards (unjudged)', countOf(rows, (row) => row.reward === null)],
    ['Failures counted as 0', countOf(rows, (row) => row.failure !== null && row.reward !== null)],
    ['Strict passes', countOf(rows, isStrictPass)],
    ['Strict passes, standard tasks', byMode('standard', isStrictPass)],
    ['Strict passes, raw tasks', byMode('raw', isStrictPass)],
    ['Exact passes', countOf(rows, isExactPass)],
    ['Exact passes, standard tasks', byMode('standard', isExactPass)],
    ['Exact passes, raw tasks', byMode('raw', isExactPass)],
    ['Semantic diagnostic failures', countOf(rows, (row) => row.hasFailedDiagnostics)],
    ['Retained artifacts', artifacts],
  ]);
}

/** Table 24: integrity of a follow-up with its superseded attempts. */
export function followUpIntegrity(stratum: Stratum, superseded: readonly RunRow[]): Table | undefined {
  const rows = stratum.rows.filter((row) => row.part === 'follow-up');
  if (rows.length === 0) return undefined;
  const replaced = superseded.filter((row) => row.campaign === stratum.campaign).length;
  const groups = groupBy(rows, (row) => `${row.condition}/${row.schema}/${row.model}`);
  return itemTable('Integrity of the follow-up runs', [
    ['Run directories', rows.length + replaced],
    ['Canonical run keys', rows.length],
    ['Superseded directories', replaced],
    ['Run keys with a superseded attempt', countOf(rows, (row) => row.firstAttempt !== undefined)],
    ['Operational-spec runs', countOf(rows, (row) => row.condition === 'operational-spec')],
    [
      'Transformed with-skill runs',
      countOf(rows, (row) => row.condition === 'with-skill' && row.schema !== 'native'),
    ],
    ...flagCounts(rows),
    ['Strict passes', countOf(rows, isStrictPass)],
    ...[...groups.entries()]
      .sort(([a], [b]) => byCodePoint(a, b))
      .map(([label, members]) => [label, members.length] as const),
  ]);
}

/** Table 20: key metrics of the arms over cells, then the five cells with most extra keys. */
export function keyDiagnostics(stratum: Stratum): Table | undefined {
  const cells = cellsOf(nativeArms(stratum.rows)).filter((cell) =>
    cell.rows.some((row) => row.keyF1 !== null),
  );
  if (cells.length === 0) return undefined;
  const arm = (label: string, condition: string): TableRow => {
    const members = cells.filter((cell) => cell.condition === condition);
    return {
      row: label,
      cells: members.length,
      runs: total(members.map((cell) => cell.rows.length)),
      keyF1: mean(present(members.map((cell) => cellMean(cell, 'keyF1')))),
      keyPrecision: mean(present(members.map((cell) => cellMean(cell, 'keyPrecision')))),
      extraKeys: total(members.map((cell) => summaryOf(cell).extraKeys)),
    };
  };
  const extra = (cell: Cell): number => summaryOf(cell).extraKeys;
  const worst = [...cells].sort((a, b) => extra(b) - extra(a)).slice(0, 5);
  return {
    title: 'Key diagnostics',
    columns: ['row', 'cells', 'runs', 'keyF1', 'keyPrecision', 'extraKeys'],
    rows: [
      arm('All no-skill cells', 'no-skill'),
      arm('All with-skill cells', 'with-skill'),
      ...worst.map((cell) => ({
        row: `${cell.task} / ${cell.condition} / ${modelLabel(cell.model)}`,
        cells: 1,
        runs: cell.rows.length,
        keyF1: cellMean(cell, 'keyF1'),
        keyPrecision: cellMean(cell, 'keyPrecision'),
        extraKeys: extra(cell),
      })),
    ],
    notes: ['Agent failures count as key F1 0 and are left out of key precision.'],
    print: [
      { header: 'Cells', from: ['row'] },
      { header: 'Number', from: ['cells'] },
      { header: 'Runs', from: ['runs'] },
      { header: 'Key F1', from: ['keyF1'], as: 'fixed' },
      { header: 'Key precision', from: ['keyPrecision'], as: 'fixed' },
      { header: 'Extra keys', from: ['extraKeys'], as: 'thousands' },
    ],
  };
}

/** Planned, finished, missing and unexpected runs; complete only when nothing is missing or unexpected. */
export function completenessTable(records: readonly CampaignRecord[], listed = 20): Table | undefined {
  const planned = records.filter((record) => record.plannedRuns !== null);
  if (planned.length === 0) return undefined;
  const names = (runIds: readonly string[]): string =>
    runIds.length <= listed
      ? runIds.join(' ')
      : `${runIds.slice(0, listed).join(' ')} and ${runIds.length - listed} more`;
  return {
    title: 'Planned and finished runs',
    columns: [
      'campaign',
      'planned',
      'finished',
      'missing',
      'unexpected',
      'complete',
      'missingRuns',
      'unexpectedRuns',
    ],
    rows: planned.map((record) => ({
      campaign: record.campaign,
      planned: record.plannedRuns,
      finished: record.canonicalRuns,
      missing: record.missingRuns.length,
      unexpected: record.unexpectedRuns.length,
      complete:
        record.canonicalRuns === record.plannedRuns &&
        record.missingRuns.length === 0 &&
        record.unexpectedRuns.length === 0
          ? 'yes'
          : 'no',
      missingRuns: names(record.missingRuns),
      unexpectedRuns: names(record.unexpectedRuns),
    })),
  };
}

/** Table 10: what is kept of each campaign. */
export function artifactPackage(records: readonly CampaignRecord[]): Table | undefined {
  if (records.length === 0) return undefined;
  const artifacts = [...new Set(records.flatMap((record) => Object.keys(record.artifactCounts)))];
  return {
    title: 'Retained run directories and artifacts',
    columns: ['campaign', 'canonical', 'provenanceOnly', 'retained', ...artifacts, 'artifactBytes'],
    rows: records.map((record) => ({
      campaign: record.campaign,
      canonical: record.canonicalRuns,
      provenanceOnly: record.provenanceOnly,
      retained: record.canonicalRuns + record.provenanceOnly,
      ...Object.fromEntries(artifacts.map((artifact) => [artifact, record.artifactCounts[artifact] ?? 0])),
      artifactBytes: record.artifactBytes,
    })),
    print: [
      { header: 'Campaign', from: ['campaign'] },
      { header: 'Canonical', from: ['canonical'] },
      { header: 'Provenance only', from: ['provenanceOnly'] },
      { header: 'Retained', from: ['retained'] },
      ...artifacts.map((artifact) => ({ header: artifact, from: [artifact] })),
      { header: 'Retained size', from: ['artifactBytes'], as: 'bytes' },
    ],
  };
}

/** Table 11: hours and tokens. */
export function computeTable(set: RunSet): Table | undefined {
  if (set.records.length === 0) return undefined;
  return {
    title: 'Compute and tokens',
    columns: [
      'campaign',
      'retained',
      'hardware',
      'agentHours',
      'inputTokens',
      'cachedInputTokens',
      'outputTokens',
      'cost',
      'folderBytes',
    ],
    rows: set.records.map((record) => {
      const costs = present(
        set.rows.filter((row) => row.campaign === record.campaign).map((row) => row.cost),
      );
      return {
        campaign: record.campaign,
        retained: record.canonicalRuns + record.provenanceOnly,
        hardware: record.hardware,
        agentHours: record.agentSeconds / 3600,
        inputTokens: record.inputTokens,
        cachedInputTokens: record.cachedInputTokens,
        outputTokens: record.outputTokens,
        cost: costs.length === 0 ? null : total(costs),
        folderBytes: record.folderBytes,
      };
    }),
    notes: [
      'Hours cover provenance-only directories too. In the published campaigns input tokens are all prompt tokens for ' +
        'Codex but exclude the cache for Claude, and repeated usage events of Claude are added again: the two are not ' +
        'comparable.',
    ],
    print: [
      { header: 'Campaign', from: ['campaign'] },
      { header: 'Retained', from: ['retained'] },
      { header: 'Hardware', from: ['hardware'] },
      { header: 'Agent hours', from: ['agentHours'], as: 'fixed', digits: 1 },
      { header: 'Input tokens', from: ['inputTokens'], as: 'thousands' },
      { header: 'Cached input', from: ['cachedInputTokens'], as: 'thousands' },
      { header: 'Output tokens', from: ['outputTokens'], as: 'thousands' },
      { header: 'Cost', from: ['cost'], as: 'fixed', digits: 2 },
      { header: 'Selected dirs', from: ['folderBytes'], as: 'bytes' },
    ],
  };
}

/** Runs that are missing from the means, and why: unjudged and failed runs by condition. */
export function failureTable(stratum: Stratum): Table | undefined {
  const groups = groupBy(stratum.rows, (row) => `${row.condition}/${row.schema}`);
  const reasons = distinct(stratum.rows.map((row) => row.failureReason ?? ''));
  const rows = [...groups.entries()]
    .sort(([a], [b]) => byCodePoint(a, b))
    .flatMap(([arm, members]) =>
      reasons.flatMap((reason) => {
        const affected = members.filter(
          (row) => (row.failureReason ?? '') === reason && (row.reward === null || row.failure !== null),
        );
        if (affected.length === 0) return [];
        return [
          {
            arm,
            reason: reason === '' ? 'unknown' : reason,
            runs: affected.length,
            countedAsZero: countOf(affected, (row) => row.reward !== null),
            unjudged: countOf(affected, (row) => row.reward === null),
            of: members.length,
          },
        ];
      }),
    );
  if (rows.length === 0) return undefined;
  return {
    title: 'Failures by arm: judged failures count as reward 0, unjudged runs are in no mean',
    columns: ['arm', 'reason', 'runs', 'countedAsZero', 'unjudged', 'of'],
    rows,
  };
}
