import { type FileHandle, open } from 'node:fs/promises';
import { M4BenchError, messageOf } from '../support/errors.js';
import { sha256File } from '../support/hashing.js';
import {
  type CassetteEntry,
  type CassetteRequest,
  differenceWords,
  entrySchema,
  goesToSamePlace,
  keyOf,
} from './cassette.js';
import { cassetteLines, invalidCassette, parsedLine, readHeader } from './cassette-file.js';
import type { Provider } from './gateway-types.js';

/** Where nothing is ever sent; the name cannot be resolved (RFC 6761). */
const NOWHERE = 'https://replayed.invalid';

/** One recorded exchange: what was asked, and where its answer stands in the file. */
interface Recorded extends CassetteRequest {
  readonly key: string;
  readonly turn: number;
  readonly offset: number;
  readonly bytes: number;
  isPlayed: boolean;
}

/** The exchanges of one recorded attempt, in their order. */
interface Tape {
  readonly session: string;
  readonly recorded: readonly Recorded[];
  isTaken: boolean;
}

/** A recorded answer, and whether it was found by what was asked or only by its turn; or why there is none. */
export type Found =
  | { readonly entry: CassetteEntry; readonly by: 'body' | 'turn' }
  | { readonly refusal: string };

/** Plays a cassette: answers requests with what was recorded, and never connects to anything. */
export class CassettePlayer implements AsyncDisposable {
  private constructor(
    readonly path: string,
    /** Of the whole file. */
    readonly sha256: string,
    /** The routes that the recording had, without addresses and keys. */
    readonly providers: readonly Provider[],
    /** A request that was not recorded is refused; otherwise it gets the answer of its turn. */
    readonly isStrict: boolean,
    private readonly tapes: readonly Tape[],
    private readonly file: FileHandle,
  ) {}

  /** Throws `CASSETTE_UNREADABLE`, `CASSETTE_INVALID` naming the line, or `CASSETTE_OUTDATED`. */
  static async open(path: string, options: { readonly isStrict: boolean }): Promise<CassettePlayer> {
    const file = await openCassette(path);
    try {
      const { providers } = await readHeader(path, file);
      const tapes = await tapesOf(path);
      return new CassettePlayer(
        path,
        await sha256File(path),
        providers.map((provider) => ({ ...provider, baseUrl: NOWHERE, apiKey: '' })),
        options.isStrict,
        tapes,
        file,
      );
    } catch (thrown) {
      await file.close();
      throw thrown;
    }
  }

  /** What one attempt is played; the recording of the same run and attempt is taken before others. */
  session(label: string): ReplaySession {
    return new ReplaySession(this.isStrict, {
      take: (key) => this.#take(label, key),
      read: (recorded) => this.#read(recorded),
    });
  }

  /** The recording of this label, else the first free one that begins with this request, else the first free one. */
  #take(label: string, key: string): Tape | undefined {
    const free = this.tapes.filter(({ isTaken }) => !isTaken);
    const tape =
      free.find(({ session }) => session === label) ??
      free.find(({ recorded }) => recorded[0]!.key === key) ??
      free[0];
    if (tape !== undefined) tape.isTaken = true;
    return tape;
  }

  async #read({ offset, bytes }: Recorded): Promise<CassetteEntry> {
    const { buffer } = await this.file.read(Buffer.alloc(bytes), 0, bytes, offset);
    return entrySchema.parse(parsedLine(buffer.toString('utf8')));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.file.close();
  }
}

/** Answers the requests of one attempt. */
export class ReplaySession {
  #tape: Tape | undefined;
  #mismatch: string | null = null;

  constructor(
    private readonly isStrict: boolean,
    private readonly source: {
      take(key: string): Tape | undefined;
      read(recorded: Recorded): Promise<CassetteEntry>;
    },
  ) {}

  /** Why a request could not be answered, the first time that happened. */
  get mismatch(): string | null {
    return this.#mismatch;
  }

  /** Recorded answers that nobody has asked for. */
  get left(): number {
    return this.#tape?.recorded.filter(({ isPlayed }) => !isPlayed).length ?? 0;
  }

  /** Requests may come in another order than recorded, as several at once do; equal ones are played in theirs. */
  async find(asked: CassetteRequest): Promise<Found> {
    const key = keyOf(asked);
    this.#tape ??= this.source.take(key);
    const unplayed = this.#tape?.recorded.filter(({ isPlayed }) => !isPlayed) ?? [];
    const same = unplayed.find((one) => one.key === key);
    const next = unplayed.find((one) => goesToSamePlace(one, asked));
    const chosen = same ?? (this.isStrict ? undefined : next);
    if (chosen === undefined) {
      const refusal = `the cassette holds no answer: ${this.#reason(asked, next)}`;
      this.#mismatch ??= refusal;
      return { refusal };
    }
    chosen.isPlayed = true;
    return { entry: await this.source.read(chosen), by: same === undefined ? 'turn' : 'body' };
  }

  #reason(asked: CassetteRequest, next: Recorded | undefined): string {
    if (this.#tape === undefined) return 'every recorded run in it has been played';
    if (next !== undefined)
      return `the request differs from the recorded one of turn ${next.turn} in ${differenceWords(asked, next)}`;
    const turns = this.#tape.recorded.length;
    return `the recording has ${turns} ${turns === 1 ? 'exchange' : 'exchanges'}, and no further one with ${asked.method} ${asked.path}`;
  }
}

async function openCassette(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (thrown) {
    throw new M4BenchError(
      'CASSETTE_UNREADABLE',
      `The cassette ${path} cannot be read: ${messageOf(thrown)}.`,
      'Name a file that --record wrote.',
    );
  }
}

/** The recorded attempts in the order of their first exchange; answers stay in the file. */
async function tapesOf(path: string): Promise<readonly Tape[]> {
  const bySession = new Map<string, Recorded[]>();
  for await (const { value, number, offset, bytes } of cassetteLines(path)) {
    if (number === 1) continue;
    const parsed = entrySchema.safeParse(value);
    if (!parsed.success) throw invalidCassette(path, number);
    const { session, turn, provider, protocol, method, path: at, request } = parsed.data;
    const asked = { provider, protocol, method, path: at, request };
    const recorded = bySession.get(session) ?? [];
    recorded.push({ ...asked, key: keyOf(asked), turn, offset, bytes, isPlayed: false });
    bySession.set(session, recorded);
  }
  return [...bySession].map(([session, recorded]) => ({ session, recorded, isTaken: false }));
}
