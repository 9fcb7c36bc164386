/**
 * The anchor of a heading, as GitHub makes it.
 * @param {string} text
 */
export function slugOf(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}
