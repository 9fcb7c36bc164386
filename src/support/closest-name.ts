/** Number of single-character insertions, deletions and replacements between two texts (Levenshtein 1966). */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/**
 * The name a user most likely meant: a name that holds the text or is held by it, else the one nearest by edit
 * distance within half its length. Undefined when nothing is near.
 */
export function closestName(text: string, names: readonly string[]): string | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return undefined;
  const ranked = names
    .map((name) => {
      const known = name.toLowerCase();
      const contained = known.includes(wanted) || wanted.includes(known);
      const distance = editDistance(wanted, known);
      return { name, distance, isNear: contained || distance <= Math.floor(known.length / 2) };
    })
    .filter((candidate) => candidate.isNear)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return ranked[0]?.name;
}

/** `Did you mean "x"? ` with a trailing blank, or nothing when no name is near. */
export function suggestionFor(text: string, names: readonly string[]): string {
  const near = closestName(text, names);
  return near === undefined ? '' : `Did you mean "${near}"? `;
}
