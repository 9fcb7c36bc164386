import { describe, expect, it } from 'vitest';
import { noMismatches } from '../evaluation/mismatch-kinds.js';
import type { RunResult } from '../runs/result.js';
import { resultWith } from './result.fixture.js';
import { rowWith } from './run-row.fixture.js';
import { editionOf, isExactPass, isStrictPass, judgedRows, rowOfResult } from './run-row.js';
import { joinRunSets, runSetHash, runSetOf } from './run-set.js';
import { nativeArms, strataOf } from './strata.js';

const result = resultWith('t1', 'with-skill', 0.5);
const withEvaluation = (changes: object): RunResult =>
  ({ ...result, evaluation: { ...result.evaluation!, ...changes } }) as RunResult;

describe('the row of a result', () => {
  it('holds every field of a judged run', () => {
    const kinds = { a: { ...noMismatches, tooLow: 3 } };
    const judged: RunResult = {
      ...withEvaluation({ mismatchKinds: kinds, extraKeys: 4 }),
      rewardRobust: 0.625,
      observed: { ...result.observed, overrides: ['small=m'], backgroundModels: ['b'], routing: ['m -> n'] },
      publishable: true,
      integrity: { ...result.integrity, canaries: true, lint: false },
    };
    expect(rowOfResult(judged, { 'output.csv': 9 })).toEqual({
      runId: 't1_with-skill_t1',
      campaign: 'mine',
      part: 'primary',
      task: 't1',
      condition: 'with-skill',
      schema: 'native',
      agent: 'codex',
      model: 'm',
      effort: 'medium',
      protocol: 'm4bench-1',
      benchmarkVersion: '0.1.0',
      dataset: 'mimic-iv-demo',
      edition: 'demo',
      trial: 1,
      reward: 0.5,
      rewardRobust: 0.625,
      failure: null,
      failureReason: null,
      matchRates: { a: 0.5, b: 0.5 },
      mismatchKinds: kinds,
      passedChecks: 1,
      failedChecks: 1,
      errors: 0,
      hasFailedDiagnostics: true,
      keyPrecision: 1,
      keyRecall: 0.5,
      keyF1: 2 / 3,
      extraKeys: 4,
      truthRows: 100,
      orderedNmae: 0.2,
      orderedColumns: 2,
      integrity: { isPublishable: true, isIsolated: true, hasCleanCanaries: true, hasCleanLint: false },
      returnCode: null,
      seconds: 2,
      tokens: { input: 100, cachedInput: 50, cacheWrite: 0, output: 10 },
      cost: 0.02,
      harness: { cliVersion: '1.0', hasOverrides: true, hasBackgroundModel: true, routing: ['m -> n'] },
      hasOpenedSkill: true,
      artifactBytes: { 'output.csv': 9 },
      attempts: 1,
    });
  });

  it('of an unreadable output has its keys as measured and nothing else of it', () => {
    const kinds = { a: { ...noMismatches, tooLow: 3 } };
    const unreadable = withEvaluation({
      errorKind: 'key-type',
      error: 'no key',
      mismatchKinds: kinds,
      reward: 0,
      keyPrecision: 0.25,
      keyRecall: 0.125,
      keyF1: 0.0625,
    });
    const row = rowOfResult({ ...unreadable, reward: 0 });
    expect(row).toMatchObject({
      reward: 0,
      failureReason: 'no key',
      matchRates: {},
      passedChecks: 0,
      failedChecks: 0,
      errors: 1,
      hasFailedDiagnostics: true,
      keyPrecision: 0.25,
      keyRecall: 0.125,
      keyF1: 0.0625,
      truthRows: 100,
    });
    expect(row).not.toHaveProperty('mismatchKinds');
    expect(row.artifactBytes).toBeNull();
  });

  it('of a failure without an output has no keys; of an unjudged run nothing', () => {
    const timeout: RunResult = {
      ...result,
      reward: 0,
      evaluation: null,
      failureClass: 'agent',
      failureReason: 'time limit reached',
      tokens: null,
    };
    const none = { matchRates: {}, passedChecks: 0, failedChecks: 0, extraKeys: null, truthRows: null };
    expect(rowOfResult(timeout)).toMatchObject({
      ...none,
      reward: 0,
      failure: 'agent',
      failureReason: 'time limit reached',
      errors: 1,
      hasFailedDiagnostics: false,
      keyPrecision: null,
      keyRecall: 0,
      keyF1: 0,
      orderedNmae: null,
      orderedColumns: 0,
      tokens: null,
    });
    expect(rowOfResult(resultWith('t1', 'no-skill', null))).toMatchObject({
      ...none,
      reward: null,
      failure: 'infrastructure',
      errors: 0,
      hasFailedDiagnostics: false,
      keyPrecision: null,
      keyRecall: null,
      keyF1: null,
      hasOpenedSkill: null,
    });
  });

  it('of a run without remarks says so', () => {
    const row = rowOfResult({ ...withEvaluation({ checks: [{ name: 'x', passed: true, detail: '' }] }) });
    expect(row).toMatchObject({
      hasFailedDiagnostics: false,
      passedChecks: 1,
      failedChecks: 0,
      harness: { hasOverrides: false, hasBackgroundModel: false, routing: [] },
    });
    expect(row).not.toHaveProperty('mismatchKinds');
    expect(row).not.toHaveProperty('firstAttempt');
  });

  it('says when the CLI signed in by itself', () => {
    const cell = { ...result.cell, auth: 'login' as const };
    expect(rowOfResult({ ...result, cell }).auth).toBe('login');
    expect(rowOfResult(result)).not.toHaveProperty('auth');
  });

  it('names a model that was left to the agent, the sandbox without isolation, and the skill that was not opened', () => {
    const cell = { ...result.cell, model: null };
    expect(rowOfResult({ ...result, cell }).model).toBe('default');
    const sandbox = { ...result.sandbox, kind: 'process' } as RunResult['sandbox'];
    expect(rowOfResult({ ...result, sandbox }).integrity.isIsolated).toBe(false);
    expect(rowOfResult(resultWith('t1', 'with-skill', 0.5, 2)).hasOpenedSkill).toBe(false);
  });

  it('marks a run that needed several attempts; the earlier ones were never scored', () => {
    const attempts = [1, 2].map((n) => ({ ...result.attempts[0]!, n }));
    expect(rowOfResult({ ...result, attempts })).toMatchObject({
      attempts: 2,
      firstAttempt: { reward: null },
    });
  });
});

describe('rows', () => {
  it('pass strictly without a failed check or error, exactly with full matches and the right keys', () => {
    const pass = { reward: 1, failedChecks: 0, matchRates: { a: 1, b: 1 } };
    expect(isStrictPass(rowWith(pass))).toBe(true);
    for (const change of [{ failedChecks: 1 }, { errors: 1 }, { reward: null }])
      expect(isStrictPass(rowWith({ ...pass, ...change }))).toBe(false);
    expect(isExactPass(rowWith(pass))).toBe(true);
    const changes = [
      { errors: 1 },
      { reward: null },
      { matchRates: {} },
      { matchRates: { a: 1, b: 0.999 } },
      { keyPrecision: 0.999 },
      { keyRecall: 0.999 },
    ];
    for (const change of changes) expect(isExactPass(rowWith({ ...pass, ...change }))).toBe(false);
    // The thresholds of the task do not matter.
    expect(isExactPass(rowWith({ ...pass, failedChecks: 1 }))).toBe(true);
  });

  it('are judged when they have a reward', () => {
    const rows = [rowWith({ reward: 0 }), rowWith({ reward: null })];
    expect(judgedRows(rows)).toEqual([rows[0]]);
  });

  it('know the edition of their dataset', () => {
    expect(
      ['mimic-iv', 'eicu', 'eicu-demo', 'mimic-iv-synthetic', 'mimic-ivory', 'ours'].map(editionOf),
    ).toEqual(['full', 'full', 'demo', 'synthetic', 'mimic-ivory', 'ours']);
  });

  it('stand in strata by everything that is never pooled, labelled by what differs', () => {
    const rows = [
      rowWith({ reward: 1, model: 'z' }),
      rowWith({ reward: 1, model: 'a' }),
      rowWith({ reward: 1, agent: 'agent-b', effort: 'high' }),
      rowWith({ reward: 1, campaign: 'other', protocol: 'p', edition: 'full' }),
    ];
    expect(strataOf(rows).map(({ rows: members, ...stratum }) => [members.length, stratum])).toEqual(
      [
        { label: 'campaign / agent-a / medium', agent: 'agent-a', effort: 'medium', models: ['a', 'z'] },
        { label: 'campaign / agent-b / high', agent: 'agent-b', effort: 'high', models: ['model-a'] },
        { label: 'other', campaign: 'other', protocol: 'p', edition: 'full', models: ['model-a'] },
      ].map((own, index) => [
        index === 0 ? 2 : 1,
        {
          campaign: 'campaign',
          agent: 'agent-a',
          effort: 'medium',
          auth: 'key',
          protocol: 'm4bench-1',
          benchmarkVersion: '1.0.0',
          edition: 'demo',
          ...own,
        },
      ]),
    );
  });

  it('stand in strata by agent, effort, protocol, version and edition, whatever their order', () => {
    const fields = ['agent', 'effort', 'protocol', 'benchmarkVersion', 'edition'] as const;
    for (const field of fields) {
      const rows = ['b', 'a'].map((value) => rowWith({ reward: 1, [field]: value }));
      expect(strataOf(rows).map((stratum) => stratum.label)).toEqual(['campaign / a', 'campaign / b']);
    }
    // Names are not run together: ab and c are not a and bc.
    const names = [
      rowWith({ reward: 1, agent: 'ab', effort: 'c' }),
      rowWith({ reward: 1, agent: 'a', effort: 'bc' }),
    ];
    expect(strataOf(names)).toHaveLength(2);
  });

  it('of the two native arms are what the headline compares', () => {
    const rows = [
      rowWith({ reward: 1 }),
      rowWith({ reward: 1, condition: 'with-skill' }),
      rowWith({ reward: 1, condition: 'with-skill-all' }),
      rowWith({ reward: 1, schema: 'obfuscated' }),
    ];
    expect(nativeArms(rows)).toEqual(rows.slice(0, 2));
  });
});

describe('sets of runs', () => {
  const rows = [rowWith({ reward: 0 }), rowWith({ reward: 1, trial: 2 })];

  it('stand side by side; the first facts of a task win', () => {
    const facts = (familyLabel: string) => ({
      name: 't',
      family: 'f',
      familyLabel,
      mode: 'raw' as const,
      database: 'eicu',
      keyColumns: [],
      valueColumns: [],
      scoredColumns: [],
    });
    const record = { campaign: 'c' } as never;
    const first = { ...runSetOf(rows, [facts('first')]), printedProbeMeans: { c: { obfuscated: 0.5 } } };
    const second = {
      ...runSetOf([rowWith({ reward: 0.5 })], [facts('second'), { ...facts('other'), name: 'u' }]),
      superseded: rows,
      records: [record],
      printedProbeMeans: { d: { restructured: 0.25 } },
    };
    expect(joinRunSets([first, second])).toEqual({
      rows: [...rows, ...second.rows],
      superseded: rows,
      records: [record],
      tasks: [facts('first'), second.tasks[1]],
      printedProbeMeans: { c: { obfuscated: 0.5 }, d: { restructured: 0.25 } },
    });
    expect(runSetOf(rows)).toEqual({ rows, superseded: [], records: [], tasks: [], printedProbeMeans: {} });
  });

  it('have a hash of all that numbers come from, whatever the order of rows and of their keys', () => {
    const hash = runSetHash(runSetOf(rows));
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const { trial, ...rest } = rows[1]!;
    expect(runSetHash(runSetOf([{ trial, ...rest }, rows[0]!]))).toBe(hash);
    expect(runSetHash(runSetOf([rows[0]!, { ...rows[1]!, reward: 0.999 }]))).not.toBe(hash);
    expect(runSetHash(runSetOf(rows.slice(1)))).not.toBe(hash);
    expect(runSetHash({ ...runSetOf(rows), superseded: rows })).not.toBe(hash);
    const both = [rows, rows.toReversed()].map((superseded) => runSetHash({ ...runSetOf(rows), superseded }));
    expect(both[0]).toBe(both[1]);
    expect(runSetHash({ ...runSetOf(rows), printedProbeMeans: { c: {} } })).not.toBe(hash);
    // Two rows that differ together are not two others.
    const swapped = [
      { ...rows[0]!, trial: 2 },
      { ...rows[1]!, trial: 1 },
    ];
    expect(runSetHash(runSetOf(swapped))).not.toBe(hash);
  });
});
