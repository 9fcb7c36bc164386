import type { NativeRelation } from './catalog.js';

/**
 * A reversible change of values, below names and shapes: it maps a relation with native names to one with the same
 * names, columns, types and number of rows. `decode` undoes `encode` row for row; the equivalence proof checks it.
 */
export interface ValueCodec {
  readonly name: string;
  /** Whether rows of this relation change at all. */
  appliesTo(relation: NativeRelation): boolean;
  /** Wraps a query that yields the native relation. */
  encode(relation: NativeRelation, query: string): string;
  /** Wraps a query that yields the changed relation. */
  decode(relation: NativeRelation, query: string): string;
  /** Whether it changes how texts are worded, and nothing else. */
  readonly isWording: boolean;
  /** False when wrapping may change the order of rows. */
  readonly keepsOrder: boolean;
  /** What decides the values, beyond the SQL text: hashes of the maps it reads. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** Applies codecs first to last. */
export function encodeAll(codecs: readonly ValueCodec[], relation: NativeRelation, query: string): string {
  return codecs
    .filter((codec) => codec.appliesTo(relation))
    .reduce((inner, codec) => codec.encode(relation, inner), query);
}

/** Undoes them, last to first. */
export function decodeAll(codecs: readonly ValueCodec[], relation: NativeRelation, query: string): string {
  return codecs
    .filter((codec) => codec.appliesTo(relation))
    .reduceRight((inner, codec) => codec.decode(relation, inner), query);
}
