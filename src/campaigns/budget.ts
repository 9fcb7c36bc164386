/** Limits of a whole campaign; each is checked before a run is started. */
export interface CampaignBudget {
  /** Input and output tokens of all attempts, those of earlier sessions included. */
  readonly tokens?: number;
  /** US dollars by the price table, likewise. */
  readonly cost?: number;
  /** Wall time of this session in seconds, by a clock that does not jump. */
  readonly seconds?: number;
  /** Runs made in this session. */
  readonly runs?: number;
}

export interface Spent {
  readonly tokens: number;
  readonly cost: number;
  /** Finished runs that these sums are over. */
  readonly finished: number;
  readonly secondsOfSession: number;
  /** Runs started in this session, those under way included. */
  readonly startedInSession: number;
  readonly underWay: number;
}

/**
 * Why no further run may be started, or undefined. What the runs under way will have cost is not known yet: each, and
 * the one to come, is counted with the mean of those that are finished.
 */
export function budgetReached(budget: CampaignBudget, spent: Spent): string | undefined {
  const ahead = (sum: number): number =>
    spent.finished === 0 ? sum : sum + (sum / spent.finished) * (spent.underWay + 1);
  if (budget.runs !== undefined && spent.startedInSession >= budget.runs)
    return `${budget.runs} runs are made`;
  if (budget.seconds !== undefined && spent.secondsOfSession >= budget.seconds) {
    return `${budget.seconds} s are over`;
  }
  if (budget.tokens !== undefined && ahead(spent.tokens) > budget.tokens) {
    return `${spent.tokens} of ${budget.tokens} tokens are spent, and another run would not fit`;
  }
  if (budget.cost !== undefined && ahead(spent.cost) > budget.cost) {
    return `${spent.cost.toFixed(2)} of ${budget.cost.toFixed(2)} US dollars are spent, and another run would not fit`;
  }
  return undefined;
}
