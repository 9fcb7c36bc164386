import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDataset } from '../../src/datasets/dataset.js';
import { importDataset } from '../../src/datasets/import.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import { createParquetViews } from '../../src/duck/views.js';
import { buildReferences, openReference } from '../../src/references/build.js';
import { CellPreparation } from '../../src/runs/prepare.js';
import type { AllowedRelation } from '../../src/schemas/task-database.js';
import { benchmarkFolder, type Home, homeAt, packageRoot } from '../../src/support/home.js';
import { loadIntendedInputs } from '../../src/tasks/lint/intended-input-rules.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';
import { loadProtocol } from '../../src/tasks/protocol.js';
import type { Task } from '../../src/tasks/task.js';
import { operationalSpecReward, readRewards } from './operational-spec-reward.js';
import { type ColumnMatch, singleColumnMatches } from './single-column-matches.js';

/** What can only be shown on data; on the open demos, with the database that each task leaves to the agent. */
const data = join(process.env.M4BENCH_TEST_DATA ?? join(packageRoot(), '..', 'shared'), 'data');
const hasData = existsSync(join(data, 'mimic-iv-demo')) && existsSync(join(data, 'eicu-demo'));
if (!hasData) console.warn('The open demos are not present (M4BENCH_TEST_DATA): tests on data are skipped.');

const tasks = await loadTasks();
const named = (list: readonly Task[]): readonly (readonly [string, Task])[] =>
  list.map((task) => [task.name, task]);
const datasetOf = (task: Task): string => `${task.database}-demo`;
let home: Home;
let preparation: CellPreparation;

beforeAll(async () => {
  if (!hasData) return;
  home = homeAt(await mkdtemp(join(tmpdir(), 'm4bench-tasks-')));
  preparation = new CellPreparation(home);
  for (const name of ['mimic-iv-demo', 'eicu-demo']) {
    const dataset = await importDataset(home, { name, from: join(data, name), verify: false });
    await buildReferences(home, dataset);
  }
}, 300_000);
afterAll(async () => {
  if (hasData) await rm(home.root, { recursive: true, force: true });
});

/** The relations that a task leaves in its database, as files. */
async function relationsOf(task: Task): Promise<readonly AllowedRelation[]> {
  return preparation.relationsFor(task, await loadProtocol(), await openDataset(home, datasetOf(task)));
}

describe.skipIf(!hasData)('SQL written from an operational specification alone', () => {
  it.each(named(tasks))('%s scores what is recorded', { timeout: 120_000 }, async (_name, task) => {
    const recorded = (await readRewards()).get(task.name);
    const { parquetPath } = await openReference(home, datasetOf(task), task.reference);
    const reward = await operationalSpecReward({
      task,
      query: recorded?.query ?? '',
      dataset: datasetOf(task),
      relations: await relationsOf(task),
      referencePath: parquetPath,
    });
    expect(reward).toBe(recorded?.reward);
  });

  it('shares a query only between tasks of the same text', async () => {
    for (const [name, { query }] of await readRewards()) {
      const texts = [name, query].map(
        (each) => tasks.find((task) => task.name === each)?.material.operationalSpec,
      );
      expect(texts[0], name).toBeDefined();
      expect(texts[0], name).toBe(texts[1]);
    }
  });
});

/** A raw task keeps a subset of the relations of its standard sibling, whose result bounds its own. */
const measured = tasks.filter(
  (task) =>
    task.mode === 'standard' ||
    !tasks.some((other) => other.mode === 'standard' && other.reference === task.reference),
);
const threshold = 0.9;

describe.skipIf(!hasData)('the best single column that a join on the keys finds', () => {
  it.each(named(measured))(
    '%s: nothing above 0.9 but intended inputs',
    { timeout: 300_000 },
    async (_name, task) => {
      const relations = await relationsOf(task);
      const { parquetPath } = await openReference(home, datasetOf(task), task.reference);
      await using session = await DuckSession.open();
      await createParquetViews(session, relations);
      await session.run(`create view truth as select * from read_parquet(${literal(parquetPath)})`);
      const matches = await singleColumnMatches(session, task, relations);
      console.log([`${task.name}, ${relations.length} relations left`, ...matches.map(lineOf)].join('\n'));
      const intended = (await loadIntendedInputs(join(benchmarkFolder(), 'families', 'intended-inputs.toml')))
        .filter((input) => input.task === task.name)
        .map(({ column, source }) => `${column} = ${source}`);
      // A constant reaches the share of the most frequent value, so a match up to there tells nothing.
      const telling = matches.filter(({ share, mostFrequent }) => share > threshold && share > mostFrequent);
      expect(telling.map(({ column, source }) => `${column} = ${source}`)).toEqual(intended);
    },
  );

  it('finds a planted leak', { timeout: 60_000 }, async () => {
    const task = tasks.find(({ name }) => name === 'mimic-meld-24h');
    if (task === undefined) throw new RangeError('There is no such task.');
    const { parquetPath } = await openReference(home, datasetOf(task), task.reference);
    await using session = await DuckSession.open();
    await session.run(`create view truth as select * from read_parquet(${literal(parquetPath)})`);
    await session.run('create schema mimiciv_derived');
    await session.run(
      'create view mimiciv_derived.leak as select stay_id, meld + 0.5 as liver, 6 as least from truth',
    );
    const [match] = await singleColumnMatches(session, task, [{ schema: 'mimiciv_derived', table: 'leak' }]);
    expect(match).toMatchObject({
      column: 'meld',
      share: 1,
      source: 'mimiciv_derived.leak.liver',
      how: 'value',
    });
  });

  it('leaves raw tasks a subset of what their standard sibling has', async () => {
    for (const task of tasks.filter((each) => !measured.includes(each))) {
      const sibling = measured.find(({ reference }) => reference === task.reference);
      const names = async (of: Task): Promise<readonly string[]> =>
        (await relationsOf(of)).map(({ schema, table }) => `${schema}.${table}`);
      expect(await names(sibling ?? task), task.name).toEqual(
        expect.arrayContaining([...(await names(task))]),
      );
    }
  });
});

function lineOf({ column, share, source, how, mostFrequent }: ColumnMatch): string {
  return `  ${column}: ${share.toFixed(4)} by ${how} of ${source} (most frequent value ${mostFrequent.toFixed(4)})`;
}
