/** p-values adjusted by Holm's step-down method (Holm 1979): controls the chance of any false finding. Input order. */
export function holm(pValues: readonly number[]): readonly number[] {
  return stepwise(pValues, (count, rank) => count - rank, true);
}

/** p-values adjusted by Benjamini and Hochberg (1995): controls the share of false findings. Input order. */
export function benjaminiHochberg(pValues: readonly number[]): readonly number[] {
  return stepwise(pValues, (count, rank) => count / (rank + 1), false);
}

/** NaN stays NaN and does not count as a test. */
function stepwise(
  pValues: readonly number[],
  factor: (count: number, rank: number) => number,
  isStepDown: boolean,
): readonly number[] {
  const tested = pValues.map((p, index) => ({ p, index })).filter(({ p }) => !Number.isNaN(p));
  const ordered = tested.sort((a, b) => a.p - b.p);
  const adjusted = pValues.map(() => Number.NaN);
  const scaled = ordered.map(({ p }, rank) => Math.min(1, p * factor(ordered.length, rank)));
  if (isStepDown) {
    for (let rank = 1; rank < scaled.length; rank += 1)
      scaled[rank] = Math.max(scaled[rank]!, scaled[rank - 1]!);
  } else {
    for (let rank = scaled.length - 2; rank >= 0; rank -= 1)
      scaled[rank] = Math.min(scaled[rank]!, scaled[rank + 1]!);
  }
  ordered.forEach(({ index }, rank) => {
    adjusted[index] = scaled[rank]!;
  });
  return adjusted;
}
