import type { Evaluation } from '../evaluation/evaluation.js';
import { meanOfRates, round8 } from '../evaluation/rounding.js';

/**
 * What in an evaluation does not follow from its own counts: match rates from matched and total rows, rewards from
 * match rates, key measures from key counts, the strict pass from the checks, and the kinds of mismatch, which must add
 * up to the rows of the reference. Empty when all does.
 */
export function scoreContradictions(evaluation: Evaluation): readonly string[] {
  const problems: string[] = [];
  const same = (
    what: string,
    stated: number | boolean | null | undefined,
    derived: number | boolean,
  ): void => {
    if (stated !== derived) problems.push(`${what} is stated as ${stated}, and comes to ${derived}`);
  };
  const names = Object.keys(evaluation.columns);
  const isScored = evaluation.errorKind === null;
  for (const name of names) {
    const column = evaluation.columns[name]!;
    const rate = column.total === 0 ? 0 : column.matched / column.total;
    const robust = column.robustTotal === 0 ? 0 : column.robustMatched / column.robustTotal;
    same(`match rate of ${name}`, column.matchRate, rate);
    same(`robust match rate of ${name}`, column.robustMatchRate, robust);
    same(`rounded match rate of ${name}`, evaluation.matchRates[name], isScored ? round8(rate) : 0);
    const kinds = evaluation.mismatchKinds[name];
    if (kinds !== undefined) {
      const wrong = Object.values(kinds).reduce((sum, count) => sum + count, 0);
      same(`reference rows of ${name}`, evaluation.truthRows, wrong + column.robustMatched);
    }
    const counted = evaluation.confusion[name]?.reduce((sum, { rows }) => sum + rows, 0);
    if (counted !== undefined) same(`confusion counts of ${name}`, evaluation.truthRows, counted);
  }
  const rates = names.map((name) => round8(evaluation.columns[name]!.matchRate));
  const robustRates = names.map((name) => round8(evaluation.columns[name]!.robustMatchRate));
  if (names.length > 0) {
    same('reward', evaluation.reward, isScored ? meanOfRates(rates) : 0);
    same('robust reward', evaluation.rewardRobust, meanOfRates(robustRates));
  }
  const { checks, strictPass, uniqueKeys, extraKeys, missingKeys, truthRows } = evaluation;
  same('strict pass', strictPass, isScored && checks.length > 0 && checks.every(({ passed }) => passed));
  if (isScored && names.length > 0) {
    const right = uniqueKeys - extraKeys;
    const precision = uniqueKeys === 0 ? 0 : round8(right / uniqueKeys);
    const recall = truthRows === 0 ? 0 : (truthRows - missingKeys) / truthRows;
    same('key precision', evaluation.keyPrecision, precision);
    same('key recall', evaluation.keyRecall, recall);
    const sum = precision + recall;
    same('key F1', evaluation.keyF1, sum > 0 ? (2 * precision * recall) / sum : 0);
  }
  return problems;
}
