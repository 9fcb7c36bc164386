import { readTextIfPresent } from '../support/files.js';
import { dictionaryHash } from './dictionary.js';
import { type Equivalence, equivalencePath, equivalenceSchema } from './equivalence.js';
import type { SchemaLake } from './lake.js';

/** Whether what a run presents is proven to hold what the native database holds. */
export interface SchemaVerification {
  readonly isVerified: boolean;
  /** Why not; empty when it is. A run on an unverified schema is never publishable. */
  readonly reasons: readonly string[];
}

/** The stored proof of a lake, or undefined when there is none or it cannot be read. */
export async function readEquivalence(folder: string): Promise<Equivalence | undefined> {
  const text = await readTextIfPresent(equivalencePath(folder));
  if (text === undefined) return undefined;
  try {
    return equivalenceSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Compares the stored proof with the files that are presented now: the map, every file, every native table in them,
 * and, where given, the reference that outputs are scored against.
 */
export async function verificationOf(
  lake: SchemaLake,
  reference?: { readonly key: string; readonly contentHash: string },
): Promise<SchemaVerification> {
  const equivalence = await readEquivalence(lake.folder);
  if (equivalence === undefined) {
    return { isVerified: false, reasons: [`schema ${lake.dictionary.id} was never verified`] };
  }
  const reasons: string[] = [];
  if (equivalence.dictionaryHash !== dictionaryHash(lake.dictionary))
    reasons.push('the proof is of another map');
  for (const { plan, manifest } of lake.tables) {
    const file = equivalence.files.find((entry) => entry.name === plan.name);
    if (file === undefined || file.fileSha256 !== manifest.fileSha256) {
      reasons.push(`${plan.name} was not verified in its present form`);
    } else if (!file.isSound) reasons.push(`${plan.name}: ${file.reason}`);
    for (const relation of plan.reads) {
      const proof = equivalence.tables.find((entry) => entry.name === relation);
      if (proof === undefined || proof.nativeHash !== manifest.inputs[relation]) {
        reasons.push(`${relation} was not verified in its present form`);
      } else if (!proof.isEqual) reasons.push(`${relation}: ${proof.reason}`);
    }
  }
  if (reference !== undefined) {
    const proof = equivalence.references.find((entry) => entry.name === reference.key);
    if (proof === undefined || proof.nativeHash !== reference.contentHash) {
      reasons.push(`reference ${reference.key} was not verified in its present form`);
    } else if (!proof.isEqual) reasons.push(`reference ${reference.key}: ${proof.reason}`);
  }
  return { isVerified: reasons.length === 0, reasons };
}
