/**
 * The two notes that stand before every instruction, in every condition. Their wording is fixed: changing a word
 * makes another benchmark, and the hash of the instruction in every cell says so.
 */

/** Where the work happens and what is off limits. */
export const isolationNote = `You work in an isolated directory. Use only what is there: the local files, the DuckDB database \`./database.duckdb\` and any skills you were given. Searching or fetching from the web, installing packages and every other use of the network are off limits.`;

/** How ambiguities are resolved. */
export const conventionNote = `Where more than one definition would be valid (thresholds of a score, missing values, the bounds of a time window, which charted items count), follow the commonly published concept definitions for this database release. Your result is compared with a reference that follows them, so departing from them on purpose costs score.`;

/** Paths that replace the placeholders of an instruction, relative to the work folder. */
export const databasePath = './database.duckdb';
export const outputPath = './output.csv';
