import { describe, expect, it } from 'vitest';
import {
  artifactPackage,
  completenessTable,
  computeTable,
  failureTable,
  followUpIntegrity,
  integrityTable,
  keyDiagnostics,
} from './integrity-tables.js';
import { factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import { type CampaignRecord, runSetOf } from './run-set.js';
import { type Stratum, strataOf } from './strata.js';
import { contentOf } from './table-content.fixture.js';
import { taskIndexOf } from './task-facts.js';

const stratumOf = (rows: readonly RunRow[]): Stratum => strataOf(rows)[0]!;
const clean = { isPublishable: true, isIsolated: true, hasCleanCanaries: true, hasCleanLint: true };
const passing = { failedChecks: 0, errors: 0, matchRates: { a: 1 } };

const record: CampaignRecord = {
  campaign: 'campaign',
  plannedRuns: 8,
  missingRuns: ['x'],
  unexpectedRuns: [],
  canonicalRuns: 7,
  provenanceOnly: 2,
  artifactCounts: { 'result.json': 7, 'output.csv': 6 },
  artifactBytes: 2048,
  folderBytes: 3 * 1024 ** 2,
  agentSeconds: 5400,
  inputTokens: 1_234_567,
  cachedInputTokens: 2345,
  outputTokens: 345,
  hardware: '16 cores',
};

/** Rows as `item value` without the header. */
const itemsOf = (table: ReturnType<typeof integrityTable>) => contentOf(table)!.rows;

describe('integrity tables, by hand', () => {
  it('table 15 counts passes and failures beside one another', () => {
    const rows = [
      // Standard: one exact pass, one strict pass by thresholds, one failure.
      rowWith({ task: 's', reward: 1, ...passing, hasFailedDiagnostics: false }),
      rowWith({ task: 's', trial: 2, reward: 0.99, ...passing, matchRates: { a: 0.98 } }),
      rowWith({ task: 's', trial: 3, reward: 0, failure: 'agent', errors: 1, returnCode: 1 }),
      // Raw: two exact passes, one unjudged.
      rowWith({ task: 'r', reward: 1, ...passing, hasFailedDiagnostics: false }),
      rowWith({ task: 'r', trial: 2, reward: 1, ...passing, hasFailedDiagnostics: false, returnCode: null }),
      rowWith({
        task: 'r',
        trial: 3,
        reward: null,
        failure: 'infrastructure',
        hasFailedDiagnostics: false,
        integrity: { isPublishable: false, isIsolated: false, hasCleanCanaries: null, hasCleanLint: null },
      }),
      rowWith({
        task: 'r',
        condition: 'with-skill',
        reward: 0.5,
        integrity: { ...clean, hasCleanLint: false },
      }),
      // Another part is not counted here.
      rowWith({ task: 'r', trial: 9, part: 'follow-up', reward: 1 }),
    ];
    const tasks = taskIndexOf(factsFor(['s', 'r'], (name) => ({ mode: name === 's' ? 'standard' : 'raw' })));
    const content = contentOf(integrityTable(stratumOf(rows), tasks, record))!;
    expect(content).toMatchObject({
      title: 'Integrity of the primary runs',
      columns: ['item', 'value'],
      rows: [
        ['Runs', 7],
        ['Planned runs', 8],
        ['Cells', 3],
        ['Not publishable', 1],
        ['Isolation not confirmed', 1],
        ['Canaries not confirmed clean', 1],
        ['Contamination lint not confirmed clean', 2],
        ['Nonzero agent exits', 1],
        ['Missing rewards (unjudged)', 1],
        ['Failures counted as 0', 1],
        ['Strict passes', 4],
        ['Strict passes, standard tasks', 2],
        ['Strict passes, raw tasks', 2],
        ['Exact passes', 3],
        ['Exact passes, standard tasks', 1],
        ['Exact passes, raw tasks', 2],
        ['Semantic diagnostic failures', 3],
        ['Retained artifacts', 13],
      ],
    });
    expect(content.printed!.slice(0, 2)).toEqual([
      ['Item', 'Value'],
      ['Runs', '7'],
    ]);
    const unknown = itemsOf(integrityTable(stratumOf(rows), taskIndexOf([]), undefined));
    expect(unknown).toContainEqual(['Planned runs', null]);
    expect(unknown).toContainEqual(['Retained artifacts', null]);
    expect(unknown).toContainEqual(['Strict passes, raw tasks', 0]);
    expect(integrityTable(stratumOf(rows.slice(-1)), tasks, record)).toBeUndefined();
  });

  it('table 24 counts a follow-up with the attempts that were replaced', () => {
    const part = 'follow-up';
    const rows = [
      rowWith({ part, condition: 'operational-spec', reward: 1, ...passing }),
      rowWith({
        part,
        condition: 'with-skill',
        schema: 'restructured',
        reward: 0.5,
        firstAttempt: { reward: 0 },
      }),
      rowWith({ part, condition: 'with-skill', schema: 'obfuscated', reward: 0.5, returnCode: 7 }),
      rowWith({ part, condition: 'with-skill', reward: 0.5 }),
      rowWith({ part: 'primary', condition: 'operational-spec', trial: 2, reward: 1 }),
    ];
    const superseded = [rowWith({ reward: 0 }), rowWith({ reward: 0, campaign: 'other' })];
    expect(contentOf(followUpIntegrity(stratumOf(rows), superseded))).toMatchObject({
      title: 'Integrity of the follow-up runs',
      rows: [
        ['Run directories', 5],
        ['Canonical run keys', 4],
        ['Superseded directories', 1],
        ['Run keys with a superseded attempt', 1],
        ['Operational-spec runs', 1],
        ['Transformed with-skill runs', 2],
        ['Not publishable', 0],
        ['Isolation not confirmed', 0],
        ['Canaries not confirmed clean', 0],
        ['Contamination lint not confirmed clean', 0],
        ['Nonzero agent exits', 1],
        ['Strict passes', 1],
        ['operational-spec/native/model-a', 1],
        ['with-skill/native/model-a', 1],
        ['with-skill/obfuscated/model-a', 1],
        ['with-skill/restructured/model-a', 1],
      ],
    });
    expect(followUpIntegrity(stratumOf(rows.slice(-1)), superseded)).toBeUndefined();
  });

  it('table 20: key metrics by arm over cells, then the cells with most extra keys', () => {
    const key = (
      task: string,
      condition: string,
      extraKeys: number | null,
      keyF1: number,
      trial = 1,
    ): RunRow =>
      rowWith({
        task,
        condition,
        trial,
        reward: 0.5,
        extraKeys,
        keyF1,
        keyPrecision: keyF1 === 0 ? null : keyF1,
      });
    const rows = [
      key('t1', 'no-skill', 1000, 0.5),
      key('t1', 'no-skill', 500, 0, 2),
      key('t1', 'with-skill', 10, 1),
      key('t2', 'no-skill', 40, 0.75),
      key('t2', 'with-skill', 30, 1),
      key('t3', 'no-skill', 20, 0.5),
      key('t3', 'with-skill', null, 0.5),
      // No key metrics at all, or another schema: not a cell of this table.
      rowWith({ task: 't4', reward: 0.5, keyF1: null, extraKeys: 9999 }),
      rowWith({ task: 't5', reward: 0.5, schema: 'obfuscated', extraKeys: 9999 }),
    ];
    expect(contentOf(keyDiagnostics(stratumOf(rows)))).toEqual({
      title: 'Key diagnostics',
      columns: ['row', 'cells', 'runs', 'keyF1', 'keyPrecision', 'extraKeys'],
      rows: [
        // Cells: F1 0.25, 0.75, 0.5; precision 0.5 (the failure has none), 0.75, 0.5.
        ['All no-skill cells', 3, 4, 0.5, 1.75 / 3, 1560],
        ['All with-skill cells', 3, 3, 2.5 / 3, 2.5 / 3, 40],
        ['t1 / no-skill / model-a', 1, 2, 0.25, 0.5, 1500],
        ['t2 / no-skill / model-a', 1, 1, 0.75, 0.75, 40],
        ['t2 / with-skill / model-a', 1, 1, 1, 1, 30],
        ['t3 / no-skill / model-a', 1, 1, 0.5, 0.5, 20],
        ['t1 / with-skill / model-a', 1, 1, 1, 1, 10],
      ],
      printed: [
        ['Cells', 'Number', 'Runs', 'Key F1', 'Key precision', 'Extra keys'],
        ['All no-skill cells', '3', '4', '0.500', '0.583', '1,560'],
        ['All with-skill cells', '3', '3', '0.833', '0.833', '40'],
        ['t1 / no-skill / model-a', '1', '2', '0.250', '0.500', '1,500'],
        ['t2 / no-skill / model-a', '1', '1', '0.750', '0.750', '40'],
        ['t2 / with-skill / model-a', '1', '1', '1.000', '1.000', '30'],
        ['t3 / no-skill / model-a', '1', '1', '0.500', '0.500', '20'],
        ['t1 / with-skill / model-a', '1', '1', '1.000', '1.000', '10'],
      ],
      notes: ['Agent failures count as key F1 0 and are left out of key precision.'],
    });
    expect(keyDiagnostics(stratumOf(rows.slice(-2)))).toBeUndefined();
  });

  it('a campaign is complete when nothing is missing, unexpected or short', () => {
    const whole = { ...record, campaign: 'whole', plannedRuns: 7, missingRuns: [], unexpectedRuns: [] };
    const records: readonly CampaignRecord[] = [
      whole,
      { ...record, unexpectedRuns: ['u1', 'u2'] },
      { ...whole, campaign: 'short', plannedRuns: 8 },
      { ...whole, campaign: 'missing', missingRuns: ['a', 'b', 'c'] },
      { ...whole, campaign: 'unexpected', unexpectedRuns: ['d'] },
      { ...record, campaign: 'unplanned', plannedRuns: null },
    ];
    expect(contentOf(completenessTable(records, 2))).toEqual({
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
      rows: [
        ['whole', 7, 7, 0, 0, 'yes', '', ''],
        ['campaign', 8, 7, 1, 2, 'no', 'x', 'u1 u2'],
        ['short', 8, 7, 0, 0, 'no', '', ''],
        ['missing', 7, 7, 3, 0, 'no', 'a b and 1 more', ''],
        ['unexpected', 7, 7, 0, 1, 'no', '', 'd'],
      ],
    });
    expect(completenessTable(records.slice(-1))).toBeUndefined();
  });

  it('table 10: what is kept of each campaign', () => {
    const other = { ...record, campaign: 'other', artifactCounts: { 'trace.jsonl': 3 }, artifactBytes: 0 };
    expect(contentOf(artifactPackage([record, other]))).toEqual({
      title: 'Retained run directories and artifacts',
      columns: [
        'campaign',
        'canonical',
        'provenanceOnly',
        'retained',
        'result.json',
        'output.csv',
        'trace.jsonl',
        'artifactBytes',
      ],
      rows: [
        ['campaign', 7, 2, 9, 7, 6, 0, 2048],
        ['other', 7, 2, 9, 0, 0, 3, 0],
      ],
      printed: [
        [
          'Campaign',
          'Canonical',
          'Provenance only',
          'Retained',
          'result.json',
          'output.csv',
          'trace.jsonl',
          'Retained size',
        ],
        ['campaign', '7', '2', '9', '7', '6', '0', '2.0 KB'],
        ['other', '7', '2', '9', '0', '0', '3', '0 B'],
      ],
    });
    expect(artifactPackage([])).toBeUndefined();
  });

  it('table 11: hours, tokens and what they cost', () => {
    const set = {
      ...runSetOf([
        rowWith({ reward: 1, cost: 1.25 }),
        rowWith({ reward: 1, trial: 2, cost: 2.25 }),
        rowWith({ reward: 1, trial: 3, cost: null }),
        rowWith({ reward: 1, campaign: 'elsewhere', cost: 100 }),
      ]),
      records: [record, { ...record, campaign: 'free', hardware: null, folderBytes: null }],
    };
    const content = contentOf(computeTable(set))!;
    expect(content).toMatchObject({
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
      rows: [
        ['campaign', 9, '16 cores', 1.5, 1_234_567, 2345, 345, 3.5, 3 * 1024 ** 2],
        ['free', 9, null, 1.5, 1_234_567, 2345, 345, null, null],
      ],
      printed: [
        [
          'Campaign',
          'Retained',
          'Hardware',
          'Agent hours',
          'Input tokens',
          'Cached input',
          'Output tokens',
          'Cost',
          'Selected dirs',
        ],
        ['campaign', '9', '16 cores', '1.5', '1,234,567', '2,345', '345', '3.50', '3.0 MB'],
        ['free', '9', 'NA', '1.5', '1,234,567', '2,345', '345', 'NA', 'NA'],
      ],
    });
    expect(content.notes).toEqual([
      expect.stringMatching(/^Hours cover provenance-only directories too\..* the two are not comparable\.$/),
    ]);
    expect(computeTable(runSetOf([]))).toBeUndefined();
  });

  it('failures by arm and reason: those that count 0, and those in no mean', () => {
    const timeout = { failure: 'agent', failureReason: 'time limit reached', reward: 0 } as const;
    const rows = [
      rowWith({ condition: 'with-skill', ...timeout }),
      rowWith({ condition: 'no-skill', ...timeout }),
      rowWith({ condition: 'no-skill', trial: 2, ...timeout }),
      rowWith({
        condition: 'no-skill',
        trial: 3,
        failure: 'infrastructure',
        failureReason: null,
        reward: null,
      }),
      rowWith({ condition: 'no-skill', trial: 4, reward: 1 }),
      // An unreadable output has a reason and is no failure of the run.
      rowWith({ condition: 'no-skill', trial: 5, reward: 0, failureReason: 'no column stay_id' }),
    ];
    expect(contentOf(failureTable(stratumOf(rows)))).toEqual({
      title: 'Failures by arm: judged failures count as reward 0, unjudged runs are in no mean',
      columns: ['arm', 'reason', 'runs', 'countedAsZero', 'unjudged', 'of'],
      rows: [
        ['no-skill/native', 'unknown', 1, 0, 1, 5],
        ['no-skill/native', 'time limit reached', 2, 2, 0, 5],
        ['with-skill/native', 'time limit reached', 1, 1, 0, 1],
      ],
    });
    expect(failureTable(stratumOf(rows.slice(-2)))).toBeUndefined();
  });
});
