/** Bounds that keep a hostile output from costing more than a verdict is worth. */
export interface EvaluationLimits {
  /** Largest file, and largest content of a compressed file, in bytes. */
  readonly fileBytes: number;
  /** Longest header record, in bytes. */
  readonly headerBytes: number;
  /** Largest kept part (key and scored columns) of one record, in bytes. */
  readonly recordBytes: number;
  /** Most rows of a Parquet output, whose size on disk says little. */
  readonly rows: number;
  /** Longest time of one evaluation in seconds. */
  readonly seconds: number;
}

/**
 * The full-size reference with the most rows (4.1 million, 13 columns) is a CSV of 0.4 GB, so a right answer is an
 * order of magnitude below every bound.
 */
export const defaultLimits: EvaluationLimits = {
  fileBytes: 4 * 1024 ** 3,
  headerBytes: 64 * 1024 ** 2,
  recordBytes: 1024 ** 2,
  rows: 100_000_000,
  seconds: 600,
};
