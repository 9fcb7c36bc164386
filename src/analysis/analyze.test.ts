import { describe, expect, it } from 'vitest';
import { analyze, figuresOf } from './analyze.js';
import { sentinelTasks } from './published-release.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import type { RunRow } from './run-row.js';
import { type CampaignRecord, type RunSet, runSetHash, runSetOf } from './run-set.js';

const resamples = 50;

const record: CampaignRecord = {
  campaign: 'campaign',
  plannedRuns: 2,
  missingRuns: [],
  unexpectedRuns: [],
  canonicalRuns: 2,
  provenanceOnly: 0,
  artifactCounts: { 'result.json': 2 },
  artifactBytes: 10,
  folderBytes: null,
  agentSeconds: 20,
  inputTokens: 1,
  cachedInputTokens: 1,
  outputTokens: 1,
  hardware: null,
};

/** A run set that gives every table: `campaign` with all conditions, a Claude and an open-weights campaign. */
function fullSet(): RunSet {
  const names = ['mimic-sofa-24h', 'mimic-meld-24h', ...sentinelTasks.slice(0, 2)];
  const arms = (model: string, gain: number) =>
    armsOf(
      Object.fromEntries(
        names.map((task, index) => [
          task,
          [
            [0.125 * index, 0.25],
            [0.5 + gain * (index % 2), 0.625 + gain + index / 64],
          ] as const,
        ]),
      ),
      { model, tokens: { input: 10, cachedInput: 0, cacheWrite: 0, output: 5 }, cost: 0.5 },
    ).map((row) => ({
      ...row,
      harness: { ...row.harness, cliVersion: '1.0' },
      matchRates: { a: row.reward! },
    }));
  const conditions = ['with-skill-rawsql', 'with-skill-decoy', 'with-skill-all', 'operational-spec'];
  const rows: readonly RunRow[] = [
    ...arms('m1', 0),
    ...arms('m2', 0.0625),
    ...conditions.map((condition) => rowWith({ task: names[2]!, model: 'm1', condition, reward: 0.5 })),
    ...['no-skill', 'with-skill'].map((condition) =>
      rowWith({
        task: names[0]!,
        model: 'm1',
        condition,
        schema: 'obfuscated',
        part: 'follow-up',
        reward: 0.5,
        hasOpenedSkill: condition === 'with-skill' ? true : null,
      }),
    ),
    rowWith({ task: names[0]!, model: 'm1', trial: 9, reward: null, failure: 'infrastructure', keyF1: null }),
    ...armsOf({ [sentinelTasks[0]!]: [[0], [1]] }, { campaign: 'sentinel', agent: 'claude' }),
    ...armsOf({ 'mimic-meld-24h': [[0], [1]] }, { campaign: 'full', agent: 'claude-code' }),
    ...armsOf({ 'mimic-meld-24h': [[0], [1]] }, { campaign: 'open', agent: 'pi-ollama' }),
  ];
  const facts = factsFor(names, (name) => ({ family: name.includes('meld') ? 'meld' : 'sofa' }));
  return { ...runSetOf(rows, facts), records: [record] };
}
const further = {
  caveats: [{ family: 'sofa', convention: 'kept', caveat: 'costs' }],
  packages: [{ archive: 'a', contents: 'runs', runs: 1, bytes: 1, sha256: '0' }],
};

const paper: Readonly<Record<string, string>> = {
  'table01-conditions': 'Conditions',
  'table02-task-inventory': 'Tasks by family',
  'table03-native-skill-effect':
    'Effect of skills with the native schema; 95 % percentile bootstrap over tasks',
  'table04-operational-spec': 'Operational-specification control; 95 % percentile bootstrap over tasks',
  'table05-harness-matched-subsets': 'The effect of skills on tasks whose arms share a harness',
  'table06-task-details': 'Tasks',
  'table07-review-provenance': 'Review provenance of the published tasks',
  'table08-reviewers': 'Reviewers',
  'table09-validity-caveats': 'Conventions kept, and their caveats',
  'table10-artifact-package': 'Retained run directories and artifacts',
  'table11-compute': 'Compute and tokens',
  'table12-licences': 'Assets and terms',
  'table13-control-subsets': 'Tasks of the control subsets, and effect of the targeted skill',
  'table14-evidence-packages': 'Evidence packages',
  'table15-integrity': 'Integrity of the primary runs',
  'table16-largest-gains': 'Largest gains from skills',
  'table17-largest-declines': 'Largest declines or smallest gains',
  'table18-mode-split': 'Effect of skills by task mode',
  'table19-cluster-sensitivity': 'The headline under bootstraps over tasks and over families',
  'table20-key-diagnostics': 'Key diagnostics',
  'table21-secondary-by-task': 'Secondary metrics by task',
  'table22-controls': 'Matched-context controls',
  'table23-schema-generalisation': 'Effect of skills across schemas',
  'table24-follow-up-integrity': 'Integrity of the follow-up runs',
  'table25-operational-spec-by-task': 'Operational-specification control by task',
  'table26-claude-sentinel': 'Claude on the sentinel tasks',
  'table27-claude-sentinel-by-task': 'Claude on the sentinel tasks, by task',
  'table28-open-weights': 'Local open weights',
  'table29-claude-replication': 'Claude, full replication',
  'table30-harness-indicators': 'Harness indicators by condition',
  'table31-claude-replication-by-task': 'Claude, full replication, by task',
};
const others: Readonly<Record<string, string>> = {
  sensitivity: 'Sensitivity of the claims',
  'headline-intervals': 'The headline under different 95 % intervals',
  'task-significance': 'Effect of skills by task, adjusted for the number of tasks',
  'mixed-effects': 'Mixed-effects view of the skill deltas: task random, model fixed (REML)',
  'trial-reliability': 'Reliability of trials',
  'leave-one-family-out': 'The headline without each family',
  'leave-one-task-out': 'The headline without each task',
  power: 'Minimal detectable effect and power of planned campaigns',
  'rank-stability-no-skill': 'Ranking of agents, no-skill, under resampling of tasks',
  'rank-stability-with-skill': 'Ranking of agents, with-skill, under resampling of tasks',
  completeness: 'Planned and finished runs',
  'reward-by-arm': 'Mean reward over runs by model, condition and schema',
  failures: 'Failures by arm: judged failures count as reward 0, unjudged runs are in no mean',
  'skill-use': 'Use of the placed skills',
  cost: 'Mean reward, time, tokens and cost of a run',
  'schema-probe': 'No-skill reward by schema',
  'controls-by-task': 'Control cells with both arms',
  'all-skills-probe': 'All skills instead of the targeted one',
  'native-deltas': 'Native skill deltas by task and model',
  'task-deltas': 'Effect of skills by task: m1, m2',
  columns: 'Match rates by column, and how wrong rows are wrong',
  'cells-to-look-at': 'Cells to look at',
  cells: 'Cells',
  runs: 'Runs',
};

describe('the catalogue of tables', () => {
  it('has every table under its name, in the order of the paper, then by purpose', () => {
    const set = fullSet();
    const ranked = { ...set, rows: set.rows.filter((row) => row.campaign === 'campaign') };
    const { tables: own } = analyze(ranked, { resamples, ...further });
    // With one campaign, nothing is labelled; the campaigns of other agents have tables of their own.
    expect(Object.keys(own).filter((name) => own[name]!.columns.includes('campaign'))).toEqual([
      'table10-artifact-package',
      'table11-compute',
      'completeness',
      'runs',
    ]);
    const missing = ['26', '27', '28', '29', '31'].map((number) => `table${number}`);
    expect(Object.keys(own)).toEqual(
      Object.keys({ ...paper, ...others }).filter((name) => !missing.includes(name.slice(0, 7))),
    );
  });

  it.each(Object.entries({ ...paper, ...others }))('has %s: %s', (name, title) => {
    const set = fullSet();
    const ranked = { ...set, rows: set.rows.filter((row) => row.campaign === 'campaign') };
    const isOfAnother = /claude|open-weights/.test(name);
    const { tables } = analyze(isOfAnother ? set : ranked, { resamples: 5, only: [name], ...further });
    expect(tables[name]!.title).toBe(title);
  });

  it('says what an empty table needs', () => {
    const clean = [rowWith({ reward: 1, keyF1: null })];
    const followUp = [rowWith({ reward: 1, part: 'follow-up' })];
    for (const [name, rows, needs] of [
      ['table15-integrity', followUp, 'primary runs'],
      ['table20-key-diagnostics', clean, 'native runs with key metrics'],
      ['failures', clean, 'failed or unjudged runs'],
    ] as const)
      expect(() => analyze(runSetOf(rows), { resamples: 5, only: [name] })).toThrow(
        `Table ${name} needs ${needs}, of which these runs have none.`,
      );
  });

  it('tells a Claude campaign of nothing but sentinel tasks from a larger one', () => {
    const mixed = armsOf(
      { [sentinelTasks[0]!]: [[0], [1]], 'mimic-meld-24h': [[0], [1]] },
      { agent: 'claude' },
    );
    const { tables } = analyze(runSetOf(mixed), { resamples: 5 });
    expect(Object.keys(tables).filter((name) => name.includes('claude'))).toEqual([
      'table29-claude-replication',
      'table31-claude-replication-by-task',
    ]);
  });

  it('says what each missing table needs', () => {
    const { omitted, tables, figures } = analyze(runSetOf([rowWith({ reward: null, seconds: null })]), {
      resamples,
    });
    const arms = 'needs native no-skill and with-skill runs';
    const facts = 'needs facts of the tasks';
    const records = 'needs records of the campaigns';
    const specification = 'needs operational-spec runs with both arms';
    const sentinel = 'needs Claude runs of the sentinel tasks';
    const replication = 'needs Claude runs beyond the sentinel tasks';
    const undrawn = 'the runs hold nothing to draw';
    expect(omitted).toEqual({
      'table02-task-inventory': facts,
      'table03-native-skill-effect': arms,
      'table04-operational-spec': specification,
      'table05-harness-matched-subsets': 'needs recorded CLI versions and both arms',
      'table06-task-details': facts,
      'table07-review-provenance': 'needs published tasks',
      'table09-validity-caveats': 'needs the conventions and caveats of the families',
      'table10-artifact-package': records,
      'table11-compute': records,
      'table13-control-subsets': arms,
      'table14-evidence-packages': 'needs built evidence packages',
      'table16-largest-gains': arms,
      'table17-largest-declines': arms,
      'table18-mode-split': `${arms}, and facts of the tasks`,
      'table19-cluster-sensitivity': arms,
      'table21-secondary-by-task': arms,
      'table22-controls': 'needs raw-SQL, decoy or all-skills runs with both arms',
      'table23-schema-generalisation': 'needs with-skill runs under a transformed schema',
      'table24-follow-up-integrity': 'needs follow-up runs',
      'table25-operational-spec-by-task': specification,
      'table26-claude-sentinel': sentinel,
      'table27-claude-sentinel-by-task': sentinel,
      'table28-open-weights': 'needs runs of a local open-weights model',
      'table29-claude-replication': replication,
      'table30-harness-indicators': 'needs recorded CLI versions',
      'table31-claude-replication-by-task': replication,
      sensitivity: arms,
      'headline-intervals': arms,
      'task-significance': arms,
      'mixed-effects': `${arms} of two models`,
      'trial-reliability': 'needs cells with two judged runs',
      'leave-one-family-out': `${arms} of two families`,
      'leave-one-task-out': `${arms} of two tasks`,
      power: `${arms} of two tasks`,
      'rank-stability-no-skill':
        'needs two agents with tasks in common, of one protocol, version and edition',
      completeness: 'needs campaigns with a plan',
      'skill-use': 'needs runs with placed skills and a record of their use',
      cost: 'needs recorded time or tokens',
      'schema-probe': 'needs no-skill runs under a transformed schema',
      'controls-by-task': 'needs control runs with both arms',
      'all-skills-probe': 'needs all-skills runs with both arms',
      'native-deltas': arms,
      'task-deltas': arms,
      columns: 'needs judged runs with readable outputs',
      'cells-to-look-at': 'needs judged runs',
      'figure02-skill-delta-forest': undrawn,
      'figure02-skill-delta-heatmap': undrawn,
      'schema-slopes': undrawn,
      'reward-against-tokens': undrawn,
      'reward-against-cost': undrawn,
      'reward-against-seconds': undrawn,
      'score-distributions': undrawn,
      'arm-means': undrawn,
    });
    expect(Object.keys(tables)).toEqual([
      'table01-conditions',
      'table08-reviewers',
      'table12-licences',
      'table15-integrity',
      'table20-key-diagnostics',
      'reward-by-arm',
      'failures',
      'cells',
      'runs',
    ]);
    expect(Object.keys(figures)).toEqual(['reward-heatmap']);
  });

  it('gives each table its own campaigns', () => {
    const { tables } = analyze(fullSet(), { resamples, ...further });
    const campaignsOf = (name: string) => [...new Set(tables[name]!.rows.map((row) => row.campaign))];
    expect(campaignsOf('table03-native-skill-effect')).toEqual(['campaign', 'sentinel', 'full', 'open']);
    // A table of one campaign stands alone.
    for (const name of ['table26', 'table27', 'table28', 'table29', 'table31']) {
      const found = Object.keys(tables).find((table) => table.startsWith(name))!;
      expect(campaignsOf(found)).toEqual([undefined]);
    }
    expect(tables['table27-claude-sentinel-by-task']!.rows).toMatchObject([{ task: sentinelTasks[0] }]);
    expect(tables['table31-claude-replication-by-task']!.rows).toMatchObject([
      { task: 'mimic-meld-24h', harness: 'unknown' },
    ]);
    expect(tables['table28-open-weights']!.rows).toHaveLength(1);
    // The facts of tasks that were not run are in no table; those of run ones are.
    const idle = factsFor(['never-run'], () => ({ family: 'zz' }));
    const withIdle = { ...fullSet(), tasks: [...fullSet().tasks, ...idle] };
    const { tables: inventory } = analyze(withIdle, { resamples: 5, only: ['table02-task-inventory'] });
    expect(inventory['table02-task-inventory']).toEqual(tables['table02-task-inventory']);
    expect(tables['table02-task-inventory']!.rows.map((row) => row.tasks)).toEqual([1, 3, 4]);
    expect(tables['table06-task-details']!.rows).toHaveLength(4);
    // Only the campaign itself has a record.
    const planned = tables['table15-integrity']!.rows.filter((row) => row.item === 'Planned runs');
    expect(planned.map((row) => row.value)).toEqual([2, null, null, null]);
  });

  it('lists six gains and declines, or as many as asked for', () => {
    const eight = Object.fromEntries(
      Array.from({ length: 8 }, (_, index) => [`t${index}`, [[0], [index / 8]]] as const),
    );
    const names = ['table16-largest-gains', 'table17-largest-declines'];
    const tasksOf = (listed?: number) => {
      const { tables } = analyze(runSetOf(armsOf(eight)), {
        resamples,
        only: names,
        ...(listed === undefined ? {} : { listed }),
      });
      return names.map((name) => tables[name]!.rows.map((row) => row.task));
    };
    expect(tasksOf()).toEqual([
      ['t7', 't6', 't5', 't4', 't3', 't2'],
      ['t0', 't1', 't2', 't3', 't4', 't5'],
    ]);
    expect(tasksOf(1)).toEqual([['t7'], ['t0']]);
  });

  it('ranks agents within one protocol, version and edition', () => {
    const agents = (changes: Partial<RunRow>, rewards: readonly [number, number]) =>
      ['m1', 'm2'].flatMap((model, index) =>
        ['t1', 't2'].map((task) => rowWith({ ...changes, model, task, reward: rewards[index]! })),
      );
    const name = 'rank-stability-no-skill';
    const worldsOf = (rows: readonly RunRow[]) =>
      analyze(runSetOf(rows), { resamples, only: [name] }).tables[name]!.rows.map((row) => [
        row.campaign,
        row.agent,
        row.rank,
      ]);
    expect(worldsOf(agents({}, [0, 1]))).toEqual([
      [undefined, 'm2 (campaign)', 1],
      [undefined, 'm1 (campaign)', 2],
    ]);
    expect(worldsOf([...agents({}, [0, 1]), ...agents({ edition: 'full' }, [1, 0])])).toEqual([
      ['m4bench-1 / demo', 'm2 (campaign / demo)', 1],
      ['m4bench-1 / demo', 'm1 (campaign / demo)', 2],
      ['m4bench-1 / full', 'm1 (campaign / full)', 1],
      ['m4bench-1 / full', 'm2 (campaign / full)', 2],
    ]);
    expect(worldsOf([...agents({}, [0, 1]), ...agents({ auth: 'login' }, [1, 0])])).toEqual([
      ['m4bench-1 / demo', 'm2 (campaign / key)', 1],
      ['m4bench-1 / demo', 'm1 (campaign / key)', 2],
      ['m4bench-1 / demo / login', 'm1 (campaign / login)', 1],
      ['m4bench-1 / demo / login', 'm2 (campaign / login)', 2],
    ]);
    expect(worldsOf([...agents({}, [0, 1]), ...agents({ benchmarkVersion: '2.0.0' }, [1, 0])])).toEqual([
      ['m4bench-1 / 1.0.0 / demo', 'm2 (campaign / 1.0.0)', 1],
      ['m4bench-1 / 1.0.0 / demo', 'm1 (campaign / 1.0.0)', 2],
      ['m4bench-1 / 2.0.0 / demo', 'm1 (campaign / 2.0.0)', 1],
      ['m4bench-1 / 2.0.0 / demo', 'm2 (campaign / 2.0.0)', 2],
    ]);
  });
});

describe('an analysis', () => {
  const rows = armsOf({ t1: [[0], [1]], t2: [[0.25], [0.5]] });
  const closed = rowWith({
    task: 't1',
    trial: 9,
    reward: 1,
    integrity: { isPublishable: false, isIsolated: false, hasCleanCanaries: null, hasCleanLint: null },
  });

  it('counts its runs and says what it was made of', () => {
    const set = runSetOf([...rows, closed, rowWith({ trial: 8, reward: null })]);
    const only = ['table01-conditions'];
    expect(analyze(set, { only })).toMatchObject({
      counts: { runs: 6, unjudged: 1, unpublishable: 1, dropped: 0 },
      settings: { resamples: 20_000, rng: 'modern' },
      dataHash: runSetHash(set),
    });
    // Named tables alone: no figure, and nothing is missing.
    const named = analyze(set, { only });
    expect([Object.keys(named.tables), named.figures, named.omitted]).toEqual([only, {}, {}]);
    expect(analyze(set, { only, resamples: 70, rng: 'published', publishableOnly: true })).toMatchObject({
      counts: { runs: 5, unjudged: 1, unpublishable: 1, dropped: 1 },
      settings: { resamples: 70, rng: 'published' },
      dataHash: runSetHash({ ...set, rows: set.rows.filter((row) => row.integrity.isPublishable) }),
    });
  });

  it('refuses an empty set, by what made it empty', () => {
    const refusal = (run: () => unknown) => {
      try {
        run();
      } catch (thrown) {
        return thrown as { code: string; message: string; remedy: string };
      }
      throw new Error('nothing was refused');
    };
    expect(refusal(() => analyze(runSetOf([])))).toMatchObject({
      code: 'NO_RUNS',
      message: 'There is no run to analyse.',
      remedy: 'Name a campaign that has results, or import runs.',
    });
    expect(refusal(() => analyze(runSetOf([closed]), { publishableOnly: true }))).toMatchObject({
      code: 'NO_RUNS',
      message: 'None of the 1 runs may be published.',
      remedy: 'Look at the reasons in their results, or analyse all runs.',
    });
    const unknown = refusal(() => analyze(runSetOf(rows), { only: ['table01-conditions', 'nonsense'] }));
    expect(unknown).toMatchObject({ code: 'TABLE_UNKNOWN', message: 'There is no table "nonsense".' });
    expect(unknown.remedy).toMatch(
      /^Known tables: table01-conditions, table02-task-inventory, .*, cells, runs\.$/,
    );
    expect(refusal(() => analyze(runSetOf(rows), { only: ['skill-use'] }))).toMatchObject({
      code: 'TABLE_EMPTY',
      message:
        'Table skill-use needs runs with placed skills and a record of their use, of which these runs have none.',
      remedy: 'Name a campaign that has them, or leave this table out.',
    });
  });

  it('orders runs by campaign as they appear, then by trial and by what they are', () => {
    const run = (campaign: string, trial: number, changes: Partial<RunRow> = {}) =>
      rowWith({ reward: 1, campaign, trial, runId: `${campaign}${trial}`, ...changes });
    const shuffled = [
      run('b', 2),
      run('a', 1, { task: 'z' }),
      run('b', 1),
      run('a', 1, { task: 'y', condition: 'with-skill', runId: 'y2' }),
      run('a', 1, { task: 'y', runId: 'y1' }),
      run('a', 2, { task: 'x' }),
    ];
    const { tables } = analyze(runSetOf(shuffled), { only: ['runs'], resamples });
    expect(tables.runs!.rows.map((row) => row.runId)).toEqual(['b1', 'b2', 'y1', 'y2', 'a1', 'a2']);
    // Each part of the identity decides where those before it are equal.
    const identity = ['task', 'condition', 'schema', 'agent', 'model', 'effort', 'runId'] as const;
    for (const part of identity) {
      const pair = ['b', 'a'].map((value, index) => rowWith({ reward: index, runId: 'same', [part]: value }));
      const ordered = analyze(runSetOf(pair), { only: ['runs'], resamples }).tables.runs!.rows;
      expect(ordered.map((row) => row[part])).toEqual(['a', 'b']);
    }
  });

  it('draws figures named after their campaign where there are several', () => {
    const named = (labels: readonly string[]) =>
      Object.keys(
        figuresOf(runSetOf(labels.flatMap((campaign) => rows.map((row) => ({ ...row, campaign })))), {
          resamples,
        }),
      )
        .filter((name) => name.startsWith('reward-heatmap'))
        .map((name) => name.slice('reward-heatmap'.length));
    expect(named(['Ä One!'])).toEqual(['']);
    expect(named(['First (1)', '--second--', 'first 1', 'FIRST...1'])).toEqual([
      '-first-1',
      '-second',
      '-first-1-2',
      '-first-1-3',
    ]);
    expect(figuresOf(runSetOf([]))).toEqual({});
    expect(figuresOf(runSetOf(rows), { resamples })).toEqual(analyze(runSetOf(rows), { resamples }).figures);
  });
});
