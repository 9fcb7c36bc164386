import { literal } from '../duck/sql.js';

/** A double as SQL, exact. */
export function doubleSql(value: number): string {
  return `cast(${literal(String(value))} as double)`;
}

/**
 * Text to number (double) under the published rules, null when it is none: an optionally signed decimal number,
 * exponent allowed, blanks around it allowed, or an infinity. `nan`, digit separators, hexadecimal and overflow are
 * not numbers.
 *
 * @param text SQL of the cell's text.
 * @param cast SQL of the engine's own cast of it to double, which is wider by exactly the cases excluded here.
 */
export function numberSql(text: string, cast: string, hasOddNumbers: boolean): string {
  const odd = hasOddNumbers ? ` and not contains(${text}, '_') and not contains(${text}, '+-')` : '';
  return `case when isfinite(${cast})${odd} then ${cast} when isinf(${cast}) and regexp_full_match(${text}, '\\s*[-+]?inf(inity)?\\s*', 'i') then ${cast} end`;
}

/** `true` and `false` in any letter case to 1 and 0, else null; no blanks allowed, as in the published reader. */
export function booleanSql(text: string): string {
  return `case lower(${text}) when 'true' then 1.0::double when 'false' then 0.0::double end`;
}

/** As `booleanSql`, with blanks around the word allowed: the per-cell rule of the robust score. */
export function lenientBooleanSql(text: string): string {
  return booleanSql(`trim(${text})`);
}

/** Whether text is an optionally signed decimal integer, blanks around it allowed. */
export function isIntegerTextSql(text: string): string {
  return `regexp_full_match(${text}, '\\s*[-+]?[0-9]+\\s*')`;
}

/** The exact value of integer text (up to 128 bits), null for any other text. */
export function integerSql(text: string): string {
  return `case when ${isIntegerTextSql(text)} then try_cast(trim(${text}) as hugeint) end`;
}

/** Nanoseconds since 1970 of a timestamp expression; null outside the range that 64 bits can hold. */
export function nanosecondsSql(timestamp: string): string {
  return `case when ${timestamp} between timestamp '1677-09-21 00:12:43.145225' and timestamp '2262-04-11 23:47:16.854775' then epoch_us(${timestamp}) * 1000 end`;
}

/** A double as the published reader prints it (`4.0`, `0.5`, `1e-07`); the engine prints the same. */
export function printedDoubleSql(value: string): string {
  return `cast(${value} as varchar)`;
}

/** A truth value as the published reader prints it. */
export function printedBooleanSql(value: string): string {
  return `case ${value} when 1 then 'True' when 0 then 'False' end`;
}
