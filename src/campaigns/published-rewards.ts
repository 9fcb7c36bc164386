import { join } from 'node:path';
import { z } from 'zod';
import { readJson } from '../support/files.js';
import { benchmarkFolder } from '../support/home.js';
import type { CellStatus } from './status.js';

const publishedSchema = z.object({
  source: z.string(),
  rows: z.array(
    z.object({
      agent: z.string(),
      model: z.string(),
      task: z.string(),
      condition: z.enum(['no-skill', 'with-skill']),
      runs: z.number().int(),
      reward: z.number(),
    }),
  ),
});
export type PublishedRewards = z.infer<typeof publishedSchema>;

/** Mean rewards of the published cells, with their source. */
export async function readPublishedRewards(): Promise<PublishedRewards> {
  return publishedSchema.parse(
    await readJson(join(benchmarkFolder(), 'campaigns', 'published-rewards.json')),
  );
}

/** Means over tasks of one agent and model, each task counted once. */
export interface ScoreRow {
  readonly agent: string;
  readonly model: string;
  readonly tasks: number;
  /** Null when a task lacks a judged run. */
  readonly noSkill: number | null;
  readonly withSkill: number | null;
  readonly delta: number | null;
}

interface CellMean {
  readonly task: string;
  readonly condition: string;
  readonly reward: number | null;
}

/** The row of a set of cells: mean over `tasks` of the cell means, per condition. */
export function scoreRow(
  agent: string,
  model: string,
  tasks: readonly string[],
  cells: readonly CellMean[],
): ScoreRow {
  const mean = (condition: string): number | null => {
    const rewards = tasks.map(
      (task) => cells.find((cell) => cell.task === task && cell.condition === condition)?.reward ?? null,
    );
    if (tasks.length === 0 || rewards.includes(null)) return null;
    return rewards.reduce<number>((sum, reward) => sum + reward!, 0) / tasks.length;
  };
  const [noSkill, withSkill] = [mean('no-skill'), mean('with-skill')];
  return {
    agent,
    model,
    tasks: tasks.length,
    noSkill,
    withSkill,
    delta: noSkill === null || withSkill === null ? null : withSkill - noSkill,
  };
}

/** Published rows over exactly these tasks; an agent and model that did not run them all is left out. */
export function publishedRows(published: PublishedRewards, tasks: readonly string[]): readonly ScoreRow[] {
  const pairs = new Map(published.rows.map(({ agent, model }) => [`${agent} ${model}`, { agent, model }]));
  return [...pairs.values()]
    .map(({ agent, model }) =>
      scoreRow(
        agent,
        model,
        tasks,
        published.rows.filter((row) => row.agent === agent && row.model === model),
      ),
    )
    .filter(({ delta }) => delta !== null);
}

/** Rows of one's own campaign, one per model. */
export function ownRows(
  agent: string,
  tasks: readonly string[],
  cells: readonly CellStatus[],
): readonly ScoreRow[] {
  const models = [...new Set(cells.map(({ model }) => model))];
  return models.map((model) =>
    scoreRow(
      agent,
      model ?? 'default',
      tasks,
      cells.filter((cell) => cell.model === model && cell.schema === 'native'),
    ),
  );
}
