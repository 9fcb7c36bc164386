/** Order of two texts by code point: the same on every machine, whatever its language. */
export function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
