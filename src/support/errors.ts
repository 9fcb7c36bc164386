/** Whose fault an error is; decides the exit code and whether a run may be tried again. */
export type ErrorParty = 'user' | 'agent' | 'environment' | 'internal';

export interface M4BenchErrorOptions {
  readonly party?: ErrorParty;
  readonly cause?: unknown;
}

/**
 * The one error type that reaches a user.
 *
 * `code` is stable and upper-case (`DATASET_NOT_FOUND`), `message` is one sentence saying what happened,
 * `remedy` one sentence saying what to do. Stack traces are shown only with `--verbose`.
 */
export class M4BenchError extends Error {
  readonly code: string;
  readonly remedy: string;
  readonly party: ErrorParty;

  constructor(code: string, message: string, remedy: string, options: M4BenchErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'M4BenchError';
    this.code = code;
    this.remedy = remedy;
    this.party = options.party ?? 'user';
  }
}

/** The message of anything that was thrown, on one line. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s*\n\s*/g, ' ').trim();
}

/** The `code` of a Node system error (`ENOENT`, `EXDEV` …), or undefined. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string') return thrown.code;
  return undefined;
}

/** Words for the system errors that files of a user meet. */
const fileTroubles: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Why a file cannot be used, in words where the system has only a code; else the message of what was thrown. */
export function reasonOf(thrown: unknown): string {
  return fileTroubles[systemCodeOf(thrown) ?? ''] ?? messageOf(thrown);
}

/** `FILE: there is no such file or folder` for a system error that says which file, undefined for any other. */
export function fileTrouble(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || fileTroubles[systemCodeOf(thrown) ?? ''] === undefined) return undefined;
  return 'path' in thrown && typeof thrown.path === 'string'
    ? `${thrown.path}: ${reasonOf(thrown)}.`
    : undefined;
}
