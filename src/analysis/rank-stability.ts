import { percentilesOf } from './bootstrap.js';
import { mean } from './moments.js';
import type { Resampler } from './random-stream.js';

/** One agent (or model) with its value on each task; all agents over the same tasks in the same order. */
export interface RankedAgent {
  readonly name: string;
  readonly values: readonly number[];
}

export interface AgentRank {
  readonly name: string;
  readonly mean: number;
  readonly rank: number;
  /** 95 % percentile interval of the rank under resampling of tasks. */
  readonly low: number;
  readonly high: number;
  /** Share of resamples in which it is best (ties share). */
  readonly best: number;
  /** Share of resamples in which it keeps its rank. */
  readonly kept: number;
}

export interface RankStability {
  readonly agents: readonly AgentRank[];
  /** Mean Kendall tau-b between the resampled and the observed ranking. */
  readonly kendall: number;
}

/**
 * How far a ranking depends on the tasks that happen to be there: tasks are resampled with replacement, agents ranked
 * again (Goldstein and Spiegelhalter 1996). Undefined for fewer than two agents or tasks.
 */
export function rankStability(
  agents: readonly RankedAgent[],
  drawing: Resampler,
  seed: number,
): RankStability | undefined {
  const tasks = agents[0]?.values.length ?? 0;
  if (agents.length < 2 || tasks < 2) return undefined;
  const observed = agents.map((agent) => mean(agent.values));
  const observedRanks = midRanks(observed);
  const indices = drawing.draws(tasks, seed);
  const ranks = agents.map(() => new Float64Array(drawing.resamples));
  const best = agents.map(() => 0);
  const kept = agents.map(() => 0);
  let kendall = 0;
  const sums = new Array<number>(agents.length);
  for (let draw = 0; draw < drawing.resamples; draw += 1) {
    sums.fill(0);
    for (let picked = 0; picked < tasks; picked += 1) {
      const task = indices[draw * tasks + picked]!;
      for (let agent = 0; agent < agents.length; agent += 1) sums[agent]! += agents[agent]!.values[task]!;
    }
    const drawnRanks = midRanks(sums);
    const top = Math.min(...drawnRanks);
    const tied = drawnRanks.filter((rank) => rank === top).length;
    drawnRanks.forEach((rank, agent) => {
      ranks[agent]![draw] = rank;
      if (rank === top) best[agent]! += 1 / tied;
      if (rank === observedRanks[agent]) kept[agent]! += 1;
    });
    kendall += kendallTau(observed, sums);
  }
  return {
    agents: agents
      .map((agent, index) => ({
        name: agent.name,
        mean: observed[index]!,
        rank: observedRanks[index]!,
        ...percentilesOf(ranks[index]!),
        best: best[index]! / drawing.resamples,
        kept: kept[index]! / drawing.resamples,
      }))
      .sort((a, b) => a.rank - b.rank),
    kendall: kendall / drawing.resamples,
  };
}

/** Ranks from 1 for the greatest value; equal values share the mean of their ranks. */
export function midRanks(values: readonly number[]): readonly number[] {
  return values.map((value) => {
    let above = 0;
    let equal = 0;
    for (const other of values) {
      if (other > value) above += 1;
      else if (other === value) equal += 1;
    }
    return above + (equal + 1) / 2;
  });
}

/** Kendall's tau-b (Kendall 1945); 0 when either list is all ties. */
export function kendallTau(a: readonly number[], b: readonly number[]): number {
  let [agreement, untiedA, untiedB] = [0, 0, 0];
  for (let left = 0; left < a.length; left += 1) {
    for (let right = left + 1; right < a.length; right += 1) {
      const signA = Math.sign(a[left]! - a[right]!);
      const signB = Math.sign(b[left]! - b[right]!);
      agreement += signA * signB;
      untiedA += Math.abs(signA);
      untiedB += Math.abs(signB);
    }
  }
  return untiedA === 0 || untiedB === 0 ? 0 : agreement / Math.sqrt(untiedA * untiedB);
}
