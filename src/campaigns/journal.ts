import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { failureClassSchema, type RunResult, resultSchema } from '../runs/result.js';
import { M4BenchError, systemCodeOf } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import { killPoint } from '../support/kill-point.js';

/**
 * `campaigns/<name>/journal.jsonl`: the append-only index of a campaign.
 *
 * One JSON object a line, UTF-8, ended by a line feed. Lines are never rewritten. Every line has `sequence` (1, 2, …),
 * `previous` (SHA-256, lower-case hex, of the bytes of the line before without its line feed; 64 zeros on the first),
 * `recordedAt` (UTC, as the machine's clock had it; informative only) and `kind`:
 *
 * - `opened`: the first line, with the campaign's name and the hash of its frozen plan;
 * - `result`: a `result.json` was recorded. `cell` is the hash of the cell, `resultSha256` and `resultBytes` those of
 *   the file. A later `result` line of the same run replaces the earlier one, which stays visible;
 * - `error`: the scheduler could not make the run and no result was written;
 * - `lost`: a recorded `result.json` is not there any more; the run is open again;
 * - `repaired`: a torn last line (killed while writing) was cut off; what it indexed is read from its files again;
 * - `rebuilt`: the journal was missing and the `result` lines that follow were made from the files.
 *
 * The hash of the last line (`head`) stands for the whole journal: it is what an evidence package records. The files
 * are the truth, the journal is their index: whatever it lacks is read from them again (`campaign-index.ts`).
 */
const link = {
  sequence: z.number().int().positive(),
  previous: z.string().regex(/^[0-9a-f]{64}$/),
  recordedAt: z.string(),
};

const openedSchema = z.object({
  kind: z.literal('opened'),
  schemaVersion: z.literal(1),
  campaign: z.string(),
  planHash: z.string(),
});

const resultEntrySchema = z.object({
  kind: z.literal('result'),
  runId: z.string(),
  trial: z.number().int().positive(),
  cell: z.string(),
  resultSha256: z.string(),
  resultBytes: z.number().int().nonnegative(),
  status: resultSchema.shape.status,
  reward: z.number().nullable(),
  failureClass: failureClassSchema.nullable(),
  publishable: z.boolean(),
  /** Wall time of all attempts. */
  seconds: z.number(),
  /** Of the attempt that counts, as in `result.json`. */
  tokens: resultSchema.shape.tokens,
  cost: z.number().nullable(),
  /** Input and output tokens, and US dollars, over all attempts: what budgets count. */
  spent: z.object({ tokens: z.number(), cost: z.number() }),
  /** Class of each attempt in order: what was tried again can be seen without opening a file. */
  attempts: z.array(z.enum(['judged', 'infrastructure', 'agent'])),
});
/** Index line of one `result.json`. */
export type ResultEntry = z.infer<typeof resultEntrySchema>;

const entrySchema = z.discriminatedUnion('kind', [
  openedSchema,
  resultEntrySchema,
  z.object({ kind: z.literal('error'), runId: z.string(), code: z.string(), message: z.string() }),
  z.object({ kind: z.literal('lost'), runId: z.string(), resultSha256: z.string() }),
  z.object({ kind: z.literal('repaired'), droppedBytes: z.number(), droppedSha256: z.string() }),
  z.object({ kind: z.literal('rebuilt'), results: z.number().int().nonnegative() }),
]);
export type JournalEntry = z.infer<typeof entrySchema>;

/** One line of a journal. */
export const journalLineSchema = z.intersection(z.object(link), entrySchema);
export type JournalLine = z.infer<typeof journalLineSchema>;

const firstPrevious = '0'.repeat(64);

export interface JournalReading {
  readonly lines: readonly JournalLine[];
  /** SHA-256 of the last whole line; 64 zeros when there is none. */
  readonly head: string;
  /** Bytes of the whole lines. */
  readonly bytes: number;
  /** What a killed writer left after them; empty as a rule. */
  readonly torn: Uint8Array;
}

/**
 * Reads a journal and checks its chain; undefined when there is none. A torn last line is left out and reported.
 *
 * Throws `JOURNAL_BROKEN` naming the first line that was changed, removed or put in.
 */
export async function readJournal(path: string): Promise<JournalReading | undefined> {
  const content = await readFile(path).catch((thrown: unknown) => {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  });
  if (content === undefined) return undefined;
  const lines: JournalLine[] = [];
  let head = firstPrevious;
  let at = 0;
  while (at < content.length) {
    const end = content.indexOf(0x0a, at);
    const bytes = content.subarray(at, end < 0 ? content.length : end);
    const parsed = end < 0 ? undefined : parsedLine(bytes);
    if (parsed === undefined) {
      // Only the last line can be torn; a damaged one with others after it was changed.
      if (end < 0 || end === content.length - 1) break;
      throw broken(path, lines.length + 1, 'is not a line of a journal');
    }
    if (parsed.previous !== head || parsed.sequence !== lines.length + 1) {
      throw broken(path, lines.length + 1, 'does not follow the line before it');
    }
    lines.push(parsed);
    head = sha256(bytes);
    at = end + 1;
  }
  return { lines, head, bytes: at, torn: content.subarray(at) };
}

function parsedLine(bytes: Uint8Array): JournalLine | undefined {
  try {
    return journalLineSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return undefined;
  }
}

function broken(path: string, line: number, how: string): M4BenchError {
  return new M4BenchError(
    'JOURNAL_BROKEN',
    `Line ${line} of ${path} ${how}: the journal was changed after it was written.`,
    'Restore it from a copy. To go on without it, move it away: it is rebuilt from the result files, and the new one says so.',
  );
}

/** Makes the entry of a recorded result. `file` holds the bytes of its `result.json`. */
export function resultEntry(
  result: RunResult,
  file: Uint8Array,
  cell: string,
  spent: ResultEntry['spent'],
): ResultEntry {
  return {
    kind: 'result',
    runId: result.runId,
    trial: result.trial,
    cell,
    resultSha256: sha256(file),
    resultBytes: file.length,
    status: result.status,
    reward: result.reward,
    failureClass: result.failureClass,
    publishable: result.publishable,
    seconds: result.attempts.reduce((sum, attempt) => sum + attempt.seconds, 0),
    tokens: result.tokens,
    cost: result.cost,
    spent,
    attempts: result.attempts.map((attempt) => attempt.class),
  };
}

/** The one writer of a journal; appends are serialised and on disk when they return. */
export class JournalWriter implements AsyncDisposable {
  private pending: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: FileHandle,
    private sequence: number,
    private head: string,
    private bytes: number,
  ) {}

  /**
   * Opens a journal to append to it, starts it with an `opened` line when there is none, and cuts off a torn last
   * line, which a `repaired` line then records. The caller holds the lock of the campaign.
   *
   * Throws `JOURNAL_BROKEN`, also when the journal is of another plan.
   */
  static async open(
    path: string,
    of: { readonly campaign: string; readonly planHash: string },
  ): Promise<JournalWriter> {
    const reading = await readJournal(path);
    const first = reading?.lines[0];
    if (first !== undefined && (first.kind !== 'opened' || first.planHash !== of.planHash)) {
      throw broken(path, 1, 'is not of this plan');
    }
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, 'a', 0o644);
    const writer = new JournalWriter(
      file,
      reading?.lines.length ?? 0,
      reading?.head ?? firstPrevious,
      reading?.bytes ?? 0,
    );
    try {
      const torn = reading?.torn ?? new Uint8Array();
      if (torn.length > 0) await file.truncate(writer.bytes);
      if (first === undefined) await writer.append({ kind: 'opened', schemaVersion: 1, ...of });
      if (torn.length > 0) {
        await writer.append({ kind: 'repaired', droppedBytes: torn.length, droppedSha256: sha256(torn) });
      }
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
    return writer;
  }

  /** Appends one entry and waits until it is on disk. A failed write leaves the journal as it was. */
  append(entry: JournalEntry): Promise<void> {
    const written = this.pending.then(() => this.write(entry));
    this.pending = written.catch(() => {});
    return written;
  }

  private async write(entry: JournalEntry): Promise<void> {
    const line: JournalLine = {
      sequence: this.sequence + 1,
      previous: this.head,
      recordedAt: new Date().toISOString(),
      ...entry,
    };
    const bytes = Buffer.from(JSON.stringify(line), 'utf8');
    try {
      await killPoint('half journal', () => this.file.appendFile(bytes.subarray(0, bytes.length >> 1)));
      await this.file.appendFile(Buffer.concat([bytes, Buffer.from('\n')]));
      await this.file.datasync();
    } catch (thrown) {
      await this.file.truncate(this.bytes).catch(() => {});
      throw thrown;
    }
    this.sequence += 1;
    this.head = sha256(bytes);
    this.bytes += bytes.length + 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pending;
    await this.file.close();
  }
}
