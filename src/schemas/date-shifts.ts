import { identifier, literal } from '../duck/sql.js';
import { type NativeCatalog, type NativeRelation, qualifiedName } from './catalog.js';
import type { ValueCodec } from './value-codec.js';
import { mapTable, type ValueMap, type ValueMapRequest, valueMap } from './value-map.js';

/** Four years with one leap day. Within a stretch where every fourth year is leap, such a shift keeps day and month. */
const cycleDays = 1461;

/**
 * Stretches in which every fourth year is a leap year; 2100 and 2200 are not. The last one ends where times in
 * nanoseconds, as Python uses them, end.
 */
const stretches = [
  ['1900-03-01', '2100-02-28'],
  ['2100-03-01', '2200-02-28'],
  ['2200-03-01', '2262-01-01'],
] as const;

/** Column that says whose row it is, in order of preference, and the map that knows its shift. */
const keys = [
  ['subject_id', 'shift_of_patient'],
  ['stay_id', 'shift_of_stay'],
  ['hadm_id', 'shift_of_admission'],
] as const;

function temporalColumns(relation: Pick<NativeRelation, 'columns'>): readonly string[] {
  return relation.columns
    .filter(({ type }) => type === 'DATE' || type === 'TIMESTAMP')
    .map(({ name }) => name);
}

function keyOf(relation: Pick<NativeRelation, 'columns'>): (typeof keys)[number] | undefined {
  return keys.find(([column]) => relation.columns.some(({ name }) => name === column));
}

function isShifted(relation: NativeRelation): boolean {
  const hasYear = relation.columns.some(({ name }) => name === 'anchor_year');
  return keyOf(relation) !== undefined && (hasYear || temporalColumns(relation).length > 0);
}

/**
 * How far each patient's dates move: a number of four-year cycles drawn from the seed, never 0, such that all dates of
 * the patient stay within one stretch. A patient whose dates cross the end of a stretch does not move. Times between
 * two events, days and months, leap days and ages keep exactly; years do not.
 */
export async function dateMaps(
  request: Pick<ValueMapRequest, 'session' | 'dataset' | 'catalog' | 'folder'>,
  seed: string,
): Promise<readonly ValueMap[]> {
  const patients = await patientShifts(request, seed);
  const follow = (name: string, key: string, table: string): Promise<ValueMap> =>
    valueMap({
      ...request,
      name,
      reads: [...new Set([table, ...Object.keys(patients.manifest.inputs)])],
      sortedBy: [key],
      query: (source) =>
        `select held.${key}, patient.days from ${source(table)} held /* ${patients.manifest.contentHash} */
         join ${mapTable('shift_of_patient')} patient on patient.subject_id = held.subject_id`,
    });
  await request.session.run(`create schema if not exists ${identifier(patients.schema)}`);
  await request.session.run(
    `create or replace view ${mapTable('shift_of_patient')} as select * from read_parquet(${literal(patients.path)})`,
  );
  return [
    patients,
    await follow('shift_of_stay', 'stay_id', 'mimiciv_icu.icustays'),
    await follow('shift_of_admission', 'hadm_id', 'mimiciv_hosp.admissions'),
  ];
}

async function patientShifts(
  request: Pick<ValueMapRequest, 'session' | 'dataset' | 'catalog' | 'folder'>,
  seed: string,
): Promise<ValueMap> {
  const dated = datedTables(request.catalog, request.dataset.tables);
  return valueMap({
    ...request,
    name: 'shift_of_patient',
    reads: dated.map(qualifiedName),
    sortedBy: ['subject_id'],
    query: (source) => {
      const spans = dated.map((entry) => {
        const dates = temporalColumns(entry).map((name) => `cast(${identifier(name)} as date)`);
        if (entry.columns.some(({ name }) => name === 'anchor_year'))
          dates.push('make_date(anchor_year, 1, 1)');
        return `select subject_id, min(least(${dates.join(', ')})) as first_date, max(greatest(${dates.join(', ')})) as last_date
          from ${source(qualifiedName(entry))} group by subject_id`;
      });
      const ends = stretches
        .map(([start, end]) => `(date ${literal(start)}, date ${literal(end)})`)
        .join(', ');
      return `with spans as (
          select subject_id, min(first_date) as first_date, max(last_date) as last_date
          from (${spans.join(' union all ')}) where subject_id is not null group by subject_id),
        stretches (opening, closing) as (values ${ends}),
        room as (
          select subject_id, (first_date - opening) // ${cycleDays} as back, (closing - last_date) // ${cycleDays} as ahead
          from spans left join stretches on first_date >= opening and last_date <= closing),
        drawn as (
          select *, case when back + ahead > 0 then
            cast(md5_number(${literal(`dates:${seed}:`)} || subject_id) % cast(back + ahead as uhugeint) as bigint) end as draw
          from room)
        select subject_id, coalesce(case when draw < back then draw - back else draw - back + 1 end, 0) * ${cycleDays} as days
        from drawn`;
    },
  });
}

function datedTables(
  catalog: NativeCatalog,
  tables: readonly { readonly schema: string; readonly table: string }[],
): readonly NativeRelation[] {
  return [...catalog.values()].filter(
    (entry) =>
      !entry.isDerived &&
      entry.columns.some(({ name }) => name === 'subject_id') &&
      temporalColumns(entry).length > 0 &&
      tables.some(({ schema, table }) => schema === entry.schema && table === entry.table),
  );
}

/** Moves every date and time of a patient, and the anchor year with them; also in derived tables and references. */
export function dateCodec(maps: readonly ValueMap[]): ValueCodec {
  const shift = (relation: NativeRelation, query: string, sign: '+' | '-'): string => {
    const [column, map] = keyOf(relation)!;
    const days = `cast(coalesce(shift.days, 0) as integer)`;
    const moved = relation.columns.flatMap(({ name, type }) => {
      const own = `changed.${identifier(name)}`;
      if (type === 'DATE') return [`${own} ${sign} ${days} as ${identifier(name)}`];
      if (type === 'TIMESTAMP') return [`${own} ${sign} to_days(${days}) as ${identifier(name)}`];
      if (name === 'anchor_year')
        return [`${own} ${sign} ${days} // ${cycleDays} * 4 as ${identifier(name)}`];
      return [];
    });
    return `select changed.* replace (${moved.join(', ')})
      from (${query}) changed left join ${mapTable(map)} shift on shift.${column} = changed.${column}`;
  };
  return {
    name: 'dates',
    keepsOrder: false,
    isWording: false,
    inputs: Object.fromEntries(maps.map(({ table, manifest }) => [`map ${table}`, manifest.contentHash])),
    appliesTo: isShifted,
    encode: (relation, query) => shift(relation, query, '+'),
    decode: (relation, query) => shift(relation, query, '-'),
  };
}
