import type { DuckSession } from '../duck/session.js';
import { doubleSql } from './cell-sql.js';
import { numberOf } from './column-facts.js';
import type { MismatchKinds } from './evaluation.js';
import { type ColumnPlan, matchSql, type Pairing, pairsSql } from './pairing.js';
import { columnSql } from './readings.js';
import { storeTable } from './table-source.js';

type Kind = keyof MismatchKinds;

/** Codes of the kinds in SQL: positions in this list. */
export const kindCodes: readonly Kind[] = [
  'rowMissing',
  'valueMissing',
  'valueUnexpected',
  'unparsable',
  'sign',
  'rounding',
  'constantFactor',
  'constantOffset',
  'timeShift',
  'labelSpelling',
  'tooLow',
  'tooHigh',
  'different',
  'contradictory',
];

/** All kinds at zero. */
export const noMismatches: MismatchKinds = Object.fromEntries(
  kindCodes.map((kind) => [kind, 0]),
) as unknown as MismatchKinds;

/** What most wrong values of one column have in common; null where nothing is. */
export interface SharedError {
  /** Output minus reference: the column's unit, nanoseconds for instants. */
  readonly offset: number | null;
  /** Output divided by reference. */
  readonly factor: number | null;
}

/** Output rows that are looked at for what wrong values share. */
const sampleRows = 50_000;
/** A shared error needs this many wrong values in the sample, and this share of them. */
const leastWrong = 5;
const leastShare = 0.5;

/** `pairs` with, per column, whether the pair is wrong (`bad3`) and then the output cell as the rules read it (`y3`). */
export function wrongPairsSql(pairing: Pairing): string {
  const bad = pairing.columns.map(
    (_column, i) => `not coalesce(${matchSql(pairing, i).robust}, false) as bad${i}`,
  );
  const cells = pairing.columns.map((column, i) => {
    const { robustCell } = pieceOf(pairing, column, i);
    return `case when bad${i} and present then ${robustCell} end as y${i}`;
  });
  return `(select ${['*', ...cells].join(', ')} from (select ${['*', ...bad].join(', ')} from pairs where truth_row is not null))`;
}

function pieceOf(pairing: Pairing, column: ColumnPlan, i: number) {
  return columnSql(i, column.truth, column.reading, column.tolerance, pairing.output.hasOddNumbers);
}

/** Finds the offset or factor that wrong values share, from the first rows of the output. */
export async function findSharedErrors(
  session: DuckSession,
  pairing: Pairing,
): Promise<readonly SharedError[]> {
  const none = pairing.columns.map((): SharedError => ({ offset: null, factor: null }));
  const measured = pairing.columns.flatMap(({ truth }, i) => (truth.kind === 'text' ? [] : [i]));
  if (measured.length === 0) return none;
  const { output } = pairing;
  const head = { ...output, from: `(select * from ${output.from} limit ${sampleRows})`, place: null };
  const differences = measured.flatMap((i) => {
    const isNumber = (pairing.columns[i] as ColumnPlan).truth.kind === 'number';
    return [
      isNumber ? `round(y${i} - ts${i}, 6) as d${i}` : `cast(y${i} - ts${i}::hugeint as double) as d${i}`,
      isNumber ? `round(y${i} / nullif(ts${i}, 0), 6) as q${i}` : `null::double as q${i}`,
    ];
  });
  const table = await storeTable(
    session,
    `${pairsSql({ ...pairing, output: head })} select ${differences.join(', ')} from ${wrongPairsSql({ ...pairing, output: head })} where present and (${measured.map((i) => `y${i} is not null`).join(' or ')})`,
  );
  const modes = measured.flatMap((i) => [`mode(d${i}) as md${i}`, `mode(q${i}) as mq${i}`]);
  const shares = measured.flatMap((i) => [
    `count(d${i}) as n${i}`,
    `count_if(d${i} = md${i}) as nd${i}`,
    `count_if(q${i} = mq${i}) as nq${i}`,
    `any_value(md${i}) as md${i}`,
    `any_value(mq${i}) as mq${i}`,
  ]);
  const row = await session.row(
    `select ${shares.join(', ')} from ${table}, (select ${modes.join(', ')} from ${table})`,
  );
  for (const i of measured) {
    const wrong = numberOf(row, `n${i}`);
    if (wrong < leastWrong) continue;
    const [byOffset, byFactor] = [numberOf(row, `nd${i}`), numberOf(row, `nq${i}`)];
    if (Math.max(byOffset, byFactor) < leastShare * wrong) continue;
    none[i] =
      byFactor > byOffset
        ? { offset: null, factor: numberOf(row, `mq${i}`) }
        : { offset: numberOf(row, `md${i}`), factor: null };
  }
  return none;
}

/** The code of the first kind that fits a wrong pair, null for a right one; over `wrongPairsSql`. */
export function kindSql(i: number, { truth }: ColumnPlan, shared: SharedError): string {
  const [s, y] = [`ts${i}`, `y${i}`];
  const code = (kind: Kind) => String(kindCodes.indexOf(kind));
  const cases: (readonly [condition: string, kind: Kind])[] = [
    [`present is null`, 'rowMissing'],
    [`v${i} is null`, 'valueMissing'],
    [`${s} is null`, 'valueUnexpected'],
    [`${y} is null`, 'unparsable'],
  ];
  if (truth.kind === 'number') {
    cases.push([`${y} = -${s}`, 'sign']);
    cases.push([
      `(${y} = round(${s}, 0) or ${y} = round(${s}, 1) or ${y} = round(${s}, 2) or ${y} = round(${s}, 3) or ${y} = trunc(${s}))`,
      'rounding',
    ]);
    if (shared.factor !== null)
      cases.push([`round(${y} / nullif(${s}, 0), 6) = ${doubleSql(shared.factor)}`, 'constantFactor']);
    if (shared.offset !== null)
      cases.push([`round(${y} - ${s}, 6) = ${doubleSql(shared.offset)}`, 'constantOffset']);
  }
  if (truth.kind === 'instant' && shared.offset !== null)
    cases.push([`cast(${y} - ${s}::hugeint as double) = ${doubleSql(shared.offset)}`, 'timeShift']);
  if (truth.kind === 'text') {
    const letters = (text: string) => `regexp_replace(lower(${text}), '[^\\p{L}\\p{N}]', '', 'g')`;
    cases.push([`${letters(y)} = ${letters(s)}`, 'labelSpelling']);
  } else cases.push([`${y} < ${s}`, 'tooLow'], [`${y} > ${s}`, 'tooHigh']);
  const branches = cases.map(([condition, kind]) => `when ${condition} then ${code(kind)}`);
  return `case when bad${i} then (case ${branches.join(' ')} else ${code('different')} end)::utinyint end`;
}
