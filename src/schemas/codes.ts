import { seededRandom } from '../support/random.js';
import { drawKey, type Presentation } from './presentation.js';

/** What a code stands for. Merged tables and discriminators are new objects, apart from native ones of that name. */
export type CodeKind = 'schema' | 'table' | 'column' | 'merged-table' | 'merged-column';

/** A code for every name, in the order of the names given. */
export type CodeAllocation = ReadonlyMap<string, string>;

export interface NamesToCode {
  readonly schemas: readonly string[];
  /** `schema.table`, the merged ones apart. */
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  readonly mergedTables: readonly string[];
  readonly mergedColumns: readonly string[];
}

const firstLetters = 'bcdfghjkmnpqrstvwxz';
const letters = `${firstLetters}23456789`;
const seededLength = 9;

/**
 * Codes for all names, keyed by `<kind> <name>`.
 *
 * - `sorted`, as published: `ds_1` … over schemas, `t_001` … within each schema, `c_001` … over all distinct column
 *   names, each in alphabetical order; new objects from 901. Known to anyone with the public list of tables.
 * - `seeded`: nine consonants and digits drawn from the seed and the name alone. There are 5 * 10^12 of them, so two
 *   seeds share none (of 750 names each, with a chance of one in ten million), and adding a table changes no other
 *   code. No vowels: no words, no keywords.
 */
export function allocateCodes(
  presentation: Pick<Presentation, 'names' | 'seed'>,
  names: NamesToCode,
): CodeAllocation {
  return presentation.names === 'sorted' ? sortedCodes(names) : seededCodes(presentation.seed, names);
}

function sortedCodes(names: NamesToCode): CodeAllocation {
  const codes = new Map<string, string>();
  const number = (index: number): string => String(index + 1).padStart(3, '0');
  const schemas = [...names.schemas].sort();
  for (const [index, schema] of schemas.entries()) codes.set(`schema ${schema}`, `ds_${index + 1}`);
  for (const schema of schemas) {
    const inSchema = (table: string): boolean => table.startsWith(`${schema}.`);
    const tables = names.tables.filter(inSchema).sort();
    for (const [index, table] of tables.entries()) codes.set(`table ${table}`, `t_${number(index)}`);
    for (const [index, table] of names.mergedTables.filter(inSchema).entries()) {
      codes.set(`merged-table ${table}`, `t_${number(Math.max(900, tables.length) + index)}`);
    }
  }
  const columns = [...names.columns].sort();
  for (const [index, column] of columns.entries()) codes.set(`column ${column}`, `c_${number(index)}`);
  for (const [index, column] of names.mergedColumns.entries()) {
    codes.set(`merged-column ${column}`, `c_${number(Math.max(900, columns.length) + index)}`);
  }
  return codes;
}

function seededCodes(seed: string, names: NamesToCode): CodeAllocation {
  const wanted: readonly [CodeKind, readonly string[]][] = [
    ['schema', names.schemas],
    ['table', names.tables],
    ['column', names.columns],
    ['merged-table', names.mergedTables],
    ['merged-column', names.mergedColumns],
  ];
  const codes = new Map<string, string>();
  const taken = new Set<string>();
  for (const [kind, group] of wanted) {
    for (const name of [...group].sort()) {
      let code = '';
      for (let draw = 0; code === '' || taken.has(code); draw++) code = drawCode(seed, kind, name, draw);
      taken.add(code);
      codes.set(`${kind} ${name}`, code);
    }
  }
  return codes;
}

function drawCode(seed: string, kind: CodeKind, name: string, draw: number): string {
  const random = seededRandom(drawKey(seed, kind, name, String(draw)));
  let code = firstLetters[random.integer(firstLetters.length)]!;
  while (code.length < seededLength) code += letters[random.integer(letters.length)]!;
  return code;
}
