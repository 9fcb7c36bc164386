/**
 * The contract that every sandbox keeps. One file per kind beside this one; `conformance.test.ts` runs the same
 * checks against each.
 */
export type SandboxKind = 'bubblewrap' | 'process' | 'docker' | 'podman';

/** A host file or folder shown inside, read-only without exception. */
export interface InputMount {
  /** Absolute host path. */
  readonly source: string;
  /** Absolute path inside. The `process` sandbox copies instead of mounting. */
  readonly target: string;
}

/** A file put into the work folder before the first command; the agent may change it. */
export interface WorkFile {
  /** Path relative to the work folder, `/` separated, inside it. */
  readonly path: string;
  readonly content: { readonly text: string } | { readonly copyOf: string };
  /** Default 0o644. */
  readonly mode?: number;
}

export interface SandboxLimits {
  readonly timeoutSeconds: number;
  readonly memoryBytes: number;
  /** Processes and threads together, as the kernel counts tasks. */
  readonly processes: number;
  /** Bytes the work folder may hold. */
  readonly workBytes: number;
  /** Bytes kept of standard output and of standard error, each; writing more ends the command (`stream`). */
  readonly streamBytes: number;
}

export interface SandboxSpec {
  readonly inputs: readonly InputMount[];
  readonly workFiles: readonly WorkFile[];
  /** Unix socket of the gateway on the host, or undefined for no way out at all. */
  readonly gatewaySocket?: string;
  readonly limits: SandboxLimits;
}

export interface CommandSpec {
  /** Program and arguments; never a shell string built from data. */
  readonly command: readonly string[];
  /**
   * The whole environment beyond PATH, HOME, TMPDIR, LANG and M4BENCH_GATEWAY_URL, which the sandbox sets.
   * A name given here wins, except M4BENCH_GATEWAY_URL.
   */
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Files put into the private home before the command starts, readable by the agent alone (mode 0600). */
  readonly homeFiles?: readonly WorkFile[];
  /** Host files outside the work folder that receive the streams; the agent cannot reach them. */
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Ends the command early (budget spent, user interrupt). */
  readonly signal?: AbortSignal;
}

export type LimitName = 'time' | 'memory' | 'processes' | 'disk' | 'stream';

export interface CommandOutcome {
  /** Exit status, or null when it was ended by a signal or by the sandbox. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The limit that ended the command, if one did. */
  readonly endedBy: LimitName | 'abort' | null;
  readonly seconds: number;
  /** Bytes written by the command; the files hold at most `streamBytes` of them. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
}

/** What came out of the work folder and what was refused there (links, devices, names that leave the folder, size). */
export interface CopyOutReport {
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** One prepared sandbox with its work folder. Disposing ends every process and deletes the work folder. */
export interface PreparedSandbox extends AsyncDisposable {
  /** Path of the work folder as the command sees it (`/work`; a host path in `process`). */
  readonly workPath: string;
  /** Base URL of the gateway as the command sees it, or undefined when there is none. */
  readonly gatewayUrl: string | undefined;
  /** Adds files to the work folder, for what depends on `workPath` or `gatewayUrl`. Before the first command only. */
  addWorkFiles(files: readonly WorkFile[]): Promise<void>;
  /**
   * Runs one command to its end; several may follow one another, not at once. Only the work folder lasts from one
   * to the next. Never throws for what the command does; throws `SANDBOX_START_FAILED` (party `environment`) when
   * the sandbox itself did not come up.
   */
  execute(command: CommandSpec): Promise<CommandOutcome>;
  /**
   * Copies regular files of the work folder to a host folder. `only`: relative paths of files or folders; default
   * everything. Anything else (links, devices, odd names, sizes over the limits) is refused and reported.
   */
  copyOut(
    into: string,
    options: {
      readonly only?: readonly string[];
      readonly maxFileBytes: number;
      readonly maxTotalBytes: number;
    },
  ): Promise<CopyOutReport>;
}

export interface SandboxAvailability {
  readonly available: boolean;
  readonly detail: string;
  /** What to install or change when it is not available. */
  readonly remedy?: string;
}

export interface Sandbox {
  readonly kind: SandboxKind;
  /** False for `process`: no isolation, never publishable. */
  readonly isIsolated: boolean;
  /** Digest of the root file system inside, or null for the host's own: development only, never publishable. */
  readonly rootfsDigest: string | null;
  probe(): Promise<SandboxAvailability>;
  prepare(spec: SandboxSpec): Promise<PreparedSandbox>;
  /** Which limits this sandbox really enforces here, for the result. */
  enforcedLimits(): readonly LimitName[];
}
