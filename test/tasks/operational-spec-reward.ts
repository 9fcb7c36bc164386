import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { DuckSession } from '../../src/duck/session.js';
import { identifier, literal } from '../../src/duck/sql.js';
import { createParquetViews, type ParquetRelation } from '../../src/duck/views.js';
import { evaluateOutput } from '../../src/evaluation/evaluate.js';
import { packageRoot } from '../../src/support/home.js';
import type { Task } from '../../src/tasks/task.js';

const folder = join(packageRoot(), 'test', 'tasks', 'operational-spec-sql');

const rewardsFile = z.record(
  z.string(),
  z.strictObject({
    /** The file with the query, without `.sql`; tasks with one text share it. */
    query: z.string(),
    /** Reward of the query as written first, before any text or query was corrected. */
    firstReading: z.number(),
    reward: z.number(),
  }),
);

/** What the queries score on the open demos, by task. */
export async function readRewards(): Promise<ReadonlyMap<string, z.infer<typeof rewardsFile>[string]>> {
  const text = await readFile(join(folder, 'rewards.json'), 'utf8');
  return new Map(Object.entries(rewardsFile.parse(JSON.parse(text))));
}

export interface SpecQuery {
  readonly task: Task;
  readonly query: string;
  readonly dataset: string;
  /** What the task leaves in its database. */
  readonly relations: readonly ParquetRelation[];
  readonly referencePath: string;
}

/**
 * Reward of the query that was written from the operational specification of a task. Paragraphs that several
 * specifications share are views of the schema `paragraph`, one file each.
 */
export async function operationalSpecReward(request: SpecQuery): Promise<number> {
  const { task, query, dataset, relations, referencePath } = request;
  const scratch = await mkdtemp(join(tmpdir(), 'm4bench-spec-'));
  try {
    await using session = await DuckSession.open();
    await createParquetViews(session, relations);
    await session.run('create schema paragraph');
    for (const file of await readdir(join(folder, 'paragraphs'))) {
      if (task.database !== 'mimic-iv') continue;
      const text = await readFile(join(folder, 'paragraphs', file), 'utf8');
      await session.run(`create view paragraph.${identifier(basename(file, '.sql'))} as ${text}`);
    }
    const outputPath = join(scratch, 'output.parquet');
    const text = await readFile(join(folder, `${query}.sql`), 'utf8');
    await session.run(`copy (${text}) to ${literal(outputPath)} (format parquet)`);
    const { evaluation } = await evaluateOutput({
      task,
      dataset,
      outputPath,
      referencePath,
      scoresOnly: true,
    });
    return evaluation.reward;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
