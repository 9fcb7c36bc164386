import { z } from 'zod';
import { type JournalLine, journalLineSchema } from '../campaigns/journal.js';
import { sha256 } from '../support/hashing.js';
import type { Json } from './record-sanitiser.js';

/** A line of which only the hash is published, because a rule hit in it. */
const stubSchema = z.strictObject({ withheldLineSha256: z.string().regex(/^[0-9a-f]{64}$/) });

/**
 * The journal for a package: every line as it is, so that the chain of hashes can be followed, or its hash alone where
 * the line holds what may not be published (the message of an error, as a rule).
 */
export function packagedJournal(text: string, changes: (line: Json) => Json): string {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines
    .map((line) => {
      const value = JSON.parse(line) as Json;
      const isClean = JSON.stringify(changes(value)) === JSON.stringify(value);
      return isClean ? line : JSON.stringify({ withheldLineSha256: sha256(line) });
    })
    .map((line) => `${line}\n`)
    .join('');
}

export interface JournalEvidence {
  /** SHA-256 of the last line as it was written. */
  readonly head: string;
  readonly lines: number;
  /** Lines that are there in full. */
  readonly entries: readonly JournalLine[];
  /** Number of the first line that does not follow the one before it; undefined when all do. */
  readonly brokenAt: number | undefined;
}

/** Follows the chain of a packaged journal. */
export function readPackagedJournal(text: string): JournalEvidence {
  let head = '0'.repeat(64);
  const entries: JournalLine[] = [];
  const lines = text.split('\n').filter((line) => line !== '');
  for (const [index, line] of lines.entries()) {
    const value = parsed(line);
    const stub = stubSchema.safeParse(value);
    if (stub.success) {
      head = stub.data.withheldLineSha256;
      continue;
    }
    const entry = journalLineSchema.safeParse(value);
    if (!entry.success || entry.data.sequence !== index + 1 || entry.data.previous !== head)
      return { head, lines: lines.length, entries, brokenAt: index + 1 };
    entries.push(entry.data);
    head = sha256(line);
  }
  return { head, lines: lines.length, entries, brokenAt: undefined };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
