import type { ModelRoute } from '../gateway/gateway-types.js';

export interface ObservedModels {
  /** Asked beside the main model, sorted. */
  readonly backgroundModels: string[];
  /** Answers to requests for those. */
  readonly backgroundTurns: number;
  /** `asked -> answered` where they differ, sorted, without counts, so that runs of one routing are equal. */
  readonly routing: string[];
}

/**
 * What the gateway saw of models. The main model is the one the cell asks for; where the CLI sends another name for
 * it (an alias resolved, its own default), the one that answered most often, the earlier one at a tie.
 */
export function observedModels(routes: readonly ModelRoute[], asked: string | undefined): ObservedModels {
  const answers = new Map<string, number>();
  for (const route of routes) answers.set(route.asked, (answers.get(route.asked) ?? 0) + route.answers);
  const most = [...answers].reduce<string | undefined>(
    (best, [name, count]) => (best === undefined || count > answers.get(best)! ? name : best),
    undefined,
  );
  const main = asked !== undefined && answers.has(asked) ? asked : most;
  const background = [...answers].filter(([name]) => name !== main);
  return {
    backgroundModels: background.map(([name]) => name).sort(),
    backgroundTurns: background.reduce((sum, [, count]) => sum + count, 0),
    routing: routes
      .filter((route) => route.asked !== route.answered)
      .map((route) => `${route.asked} -> ${route.answered}`)
      .sort(),
  };
}
