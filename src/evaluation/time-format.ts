import { literal } from '../duck/sql.js';
import { nanosecondsSql } from './cell-sql.js';

/** How the date-times of one column are written, guessed from its first value. */
export interface TimeFormat {
  /** The format in strptime notation; equal formats have equal patterns. */
  readonly pattern: string;
  readonly isZoned: boolean;
  /** Such a column is numeric first, hence only a date-time when some other value is not a number. */
  readonly isDigitsOnly: boolean;
  /** Nanoseconds since 1970 (UTC for zoned text) of a text expression, null when it does not follow the format. */
  instantSql(text: string): string;
}

/** A piece of a date-time text: its notation, and what it may look like in other cells (RE2). */
interface Part {
  readonly pattern: string;
  readonly matches: string;
}

const monthNames =
  'january|february|march|april|may|june|july|august|september|october|november|december'.split('|');
const shortDigits = '[0-9]{1,2}';
const part = (pattern: string, matches: string): Part => ({ pattern, matches });
const year = part('%Y', '[0-9]{4}');
const month = part('%m', shortDigits);
const day = part('%d', shortDigits);
const fixed = (text: string): Part => part(text, text.replace(/[.+\\]/g, '\\$&').replace(/ /g, ' +'));

/**
 * Guesses the format of the first value of a column, as the published reader does; undefined when it has no single
 * format (a bare time, a 12-hour clock in the afternoon, anything unknown): then each cell stands for itself, see
 * `looseInstantSql`.
 */
export function guessTimeFormat(first: string): TimeFormat | undefined {
  const date = guessDate(first);
  if (date === undefined) return undefined;
  const rest = first.slice(date.length);
  if (rest === '') return formatOf(date.parts, { isZoned: false, isDigitsOnly: date.isDigitsOnly });
  const time = guessTime(rest, date.isDigitsOnly);
  if (time === undefined) return undefined;
  return formatOf([...date.parts, ...time.parts], {
    isZoned: time.isZoned,
    isDigitsOnly: date.isDigitsOnly && /^[0-9]*$/.test(rest),
  });
}

interface GuessedDate {
  readonly length: number;
  readonly parts: readonly Part[];
  readonly isDigitsOnly: boolean;
}

function guessDate(text: string): GuessedDate | undefined {
  const guessed = (length: number, parts: readonly Part[], isDigitsOnly = false) => ({
    length,
    parts,
    isDigitsOnly,
  });
  let found = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/.exec(text);
  if (found !== null) {
    const separator = fixed(found[2] as string);
    return isDate(found[1], found[3], found[4])
      ? guessed(found[0].length, [year, separator, month, separator, day])
      : undefined;
  }
  found = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)/.exec(text);
  if (found !== null) {
    const separator = fixed(found[2] as string);
    if (isDate(found[4], found[1], found[3]))
      return guessed(found[0].length, [month, separator, day, separator, year]);
    if (isDate(found[4], found[3], found[1]))
      return guessed(found[0].length, [day, separator, month, separator, year]);
    return undefined;
  }
  return guessNamedMonth(text) ?? guessDigits(text);
}

function guessNamedMonth(text: string): GuessedDate | undefined {
  const monthFirst = /^([A-Za-z]+)( )(\d{1,2})(,? )(\d{4})(?!\d)/.exec(text);
  const dayFirst = /^(\d{1,2})([ -])([A-Za-z]+)([ -])(\d{4})(?!\d)/.exec(text);
  const found = monthFirst ?? dayFirst;
  if (found === null) return undefined;
  const [all, , , , , yearText] = found;
  const name = ((monthFirst === null ? found[3] : found[1]) as string).toLowerCase();
  const dayText = monthFirst === null ? found[1] : found[3];
  const index = monthNames.findIndex((full) => full === name || full.slice(0, 3) === name);
  if (!isDate(yearText, String(index + 1), dayText)) return undefined;
  const namePart =
    name.length === 3
      ? part('%b', `(?i:${monthNames.map((full) => full.slice(0, 3)).join('|')})`)
      : part('%B', `(?i:${monthNames.join('|')})`);
  const [first, second] = [fixed(found[2] as string), fixed(found[4] as string)];
  const parts =
    monthFirst === null ? [day, first, namePart, second, year] : [namePart, first, day, second, year];
  return { length: all.length, parts, isDigitsOnly: false };
}

function guessDigits(text: string): GuessedDate | undefined {
  const compact = /^(\d{4})(\d{2})(\d{2})(?=$|\d{6}$|[T ]\d{6}$)/.exec(text);
  if (compact !== null && isDate(compact[1], compact[2], compact[3])) {
    const twoDigits = (pattern: string) => part(pattern, '[0-9]{2}');
    return { length: 8, parts: [year, twoDigits('%m'), twoDigits('%d')], isDigitsOnly: true };
  }
  const monthly = /^(\d{4})-(\d{2})$/.exec(text);
  if (monthly !== null && isDate(monthly[1], monthly[2], '1'))
    return { length: 7, parts: [year, fixed('-'), month], isDigitsOnly: false };
  return /^\d{4}$/.test(text) && isDate(text, '1', '1')
    ? { length: 4, parts: [year], isDigitsOnly: true }
    : undefined;
}

function guessTime(
  text: string,
  isCompact: boolean,
): { readonly parts: readonly Part[]; readonly isZoned: boolean } | undefined {
  if (isCompact) {
    const compact = /^([T ]?)(\d{2})(\d{2})(\d{2})$/.exec(text) as RegExpExecArray;
    if (!isClock(compact[2], compact[3], compact[4])) return undefined;
    const twoDigits = (pattern: string) => part(pattern, '[0-9]{2}');
    return {
      parts: [fixed(compact[1] as string), twoDigits('%H'), twoDigits('%M'), twoDigits('%S')],
      isZoned: false,
    };
  }
  const found =
    /^(T| +)(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?( [Aa][Mm])?( ?)(Z|[-+]\d{2}(?::?\d{2})?|UTC)?$/.exec(
      text,
    );
  if (found === null) return undefined;
  const [, separator, hour, minute, second, fraction, morning, gap, zone] = found;
  if (!isClock(hour, minute, second) || (gap !== '' && zone === undefined)) return undefined;
  if (morning !== undefined && (Number(hour) > 12 || Number(hour) === 0)) return undefined;
  const colon = fixed(':');
  const parts = [
    separator === 'T' ? part('T', '[Tt]') : fixed(' '),
    part(morning === undefined ? '%H' : '%I', shortDigits),
    colon,
    part('%M', shortDigits),
  ];
  if (second !== undefined) parts.push(colon, part('%S', shortDigits));
  if (fraction !== undefined) parts.push(part('.%f', '\\.[0-9]*'));
  if (morning !== undefined) parts.push(fixed(' '), part('%p', '(?i:am|pm)'));
  if (gap !== '') parts.push(fixed(' '));
  if (zone === 'UTC') parts.push(part('%Z', 'UTC'));
  else if (zone !== undefined) parts.push(part('%z', '(?:Z|[-+][0-9]{2}(?::?[0-9]{2})?)'));
  return { parts, isZoned: zone !== undefined };
}

function formatOf(
  parts: readonly Part[],
  facts: { readonly isZoned: boolean; readonly isDigitsOnly: boolean },
): TimeFormat | undefined {
  const pattern = parts.map((one) => one.pattern).join('');
  const shape = literal(parts.map((one) => one.matches).join(''));
  const follows = (text: string) => `regexp_full_match(${text}, ${shape})`;
  // The engine's cast reads these at full resolution, with or without zone.
  if (/^%Y([-/])%m\1%d([T ]%H:%M(:%S(\.%f)?)?( ?%[zZ])?)?$/.test(pattern)) {
    const castable = (text: string) => isoTextSql(text, pattern);
    return {
      pattern,
      ...facts,
      instantSql: (text) =>
        `case when ${follows(text)} then epoch_ns(try_cast(${castable(text)} as timestamp_ns)) end`,
    };
  }
  if (facts.isZoned) return undefined;
  const hasFraction = pattern.includes('.%f');
  const parsed = (text: string) => `try_strptime(${text}, ${literal(pattern.replace('.%f', '.%n'))})`;
  return {
    pattern,
    ...facts,
    instantSql: (text) =>
      `case when ${follows(text)} then ${hasFraction ? `epoch_ns(${parsed(text)})` : nanosecondsSql(parsed(text))} end`,
  };
}

/** Brings zoned text into the shape that the cast knows: seconds present, an offset or `Z` right behind them. */
function isoTextSql(text: string, pattern: string): string {
  let sql = text;
  if (pattern.endsWith('%Z')) sql = `regexp_replace(${sql}, ' *UTC$', 'Z')`;
  if (pattern.endsWith(' %z')) sql = `regexp_replace(${sql}, ' +([-+Z])', '\\1')`;
  if (/%M ?%[zZ]$/.test(pattern)) {
    sql = `regexp_replace(${sql}, '^(.*:[0-9]{1,2})((?:Z|[-+]).*)$', '\\1:00\\2')`;
  }
  return sql;
}

const looksDated = (text: string) => `regexp_matches(${text}, '^\\s*[0-9]{4}[-/]')`;

/** The instant of one ISO-like cell: zoned text as its instant, zone-less text as UTC; null for anything else. */
export function zonedInstantSql(text: string): string {
  return `case when ${looksDated(text)} then epoch_ns(try_cast(${text} as timestamp_ns)) end`;
}

/**
 * The wall clock of one ISO-like cell: zone-less text, or text zoned with offset zero. Any other offset is ambiguous
 * beside zone-less truth and gives null.
 */
export function wallClockSql(text: string): string {
  return `case when ${looksDated(text)} and epoch_us(try_cast(${text} as timestamp)) = epoch_us(try_cast(${text} as timestamptz)) then epoch_ns(try_cast(${text} as timestamp_ns)) end`;
}

const looseFormats = [
  '%m/%d/%Y',
  '%d/%m/%Y',
  '%m-%d-%Y',
  '%b %d %Y',
  '%B %d %Y',
  '%b %d, %Y',
  '%B %d, %Y',
  '%d %b %Y',
  '%d-%b-%Y',
  '%Y-%m-%d',
].flatMap((date) => [
  ...['%H:%M:%S', '%H:%M', '%I:%M:%S %p', '%I:%M %p', '%I:%M%p'].map((time) => `${date} ${time}`),
  date,
]);
const looseTimes = ['%H:%M:%S', '%H:%M', '%I:%M:%S %p', '%I:%M %p'];

/** One cell of a column without a single format; a bare time stands on a fixed day. */
export function looseInstantSql(text: string): string {
  const list = [...looseFormats, ...looseTimes].map((format) => literal(format)).join(', ');
  const parsed = `try_strptime(${text}, [${list}])`;
  return `coalesce(${wallClockSql(text)}, case when regexp_matches(${text}, '[0-9]') then ${nanosecondsSql(parsed)} end)`;
}

/** Whether a text hints at a date or a clock: the published test for trying dates at all. */
export function hintsAtTimeSql(text: string): string {
  return `regexp_matches(${text}, '[0-9]{4}-[0-9]{2}-[0-9]{2}|T[0-9]{2}:|[0-9]{1,2}:[0-9]{2}')`;
}

function isDate(
  yearText: string | undefined,
  monthText: string | undefined,
  dayText: string | undefined,
): boolean {
  const [y, m, d] = [Number(yearText), Number(monthText), Number(dayText)];
  const date = new Date(0);
  // A day or month that does not exist comes out in another month.
  date.setUTCFullYear(y, m - 1, d);
  return y > 0 && date.getUTCMonth() === m - 1;
}

function isClock(hour: string | undefined, minute: string | undefined, second: string | undefined): boolean {
  return Number(hour) < 24 && Number(minute) < 60 && Number(second ?? 0) < 60;
}
