import { type Dataset, parquetPath } from '../datasets/dataset.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { entryOf, type NativeCatalog } from './catalog.js';
import { dateCodec, dateMaps } from './date-shifts.js';
import { ambiguousNumbers, itemIdCodec, itemIdMap, itemNumbers } from './item-ids.js';
import { labelCodec, labelMap, labelWordings, loadLabelWords } from './label-words.js';
import type { Presentation } from './presentation.js';
import { noQueryValues, type QueryValues } from './sql-translator.js';
import type { ValueCodec } from './value-codec.js';
import type { ValueMap } from './value-map.js';

/** What a presentation changes in the values: nothing, unless perturbations are asked for. */
export interface ValueChanges {
  readonly maps: readonly ValueMap[];
  readonly codecs: readonly ValueCodec[];
  readonly values: QueryValues;
  readonly ambiguousNumbers: ReadonlySet<number>;
}

export interface ValueChangesRequest {
  readonly dataset: Dataset;
  readonly presentation: Presentation;
  /** Folder of the lake. */
  readonly folder: string;
  readonly catalog: NativeCatalog;
  readonly memoryBytes?: number;
  readonly threads?: number;
}

/** Draws, or finds, the maps of the perturbations of a presentation. */
export async function changesOfValues(request: ValueChangesRequest): Promise<ValueChanges> {
  const { dataset, presentation, folder, catalog } = request;
  const { perturb, seed } = presentation;
  if (perturb.length === 0) {
    return { maps: [], codecs: [], values: noQueryValues, ambiguousNumbers: new Set() };
  }
  await using session = await DuckSession.open({
    ...(request.memoryBytes === undefined ? {} : { memoryBytes: request.memoryBytes }),
    ...(request.threads === undefined ? {} : { threads: request.threads }),
  });
  const work = { session, dataset, catalog, folder };
  const maps: ValueMap[] = [];
  const codecs: ValueCodec[] = [];
  let values: QueryValues = noQueryValues;
  let ambiguous: ReadonlySet<number> = new Set();
  if (perturb.includes('items')) {
    const map = await itemIdMap(work, seed);
    maps.push(map);
    codecs.push(itemIdCodec(map));
    values = { ...values, numbers: await itemNumbers(session, map) };
    ambiguous = await ambiguousNumbers(session, catalog, map, (name) => {
      const { schema, table } = entryOf(catalog, name);
      return `read_parquet(${literal(parquetPath(dataset, schema, table))})`;
    });
  }
  if (perturb.includes('labels')) {
    const map = await labelMap(work, await loadLabelWords());
    maps.push(map);
    codecs.push(labelCodec(map));
    values = { ...values, words: await labelWordings(session, catalog, map) };
  }
  if (perturb.includes('dates')) {
    const shifts = await dateMaps(work, seed);
    maps.push(...shifts);
    codecs.push(dateCodec(shifts));
  }
  return { maps, codecs, values, ambiguousNumbers: ambiguous };
}
