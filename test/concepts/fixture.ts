import { type Concept, loadConcepts } from '../../src/concepts/concept.js';
import { type ConceptGraph, conceptGraph, withDependencies } from '../../src/concepts/graph.js';
import { type DatabaseKind, loadSourceSchema } from '../../src/datasets/source-schema.js';
import { DuckSession, type Row } from '../../src/duck/session.js';
import { identifier, literal } from '../../src/duck/sql.js';
import { type RelationName, relationsRead } from '../../src/duck/syntax-tree.js';
import { findReferenceQuery } from '../../src/references/reference.js';

/** A stated value; text is cast to the column's type, columns that are not stated are NULL. */
export type Value = string | number | boolean | null;
export type GivenRow = Readonly<Record<string, Value>>;
/** Rows by relation: `mimiciv_icu.chartevents`, or `mimiciv_derived.bg` to state a concept instead of building it. */
export type Given = Readonly<Record<string, readonly GivenRow[]>>;
/** Numbers for integers and doubles, text for decimals, dates and times. */
export type DerivedRow = Readonly<Record<string, Value>>;

/** A database of typed, empty source tables in which concepts are worked out on a few stated rows. */
export class TinyDatabase implements AsyncDisposable {
  private readonly declared = new Set<string>();

  private constructor(
    private readonly session: DuckSession,
    private readonly graph: ConceptGraph,
    private readonly kind: DatabaseKind,
    /** Columns and types of every source and derived table. */
    private readonly columns: ReadonlyMap<string, ReadonlyMap<string, string>>,
  ) {}

  static async open(kind: DatabaseKind = 'mimic-iv'): Promise<TinyDatabase> {
    const session = await DuckSession.open({ threads: 1, memoryBytes: 512 * 1024 ** 2 });
    const source = await loadSourceSchema(kind);
    const columns = new Map<string, ReadonlyMap<string, string>>();
    for (const schema of source.schemas) await session.run(`create schema ${schema}`);
    for (const table of source.tables) {
      const list = table.columns.map(({ name, type }) => `${identifier(name)} ${type}`).join(', ');
      await session.run(`create table ${table.schema}.${table.name} (${list})`);
      columns.set(
        `${table.schema}.${table.name}`,
        new Map(table.columns.map(({ name, type }) => [name, type])),
      );
    }
    const graph: ConceptGraph =
      kind === 'mimic-iv' ? await conceptGraph(session, await loadConcepts()) : new Map();
    await session.run('create schema mimiciv_derived');
    return new TinyDatabase(session, graph, kind, columns);
  }

  /** Rows of a concept, sorted by its keys, from the stated rows. */
  async concept(table: string, given: Given): Promise<readonly DerivedRow[]> {
    const node = this.graph.get(table);
    if (node === undefined) throw new RangeError(`There is no concept ${table}.`);
    return this.derive(node.concept.sql.query, node.concept.sql.header.keys, node.derivedTables, given);
  }

  /** Rows of a reference, sorted by its keys, from the stated rows. */
  async reference(key: string, given: Given): Promise<readonly DerivedRow[]> {
    const { sql } = await findReferenceQuery(this.kind, key);
    const derived = (await relationsRead(this.session, sql.query, sql.path))
      .filter((name: RelationName) => name.schema === 'mimiciv_derived')
      .map((name) => name.table);
    return this.derive(sql.query, sql.header.keys, derived, given);
  }

  private async derive(
    query: string,
    keys: readonly string[],
    dependencies: readonly string[],
    given: Given,
  ): Promise<readonly DerivedRow[]> {
    const needed = withDependencies(this.graph, dependencies);
    const unread = Object.keys(given).find(
      (name) =>
        name.startsWith('mimiciv_derived.') &&
        !needed.some(({ concept }) => name === `mimiciv_derived.${concept.table}`),
    );
    if (unread !== undefined) throw new RangeError(`The query does not read ${unread}.`);
    for (const { concept } of needed) await this.declare(concept);
    // Everything that a case states or builds is rolled back, so that cases cannot see one another.
    await this.session.run('begin transaction');
    try {
      const filled = new Set(Object.keys(given));
      for (const [relation, rows] of Object.entries(given)) {
        if (!relation.startsWith('mimiciv_derived.')) await this.insert(relation, rows);
      }
      for (const { concept, baseRelations, derivedTables } of needed) {
        const relation = `mimiciv_derived.${concept.table}`;
        const stated = given[relation];
        if (stated !== undefined) {
          await this.insert(relation, stated);
          continue;
        }
        // From empty tables follows an empty table, which is there already.
        const reads = [
          ...baseRelations.map(({ schema, table }) => `${schema}.${table}`),
          ...derivedTables.map((table) => `mimiciv_derived.${table}`),
        ];
        if (!reads.some((name) => filled.has(name))) continue;
        await this.session.run(`insert into ${relation} ${concept.sql.query}`);
        filled.add(relation);
      }
      // As in the stored file: keys first, then every column.
      const order = [...keys.map(identifier), 'columns(*)'].join(', ');
      await this.session.run(`create temp table result as ${query}`);
      return await this.readResult(order);
    } finally {
      await this.session.run('rollback');
    }
  }

  /** Makes the empty, typed table of a concept, once. */
  private async declare(concept: Concept): Promise<void> {
    if (this.declared.has(concept.table)) return;
    await this.session.run(`create table mimiciv_derived.${concept.table} as ${concept.sql.query}\nlimit 0`);
    this.declared.add(concept.table);
  }

  private async readResult(order: string): Promise<readonly DerivedRow[]> {
    const types = new Map(
      (await this.session.rows('describe result')).map((row) => [
        String(row.column_name),
        String(row.column_type),
      ]),
    );
    const rows = await this.session.rows(`select * from result order by ${order}`);
    return rows.map((row: Row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => {
          const isInteger = /^(BIGINT|HUGEINT)$/.test(types.get(name) ?? '');
          return [name, isInteger && value !== null ? Number(value) : (value as Value)];
        }),
      ),
    );
  }

  private async insert(relation: string, rows: readonly GivenRow[]): Promise<void> {
    for (const row of rows) {
      const names = Object.keys(row);
      const known = this.columns.get(relation);
      const wrong = known === undefined ? undefined : names.find((name) => !known.has(name));
      if (wrong !== undefined) throw new RangeError(`${relation} has no column ${wrong}.`);
      const values = Object.values(row).map((value) =>
        typeof value === 'string' ? literal(value) : String(value),
      );
      await this.session.run(
        `insert into ${relation} (${names.map(identifier).join(', ')}) values (${values.join(', ')})`,
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session[Symbol.asyncDispose]();
  }
}

/** ICU admission of the patient of the tests. */
export const icuAdmission = '2150-01-02 00:00:00';

/** A clock time `[-]hours:minutes[:seconds]` after ICU admission. */
export function after(elapsed: string, from: string = icuAdmission): string {
  const found = /^(-?)(\d+):(\d\d)(?::(\d\d))?$/.exec(elapsed);
  if (found === null) throw new RangeError(`"${elapsed}" is not hours:minutes.`);
  const seconds = Number(found[2]) * 3600 + Number(found[3]) * 60 + Number(found[4] ?? 0);
  const milliseconds = Date.parse(`${from.replace(' ', 'T')}Z`) + (found[1] === '-' ? -1000 : 1000) * seconds;
  return new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}

/** Patient 1, admission 10, ICU stay 100 of three days; other numbers make other patients. */
export function icuStay(changes: GivenRow = {}): GivenRow {
  return {
    subject_id: 1,
    hadm_id: 10,
    stay_id: 100,
    intime: icuAdmission,
    outtime: after('72:00'),
    ...changes,
  };
}

/** The same stay once per number of the list: patient n, admission 10 n, stay 100 n. */
export function icuStays(count: number, changes: GivenRow = {}): readonly GivenRow[] {
  return Array.from({ length: count }, (_, index) => icuStay({ ...person(index + 1), ...changes }));
}

/** Identifiers of patient n. */
export function person(n: number): { subject_id: number; hadm_id: number; stay_id: number } {
  return { subject_id: n, hadm_id: 10 * n, stay_id: 100 * n };
}

/** A chart entry with a number; `value` is its text, as in the source. */
export function charted(
  itemid: number,
  charttime: string,
  valuenum: number | null,
  changes: GivenRow = {},
): GivenRow {
  return {
    ...person(1),
    itemid,
    charttime,
    valuenum,
    value: valuenum === null ? null : String(valuenum),
    ...changes,
  };
}

/** A chart entry with a text only. */
export function chartedText(
  itemid: number,
  charttime: string,
  value: string | null,
  changes: GivenRow = {},
): GivenRow {
  return charted(itemid, charttime, null, { value, ...changes });
}

/** A laboratory result of specimen 1 unless stated otherwise. */
export function lab(itemid: number, valuenum: number | null, changes: GivenRow = {}): GivenRow {
  return {
    subject_id: 1,
    hadm_id: 10,
    specimen_id: 1,
    charttime: icuAdmission,
    itemid,
    valuenum,
    value: valuenum === null ? null : String(valuenum),
    ...changes,
  };
}

/** The values of one column. */
export function column(rows: readonly DerivedRow[], name: string): readonly (Value | undefined)[] {
  return rows.map((row) => row[name]);
}

/** Some columns of each row, in the given order. */
export function columns(
  rows: readonly DerivedRow[],
  ...names: readonly string[]
): readonly (readonly (Value | undefined)[])[] {
  return rows.map((row) => names.map((name) => row[name]));
}

/** Stays 100, 200 … with their admissions and patients, for the scores that ask for all three. */
export function cohort(count: number, admission: GivenRow = {}): Given {
  return {
    'mimiciv_icu.icustays': icuStays(count),
    'mimiciv_hosp.admissions': Array.from({ length: count }, (_, index) => ({
      subject_id: index + 1,
      hadm_id: 10 * (index + 1),
      admittime: icuAdmission,
      admission_type: 'EW EMER.',
      ...admission,
    })),
    'mimiciv_hosp.patients': Array.from({ length: count }, (_, index) => ({ subject_id: index + 1 })),
  };
}

/** First-day rows of stays 100, 200 …, one per case. */
export function perStay(cases: readonly GivenRow[]): readonly GivenRow[] {
  return cases.map((row, index) => ({ subject_id: index + 1, stay_id: 100 * (index + 1), ...row }));
}

/** Minimum and maximum of one sign, both the same. */
export function both(name: string, values: readonly (number | null)[]): readonly GivenRow[] {
  return values.map((value) => ({ [`${name}_min`]: value, [`${name}_max`]: value }));
}

/** An episode of invasive ventilation of stay 100. */
export function invasive(start: string, end: string): Given {
  return {
    'mimiciv_derived.ventilation': [
      { stay_id: 100, starttime: after(start), endtime: after(end), ventilation_status: 'InvasiveVent' },
    ],
  };
}

/** A concept, or a reference where the name has a hyphen. */
export function derive(database: TinyDatabase, name: string, given: Given): Promise<readonly DerivedRow[]> {
  return name.includes('-') ? database.reference(name, given) : database.concept(name, given);
}
