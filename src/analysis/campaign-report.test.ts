import { describe, expect, it } from 'vitest';
import type { RunResult } from '../runs/result.js';
import { renderAnalysis } from './campaign-report.js';
import { resultWith } from './result.fixture.js';
import { rewardByTaskAndCondition, skillDeltas, skillEffect } from './skill-effect.js';
import { contentOf } from './table-content.fixture.js';

/** t1 0.25 -> 0.75 and 0.5; t2 0.5 -> 0.25; t3 without an arm to compare, and unjudged. */
const results: readonly RunResult[] = [
  resultWith('t1', 'no-skill', 0.25),
  resultWith('t1', 'with-skill', 0.75),
  resultWith('t1', 'with-skill', 0.5, 2),
  resultWith('t2', 'no-skill', 0.5),
  resultWith('t2', 'with-skill', 0.25),
  resultWith('t3', 'no-skill', null),
];
const identity = ['codex', 'medium', 'm4bench-1', 'mimic-iv-demo'];
const identityColumns = ['agent', 'effort', 'protocol', 'dataset'];
const options = { resamples: 400 };

const changed = (result: RunResult, changes: Partial<RunResult['cell']>, version = '0.1.0'): RunResult => ({
  ...result,
  benchmarkVersion: version,
  cell: { ...result.cell, ...changes },
});

describe('a first look at results, by hand', () => {
  it('reward by task and condition', () => {
    const sd = Math.sqrt(2 * 0.125 ** 2);
    const passing = {
      ...resultWith('t4', 'no-skill', 1),
      evaluation: { ...resultWith('t4', 'no-skill', 1).evaluation!, checks: [] },
    };
    expect(contentOf(rewardByTaskAndCondition([...results, passing]))).toEqual({
      title: undefined,
      columns: [
        'task',
        'condition',
        'model',
        'schema',
        ...identityColumns,
        'runs',
        'unjudged',
        'reward',
        'sd',
        'min',
        'max',
        'keyF1',
        'strictPasses',
      ],
      rows: [
        ['t1', 'no-skill', 'm', 'native', ...identity, 1, 0, 0.25, null, 0.25, 0.25, 2 / 3, 0],
        ['t1', 'with-skill', 'm', 'native', ...identity, 2, 0, 0.625, sd, 0.5, 0.75, 2 / 3, 0],
        ['t2', 'no-skill', 'm', 'native', ...identity, 1, 0, 0.5, null, 0.5, 0.5, 2 / 3, 0],
        ['t2', 'with-skill', 'm', 'native', ...identity, 1, 0, 0.25, null, 0.25, 0.25, 2 / 3, 0],
        ['t3', 'no-skill', 'm', 'native', ...identity, 1, 1, null, null, null, null, null, 0],
        ['t4', 'no-skill', 'm', 'native', ...identity, 1, 0, 1, null, 1, 1, 2 / 3, 1],
      ],
    });
  });

  it('one judged trial has no spread, however many were not judged', () => {
    const of = [resultWith('t1', 'no-skill', 0.5), resultWith('t1', 'no-skill', null, 2)];
    expect(rewardByTaskAndCondition(of).rows[0]).toMatchObject({ runs: 2, unjudged: 1, sd: null });
  });

  it('deltas by task, model and schema', () => {
    const transformed = ['no-skill', 'with-skill'].map((condition) =>
      changed(resultWith('t1', condition, condition === 'no-skill' ? 0 : 1), { schema: 'obfuscated' }),
    );
    expect(contentOf(skillDeltas([...results, ...transformed]))).toEqual({
      title: undefined,
      columns: ['task', 'model', 'schema', ...identityColumns, 'noSkill', 'withSkill', 'delta'],
      rows: [
        ['t1', 'm', 'native', ...identity, 0.25, 0.625, 0.375],
        ['t2', 'm', 'native', ...identity, 0.5, 0.25, -0.25],
        ['t1', 'm', 'obfuscated', ...identity, 0, 1, 1],
      ],
    });
  });

  it('the task-balanced effect; campaigns of one question are one, datasets stand beside one another', () => {
    const elsewhere = results.map((result) => ({
      ...(result.cell.task === 't2' ? changed(result, { dataset: 'eicu-demo' }) : result),
      campaign: result.trial === 2 ? 'again' : 'first',
    }));
    expect(contentOf(skillEffect(elsewhere, 1, options))).toEqual({
      title: undefined,
      columns: [
        ...identityColumns,
        'schema',
        'tasks',
        'noSkill',
        'withSkill',
        'delta',
        'low',
        'high',
        'positiveTasks',
      ],
      // Arms: (0.25 + 0.5)/2 and (0.625 + 0.25)/2.
      rows: [
        [
          'codex',
          'medium',
          'm4bench-1',
          'eicu-demo+mimic-iv-demo',
          'native',
          2,
          0.375,
          0.4375,
          0.0625,
          -0.25,
          0.375,
          1,
        ],
      ],
    });
    expect(skillEffect(results.slice(5), 1, options).rows).toEqual([]);
  });

  it('has a column for the version of the benchmark where there are several', () => {
    const later = results.map((result) => changed(result, {}, '0.2.0'));
    const both = [...results, ...later];
    for (const table of [
      rewardByTaskAndCondition,
      skillDeltas,
      (of: readonly RunResult[]) => skillEffect(of, 1, options),
    ]) {
      expect(table(results).columns).not.toContain('version');
      const { columns, rows } = table(both);
      expect(columns[columns.indexOf('dataset') + 1]).toBe('version');
      expect(new Set(rows.map((row) => row.version))).toEqual(new Set(['0.1.0', '0.2.0']));
    }
  });

  it('draws the same for the same seed, whether a number or a text', () => {
    const three = [0.1, 0.35, 0.8].flatMap((gain, index) => [
      resultWith(`t${index}`, 'no-skill', 0.1),
      resultWith(`t${index}`, 'with-skill', 0.1 + gain),
    ]);
    const few = { resamples: 7 };
    expect(skillEffect(three, 'a', few)).toEqual(skillEffect(three, 'a', few));
    const lows = ['a', 'b', 'c', 'd', 'e'].map((seed) => skillEffect(three, seed, few).rows[0]!.low);
    expect(new Set(lows).size).toBeGreaterThan(1);
  });
});

describe('the report of a campaign', () => {
  const title = 'mine';

  it('has its tables as text under headings', () => {
    const { tables, text } = renderAnalysis(results, { title, seed: 1 });
    expect(Object.keys(tables)).toEqual(['reward-by-task-and-condition', 'skill-deltas', 'skill-effect']);
    const lines = text.split('\n');
    for (const [heading, first] of [
      ['Reward by task and condition', 'task'],
      ['Skill delta by task (with-skill minus no-skill)', 'task'],
      ['Skill effect over tasks, with a 95 % bootstrap interval', 'tasks'],
    ] as const) {
      const at = lines.indexOf(heading);
      expect(lines[at - 1]).toBe('');
      expect(lines[at + 1]).toBe('');
      expect(lines[at + 2]!.trim()).toMatch(new RegExp(`^${first} `));
    }
    expect(lines).toContain('t2       0.500       0.250  -0.250');
    // What all rows share is said once.
    const shared =
      'model m, schema native, agent codex, effort medium, protocol m4bench-1, dataset mimic-iv-demo';
    expect(lines.filter((line) => line === `(in every row: ${shared})`)).toHaveLength(2);
    expect(lines.at(-1)).toBe(
      `(in every row: ${shared.slice('model m, '.length).replace('schema native, ', '')}, schema native)`,
    );
  });

  it('says first what a reader must know', () => {
    const clean = results.slice(0, 5).map((result): RunResult => ({ ...result, publishable: true }));
    const noticesOf = (of: readonly RunResult[]) => renderAnalysis(of, { title, seed: 1 }).notices;
    expect(noticesOf(clean)).toEqual([]);
    const told = renderAnalysis(results, { title, seed: 1 });
    expect(told.notices).toEqual([
      '6 of 6 runs are not publishable; each result.json gives the reasons.',
      '1 runs are unjudged (infrastructure failures) and enter no mean.',
    ]);
    expect(told.text.split('\n').slice(0, 3)).toEqual([...told.notices, '']);
    const synthetic = {
      name: 'mimic-iv-synthetic',
      class: 'synthetic',
      verified: false,
      contentHash: 'd',
    } as const;
    expect(noticesOf([{ ...clean[0]!, dataset: synthetic }, ...clean.slice(1)])).toEqual([
      'mimic-iv-synthetic is synthetic data: rewards say nothing about patients or models.',
      'mimic-iv-synthetic is UNVERIFIED: its files are not the official release.',
    ]);
    expect(noticesOf([clean[0]!, changed(clean[1]!, {}, '0.2.0')])).toEqual([
      'Runs of benchmark versions 0.1.0 and 0.2.0 are shown apart: their tasks may differ.',
    ]);
    const offline = clean.map((result) => ({ ...result, tokens: null }));
    expect(noticesOf(offline)).toEqual(['No model was called in these runs.']);
    expect(noticesOf([...offline, clean[0]!])).toEqual([]);
    expect(noticesOf([{ ...clean[0]!, publishable: false }, ...clean.slice(1)])).toEqual([
      '1 of 5 runs are not publishable; each result.json gives the reasons.',
    ]);
  });
});
