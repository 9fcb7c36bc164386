import { M4BenchError } from '../support/errors.js';
import type { SchemaDictionary } from './dictionary.js';
import type { CodedRelation } from './dictionary-section.js';
import { mergeOf } from './merges.js';
import type { QueryValues, SqlTranslator } from './sql-translator.js';

/** Tables that the published rewriting replaces in instructions, where they stand alone in back-quotes. */
const publishedTables = [
  'chartevents',
  'labevents',
  'inputevents',
  'outputevents',
  'procedureevents',
  'd_items',
];

/**
 * An instruction without the name of the dataset and with native schemas and tables replaced by codes. Output columns
 * keep their native names: the output contract is the same in every schema, on purpose. Pure.
 *
 * With sorted names exactly the published rewriting; with seeded names every table, and the name of the public code
 * repository too, since it names the dataset.
 */
export function translateInstruction(text: string, dictionary: SchemaDictionary): string {
  const isPublished = dictionary.names === 'sorted';
  let result = text
    .replaceAll('a MIMIC-IV clinical', 'a clinical')
    .replaceAll('A MIMIC-IV clinical', 'A clinical');
  if (!isPublished) {
    result = result
      .replaceAll('of MIT-LCP mimic-code', 'for this database')
      .replaceAll('MIT-LCP mimic-code', 'the public concept code');
    for (const name of ['MIMIC-IV', 'mimic-iv']) result = result.replaceAll(`${name} `, '');
  }
  result = result.replaceAll('MIMIC-IV', '').replaceAll('mimic-iv', '');
  const tables = Object.keys(dictionary.tables).sort((a, b) => b.length - a.length);
  if (!isPublished) {
    for (const name of tables) result = result.replaceAll(name, placeOf(dictionary, name).name);
  }
  for (const [native, code] of Object.entries(dictionary.schemas)) result = result.replaceAll(native, code);
  for (const name of tables) {
    const table = name.split('.')[1]!;
    if (isPublished && !publishedTables.includes(table)) continue;
    if (!isPublished && isColumn(dictionary, table)) continue;
    const place = isPublished ? dictionary.tables[name]! : placeOf(dictionary, name).name;
    result = result.replaceAll(`\`${table}\``, `\`${place.split('.')[1]}\``);
  }
  return result;
}

function isColumn(dictionary: SchemaDictionary, name: string): boolean {
  return dictionary.columns[name] !== undefined;
}

/** Where the rows of a native table stand, and how they are told apart there. */
function placeOf(
  dictionary: SchemaDictionary,
  native: string,
): { readonly name: string; readonly rows: string | undefined } {
  const merge = mergeOf(dictionary, native);
  if (merge === undefined) return { name: dictionary.tables[native]!, rows: undefined };
  const name = dictionary.mergedTables[merge.name]!;
  if (merge.kind === 'union') {
    const { value } = merge.parts.find(({ original }) => original === native)!;
    return { name, rows: `rows with \`${dictionary.mergedColumns[merge.discriminator]}\` = '${value}'` };
  }
  if (native === merge.stays) return { name, rows: `rows with a \`${dictionary.columns.stay_id}\`` };
  const what = native === merge.admissions ? dictionary.columns.hadm_id : dictionary.columns.subject_id;
  return { name, rows: `one row per \`${what}\` counts` };
}

export interface TranslateSkillRequest {
  readonly text: string;
  readonly dictionary: SchemaDictionary;
  /** What the task database holds. */
  readonly relations: readonly CodedRelation[];
  /** Whether names of tables and columns are carried; `published-2026` leaves them as they are. */
  readonly carriesNames: boolean;
  /** Item ids and wording that a perturbation changed. */
  readonly values?: QueryValues;
  /** Item ids that could be ICD codes as well. */
  readonly ambiguousNumbers?: ReadonlySet<number>;
}

export interface TranslatedSkill {
  readonly text: string;
  /** Names that could not be carried one to one and stand as they were: the dictionary has to serve. */
  readonly untranslated: readonly string[];
}

/**
 * A skill whose code spans name presented tables and columns by their codes, and without the name of the dataset;
 * pure. Other prose, front matter, fenced blocks
 * and the section on the output stay, the latter because the output contract keeps its names. A name that is both a
 * table and a column of this database is ambiguous and stays; so does the name of a table that the task does not have.
 * Changed item ids follow wherever they stand, changed wording in code spans and table cells.
 *
 * Throws `SKILL_NOT_CARRIED` when the text holds a number that may be an item id or an ICD code.
 */
export function translateSkill(request: TranslateSkillRequest): TranslatedSkill {
  const names: ReadonlyMap<string, string> = request.carriesNames ? skillNames(request) : new Map();
  const words = new Map([...(request.values?.words.values() ?? [])].flatMap((map) => [...map]));
  const untranslated = new Set<string>();
  const span = (whole: string, name: string): string => {
    const found = names.get(name);
    if (found === 'ambiguous') untranslated.add(name);
    else if (found !== undefined) return found;
    const word = words.get(name);
    return word === undefined ? whole : `\`${word}\``;
  };
  const cell = (whole: string, before: string, text: string, after: string): string => {
    const word = words.get(text);
    return word === undefined ? whole : `|${before}${word}${after}`;
  };
  const lines = proseLines(request.text).map(({ line, isProse }) =>
    isProse
      ? line.replaceAll(/`([^`]+)`/g, span).replaceAll(/\|(\s*)([^|`]*[^|`\s])(\s*)(?=\|)/g, cell)
      : line,
  );
  const body = carryNumbers(withoutDataset(lines.join('\n'), request.carriesNames), request);
  const listed = [...untranslated].sort();
  if (listed.length === 0) return { text: body, untranslated: listed };
  const note = `\n\nThese names stand as in the source database, because they have no single counterpart here: ${listed
    .map((name) => `\`${name}\``)
    .join(', ')}. The schema dictionary tells where to look.\n`;
  return { text: body.trimEnd() + note, untranslated: listed };
}

/** With carried names the name of the dataset would tell what the codes hide. */
function withoutDataset(text: string, carriesNames: boolean): string {
  return carriesNames ? text.replaceAll(/MIMIC-IV|mimic-iv/g, 'this database') : text;
}

/** Lines of a skill, and whether they are prose: not front matter, not fenced, not the section on the output. */
function proseLines(text: string): readonly { readonly line: string; readonly isProse: boolean }[] {
  let isFrontMatter = text.startsWith('---\n');
  let isFenced = false;
  let isOutput = false;
  return text.split('\n').map((line, index) => {
    if (isFrontMatter) {
      if (index > 0 && line === '---') isFrontMatter = false;
      return { line, isProse: false };
    }
    if (/^\s*```/.test(line)) isFenced = !isFenced;
    else if (!isFenced && /^#{1,6} /.test(line)) isOutput = /^#{1,6} output\b/i.test(line);
    return { line, isProse: !isFenced && !isOutput };
  });
}

/** What replaces a code span: Markdown, or a mark that there is no single answer. */
function skillNames({ dictionary, relations }: TranslateSkillRequest): ReadonlyMap<string, string> {
  const present = new Set(relations.map(({ schema, table }) => `${schema}.${table}`));
  const names = new Map<string, string>();
  const codes = new Set([...present].flatMap((name) => dictionary.columnOrder[name] ?? []));
  for (const [native, code] of Object.entries(dictionary.columns)) {
    if (codes.has(code)) names.set(native, `\`${code}\``);
  }
  for (const native of Object.keys(dictionary.tables)) {
    const place = placeOf(dictionary, native);
    if (!present.has(place.name)) continue;
    const [schema, table] = place.name.split('.') as [string, string];
    const bare = native.split('.')[1]!;
    const rows = place.rows === undefined ? '' : ` (${place.rows})`;
    names.set(native, `\`${schema}.${table}\`${rows}`);
    names.set(bare, names.has(bare) ? 'ambiguous' : `\`${table}\`${rows}`);
  }
  return names;
}

/** Item ids in a text, as whole numbers of five or six digits. */
function carryNumbers(text: string, { values, ambiguousNumbers }: TranslateSkillRequest): string {
  const numbers = values?.numbers;
  if (numbers === undefined || numbers.size === 0) return text;
  return text.replaceAll(/(?<![\w.])\d{5,6}(?!\w|\.\d)/g, (digits) => {
    if (ambiguousNumbers?.has(Number(digits)) === true) {
      throw new M4BenchError(
        'SKILL_NOT_CARRIED',
        `The skill names ${digits}, which is an item id and an ICD code of this dataset alike.`,
        'Run this task without a skill under this perturbation.',
      );
    }
    return String(numbers.get(Number(digits)) ?? digits);
  });
}

/**
 * The text of the raw-SQL control in a transformed schema. The text is a sequence of queries, each after a comment
 * line that says whether it is a concept (`-- mimiciv_derived.x`) or the reference; a lone query has no such line.
 * Throws `SQL_NOT_TRANSLATABLE` where no one-to-one path exists.
 */
export async function translateReferenceText(
  translator: SqlTranslator,
  text: string,
  dictionary: SchemaDictionary,
  origin: string,
): Promise<string> {
  const parts: { label: string | undefined; lines: string[] }[] = [{ label: undefined, lines: [] }];
  for (const line of text.split('\n')) {
    const label = /^-- (mimiciv_derived\.[a-z0-9_]+|reference)$/.exec(line)?.[1];
    if (label === undefined) parts.at(-1)!.lines.push(line);
    else parts.push({ label, lines: [] });
  }
  const carried: string[] = [];
  for (const { label, lines } of parts) {
    const query = lines.join('\n').trim().replace(/;$/, '');
    if (query === '') continue;
    const { sql } = await translator.translate(query, label ?? origin);
    const name = label === undefined || label === 'reference' ? label : dictionary.tables[label];
    carried.push(name === undefined ? sql : `-- ${name}\n${sql}`);
  }
  return carried.length === 1 ? carried[0]! : carried.map((part) => `${part};`).join('\n\n');
}
