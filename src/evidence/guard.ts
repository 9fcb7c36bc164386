import { createHmac } from 'node:crypto';
import { homedir, hostname } from 'node:os';
import type { Dataset } from '../datasets/dataset.js';
import { DuckSession } from '../duck/session.js';
import { type Home, packageRoot } from '../support/home.js';
import { collecting, identifiersAmong, yearsOf } from './identifiers.js';
import type { DatabaseIdentifiers, Ruleset } from './ruleset.js';
import type { TextContext } from './text-context.js';
import { TextSanitiser } from './text-sanitiser.js';

export interface GuardOptions {
  readonly ruleset: Ruleset;
  readonly datasets: readonly Dataset[];
  /** Words that the user names. */
  readonly terms: readonly string[];
  /** Absent where the machine that made the texts is another one. */
  readonly home?: Home;
  /** Secret of the pseudonyms; without it identifiers are dropped. */
  readonly salt?: Buffer;
  /** Years to look for where no dataset says any. */
  readonly years?: { readonly from: number; readonly to: number };
}

/**
 * What may not be published, from the rules and the datasets. Texts are read twice: once to gather what could be an
 * identifier (`collecting`), which the datasets are then asked for in one query, and once to take out what is one.
 */
export class Guard implements AsyncDisposable {
  private readonly candidates = new Set<string>();
  private readonly found = new Map<string, string>();
  /** Finds nothing out, but keeps in mind what must be looked up. */
  readonly collecting: TextSanitiser;
  /** Knows what was looked up. */
  readonly sanitiser: TextSanitiser;

  private constructor(
    private readonly options: GuardOptions,
    private readonly session: DuckSession,
    readonly years: TextContext['years'],
  ) {
    const { ruleset, salt } = options;
    const context: Omit<TextContext, 'prefixOf' | 'pseudonym'> = {
      terms: [...options.terms].sort((a, b) => b.length - a.length),
      folders: options.home === undefined ? [] : ownFolders(options.home),
      host: options.home === undefined ? undefined : tellingHost(hostname()),
      years,
      databases: databasesOf(options),
    };
    this.collecting = new TextSanitiser(ruleset.rules, {
      ...context,
      prefixOf: collecting(this.candidates),
      pseudonym: undefined,
    });
    this.sanitiser = new TextSanitiser(ruleset.rules, {
      ...context,
      prefixOf: (token) => this.found.get(token),
      pseudonym: salt === undefined ? undefined : (prefix, value) => pseudonymOf(salt, prefix, value),
    });
  }

  static async open(options: GuardOptions): Promise<Guard> {
    const session = await DuckSession.open();
    try {
      return new Guard(options, session, (await yearsOf(session, options.datasets)) ?? options.years);
    } catch (thrown) {
      await session[Symbol.asyncDispose]();
      throw thrown;
    }
  }

  /** Asks the datasets for everything that was gathered since the last time. */
  async lookUp(): Promise<void> {
    const found = await identifiersAmong(
      this.session,
      this.options.datasets,
      this.options.ruleset,
      this.candidates,
    );
    for (const [token, prefix] of found) this.found.set(token, prefix);
    this.candidates.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session[Symbol.asyncDispose]();
  }
}

/** Identifier columns of the databases of the datasets; without a dataset those of all databases. */
function databasesOf({ ruleset, datasets }: GuardOptions): readonly DatabaseIdentifiers[] {
  if (datasets.length === 0) return [...ruleset.identifiers.values()];
  return [...new Set(datasets.map(({ kind }) => ruleset.identifiers.get(kind)))].filter(
    (database) => database !== undefined,
  );
}

function ownFolders(home: Home): readonly string[] {
  const folders = [home.root, packageRoot(), homedir()].filter((folder) => folder.length > 1);
  return [...new Set(folders)].sort((a, b) => b.length - a.length);
}

/** Names such as `localhost` tell nothing. */
function tellingHost(name: string): string | undefined {
  return name.length < 4 || /^(?:localhost|debian|ubuntu|docker|runner)$/i.test(name) ? undefined : name;
}

/** `<prefix>_` and 16 upper-case hex digits of HMAC-SHA256(salt, `<prefix>:<value>`), as published. */
export function pseudonymOf(salt: Buffer, prefix: string, value: string): string {
  const digest = createHmac('sha256', salt).update(`${prefix}:${value.trim()}`).digest('hex');
  return `${prefix}_${digest.slice(0, 16).toUpperCase()}`;
}
