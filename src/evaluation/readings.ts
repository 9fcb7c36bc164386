import {
  booleanSql,
  doubleSql,
  integerSql,
  lenientBooleanSql,
  numberSql,
  printedBooleanSql,
  printedDoubleSql,
} from './cell-sql.js';
import type { ReadType, TimeReading } from './column-facts.js';
import { wallClockSql, zonedInstantSql } from './time-format.js';
import type { TruthColumn } from './truth-column.js';

/** How the published rules read one output column: one choice for all of its cells. */
export type PublishedReading =
  | { readonly kind: 'number' }
  | { readonly kind: 'integer' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'instant'; readonly reading: TimeReading }
  | {
      readonly kind: 'text';
      readonly type: ReadType;
      /** Matters to integers only, which then print as decimals. */
      readonly hasMissingRows: boolean;
      /** The date-time reading that failed for some cell and made the column text. */
      readonly tried?: TimeReading;
    }
  /** No cell can match, only nulls beside nulls. */
  | { readonly kind: 'never' };

/** The SQL pieces of one scored column; `v` stands for the cell's text, `d` for the engine's cast of it to double. */
export interface ColumnSql {
  /** The reference value in the published comparison. */
  readonly truth: string;
  /** The output cell in the published comparison, null when it cannot be read. */
  readonly cell: string;
  /** Whether truth `s` and cell `x` match; null when either is null. */
  readonly matches: string;
  /** The output cell under the per-cell rules, null when it cannot be read. */
  readonly robustCell: string;
  /** Whether truth `ts` and that cell match; null when either is null. */
  readonly robustTruth: string;
  readonly robustMatches: string;
}

/** Four units in the last place: a decimal boundary such as 1.01 - 1.00 at 0.01 is met in spite of binary rounding. */
const slack = 4 * 2 ** -52;

/**
 * Builds the comparison of one column.
 *
 * @param i index that the SQL names of this column carry (`v3`, `d3`, `s3`, `x3`, `ts3`).
 */
export function columnSql(
  i: number,
  truth: TruthColumn,
  reading: PublishedReading,
  tolerance: number,
  hasOddNumbers: boolean,
): ColumnSql {
  const text = `v${i}`;
  const number = numberSql(text, `d${i}`, hasOddNumbers);
  return {
    ...publishedSql(i, truth, reading, tolerance, number),
    ...robustSql(i, truth, reading, tolerance, number),
  };
}

function publishedSql(
  i: number,
  truth: TruthColumn,
  reading: PublishedReading,
  tolerance: number,
  number: string,
): Pick<ColumnSql, 'truth' | 'cell' | 'matches'> {
  const [s, x, text] = [`s${i}`, `x${i}`, `v${i}`];
  const near = `abs(${s} - ${x}) <= ${doubleSql(tolerance)}`;
  switch (reading.kind) {
    case 'number':
      return { truth: truth.valueSql, cell: number, matches: near };
    case 'boolean':
      return { truth: truth.valueSql, cell: booleanSql(text), matches: near };
    case 'integer':
      return { truth: truth.integerSql ?? truth.valueSql, cell: integerSql(text), matches: near };
    case 'instant':
      return {
        truth: truth.valueSql,
        cell: reading.reading.instantSql(text),
        matches: nearInstants(s, x, tolerance),
      };
    case 'text':
      return { truth: truth.textSql, cell: printedCellSql(text, number, reading), matches: `${s} = ${x}` };
    case 'never':
      return { truth: truth.valueSql, cell: text, matches: 'false' };
  }
}

/** A cell as the published text comparison sees it: typed columns are printed, text stands as it is. */
function printedCellSql(
  text: string,
  number: string,
  { type, hasMissingRows }: { readonly type: ReadType; readonly hasMissingRows: boolean },
): string {
  switch (type) {
    case 'integer':
      return hasMissingRows ? printedDoubleSql(number) : `cast(${integerSql(text)} as varchar)`;
    case 'double':
      return printedDoubleSql(number);
    case 'boolean':
      return printedBooleanSql(booleanSql(text));
    case 'text':
      return text;
  }
}

function robustSql(
  i: number,
  truth: TruthColumn,
  reading: PublishedReading,
  tolerance: number,
  number: string,
): Pick<ColumnSql, 'robustTruth' | 'robustCell' | 'robustMatches'> {
  const [s, text] = [`ts${i}`, `v${i}`];
  switch (truth.kind) {
    case 'number': {
      const cell = `coalesce(${number}, ${lenientBooleanSql(text)})`;
      return {
        robustTruth: truth.valueSql,
        robustCell: cell,
        // Written so that an infinity never comes near a number, and equals itself.
        robustMatches: `(abs(${s} - ${cell}) - ${doubleSql(slack)} * abs(${s}) <= ${doubleSql(tolerance)} or ${s} = ${cell})`,
      };
    }
    case 'instant': {
      const tried =
        reading.kind === 'instant' ? reading.reading : reading.kind === 'text' ? reading.tried : undefined;
      const cell = robustInstantSql(text, truth.isZoned, tried);
      return {
        robustTruth: truth.valueSql,
        robustCell: cell,
        robustMatches: nearInstants(s, cell, tolerance),
      };
    }
    case 'text':
      return { robustTruth: truth.textSql, robustCell: text, robustMatches: `${s} = ${text}` };
  }
}

/** The per-cell reading of a date-time: the column's own format where the cell follows it, else ISO. */
export function robustInstantSql(text: string, isZoned: boolean, reading: TimeReading | undefined): string {
  const perCell = isZoned ? zonedInstantSql(text) : wallClockSql(text);
  if (reading === undefined || reading.isZoned !== isZoned) return perCell;
  return `coalesce(${reading.instantSql(text)}, ${perCell})`;
}

function nearInstants(truth: string, cell: string, toleranceSeconds: number): string {
  if (!(toleranceSeconds > 0)) return `${truth} = ${cell}`;
  return `abs(${truth}::hugeint - ${cell}::hugeint) <= ${doubleSql(toleranceSeconds * 1e9)}`;
}
