/** One line of a comparison of two texts. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Beyond this many changed lines the rest is told as removed and added: the search is quadratic in changes. */
const mostChanges = 500;

/** The shortest way from one text to another, line by line (Myers 1986). */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before, after].map((text) => text.replaceAll('\r\n', '\n').split('\n')) as [
    string[],
    string[],
  ];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...a.slice(0, start).map(same),
    ...changes(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

function changes(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const trail = searchTrail(a, b);
  if (trail === undefined) {
    return [
      ...a.map((text): DiffLine => ({ kind: 'removed', text })),
      ...b.map((text): DiffLine => ({ kind: 'added', text })),
    ];
  }
  const lines: DiffLine[] = [];
  let [x, y] = [a.length, b.length];
  for (let distance = trail.length - 1; distance >= 0; distance -= 1) {
    const reach = trail[distance]!;
    const diagonal = x - y;
    const isDown = isStepDown(reach, diagonal, distance);
    const fromDiagonal = isDown ? diagonal + 1 : diagonal - 1;
    const fromX = reach.get(fromDiagonal) ?? 0;
    const fromY = fromX - fromDiagonal;
    while (distance > 0 ? x > fromX && y > fromY : x > 0 && y > 0) {
      x -= 1;
      y -= 1;
      lines.push({ kind: 'same', text: a[x]! });
    }
    if (distance === 0) break;
    if (isDown) lines.push({ kind: 'added', text: b[fromY]! });
    else lines.push({ kind: 'removed', text: a[fromX]! });
    [x, y] = [fromX, fromY];
  }
  return lines.reverse();
}

const isStepDown = (reach: ReadonlyMap<number, number>, diagonal: number, distance: number): boolean =>
  diagonal === -distance ||
  (diagonal !== distance && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1));

/** How far each diagonal was reached before each step; undefined when the texts differ too much. */
function searchTrail(
  a: readonly string[],
  b: readonly string[],
): readonly ReadonlyMap<number, number>[] | undefined {
  const trail: ReadonlyMap<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let distance = 0; distance <= Math.min(a.length + b.length, mostChanges); distance += 1) {
    trail.push(reach);
    const next = new Map(reach);
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      let x = isStepDown(reach, diagonal, distance)
        ? (reach.get(diagonal + 1) ?? 0)
        : (reach.get(diagonal - 1) ?? 0) + 1;
      let y = x - diagonal;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      next.set(diagonal, x);
      if (x >= a.length && y >= b.length) return trail;
    }
    reach = next;
  }
  return undefined;
}
