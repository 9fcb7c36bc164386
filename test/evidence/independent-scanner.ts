import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { decompress } from 'fzstd';
import { extract } from 'tar-stream';

/**
 * A second look at packages that shares nothing with the first one: it reads the release's own CSV files, and the bytes
 * of the package as they come out of the tar.
 */
export interface DemoFacts {
  /** Every value of an identifier column. */
  readonly ids: ReadonlySet<string>;
  /** Those of patients, admissions, stays and transfers. */
  readonly patients: ReadonlySet<string>;
  /** Every time of every table, to the second, and every date. */
  readonly times: ReadonlySet<string>;
}

const PATIENT_COLUMNS = ['subject_id', 'hadm_id', 'stay_id', 'transfer_id'];
const ID_COLUMNS = [
  ...PATIENT_COLUMNS,
  'specimen_id',
  'micro_specimen_id',
  'labevent_id',
  'microevent_id',
  'pharmacy_id',
  'poe_id',
  'emar_id',
];
/** Shorter numbers of events (row numbers) cannot be told from counts. */
const LEAST_DIGITS = 7;

export function demoFacts(folder: string): DemoFacts {
  const ids = new Set<string>();
  const patients = new Set<string>();
  const times = new Set<string>();
  for (const part of ['hosp', 'icu']) {
    for (const name of readdirSync(join(folder, part)).filter((file) => file.endsWith('.csv.gz'))) {
      const text = gunzipSync(readFileSync(join(folder, part, name))).toString('utf8');
      const end = text.indexOf('\n');
      const header = text.slice(0, end).trim().split(',');
      // Identifier columns stand at the beginning of the lines, before any quoted text.
      const wanted = header
        .map((column, at) => [column, at] as const)
        .filter(([column]) => ID_COLUMNS.includes(column));
      const last = Math.max(-1, ...wanted.map(([, at]) => at));
      for (const line of text.slice(end + 1).split('\n')) {
        const cells = line.split(',', last + 1);
        for (const [column, at] of wanted) {
          const value = cells[at] ?? '';
          if (PATIENT_COLUMNS.includes(column) && value !== '') patients.add(value);
          if (/^\d+$/.test(value) && value.length >= LEAST_DIGITS) ids.add(value);
          else if (/^\d{8}-\d+$/.test(value)) ids.add(value);
        }
      }
      for (const [time] of text.matchAll(/\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\b/g)) {
        times.add(time);
        times.add(time.slice(0, 10));
      }
    }
  }
  return { ids, patients, times };
}

/** Names and bytes of every file of a package. */
export async function packageFiles(archive: string): Promise<ReadonlyMap<string, Buffer>> {
  const tar = Buffer.from(decompress(readFileSync(archive)));
  const files = new Map<string, Buffer>();
  const reader = extract();
  const done = (async () => {
    for await (const entry of reader) {
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      files.set(entry.header.name, Buffer.concat(chunks));
    }
  })();
  reader.end(tar);
  await done;
  return files;
}

/** Every identifier and time of the demo in the names and bytes of the files, with the file that it is in. */
export function findings(files: ReadonlyMap<string, Buffer>, facts: DemoFacts): readonly string[] {
  const found: string[] = [];
  for (const [name, bytes] of files) {
    const text = `${name}\n${bytes.toString('latin1')}`;
    for (const [digits] of text.matchAll(/\d{7,}/g))
      if (facts.ids.has(digits)) found.push(`${name}: ${digits}`);
    for (const [value] of text.matchAll(/\d{8}-\d+/g))
      if (facts.ids.has(value)) found.push(`${name}: ${value}`);
    for (const [, date, clock] of text.matchAll(/(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2}))?/g)) {
      const time = clock === undefined ? date! : `${date} ${clock}`;
      if (facts.times.has(time) || facts.times.has(date!)) found.push(`${name}: ${time}`);
    }
  }
  return found;
}
