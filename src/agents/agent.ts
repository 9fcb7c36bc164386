import type { InputMount, WorkFile } from '../sandboxes/sandbox.js';
import type { Transcript } from './transcript.js';

/** Requested reasoning effort; `auto` is the adapter's documented choice, `default` leaves it to the provider. */
export type Effort = 'auto' | 'default' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface AgentRequest {
  /** Model name as asked, undefined for the CLI's own default. */
  readonly model?: string;
  /** As asked; `launch` resolves `auto` and refuses a level that is not among the agent's `efforts`. */
  readonly effort: Effort;
  /** The full instruction text, also present as `instruction.md` in the work folder. */
  readonly instruction: string;
  /** Work folder as seen inside. */
  readonly workPath: string;
  /** Gateway base URL as seen inside; undefined for agents without a model. */
  readonly gatewayUrl: string | undefined;
  /** Gateway route of the model's provider; default the one that the CLI is made for (`openai` for Codex). */
  readonly provider?: string;
  /** The CLI signs in by itself and speaks to its provider through the gateway's tunnels (`login`). */
  readonly usesLogin?: boolean;
  /** For `sql`: the query to play. */
  readonly sqlText?: string;
  /** For `reference`: the answer as CSV, absolute host path, handed in by the harness. */
  readonly answerFile?: string;
}

/** How to start the agent inside a sandbox. */
export interface AgentLaunch {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Host folders the CLI itself needs (its package), read-only. */
  readonly inputs: readonly InputMount[];
  /** Configuration the CLI reads, relative to the work folder. */
  readonly workFiles: readonly WorkFile[];
  /** Model slots that were set beside the asked model, as `slot=model`, for the record. */
  readonly overrides?: readonly string[];
}

/** Tokens as billed over all requests of a run. */
export interface TokenCounts {
  /** Everything that was sent, cached or not. */
  readonly input: number;
  /** Part of `input` that the provider read from its cache. */
  readonly cachedInput: number;
  /** Part of `input` that the provider wrote to its cache. */
  readonly cacheWrite: number;
  /** Everything that was generated, reasoning included. */
  readonly output: number;
  /** Part of `output`. */
  readonly reasoning: number;
}

/** What the agent's own trace says; untrusted, every field may be missing. */
export interface TraceReading {
  readonly tokens?: TokenCounts;
  readonly models: readonly string[];
  /** Replies of a model, as far as the trace tells them apart. */
  readonly turns: number;
  /** Commands the agent ran, in order, cut to 2,000 characters each. */
  readonly commands: readonly string[];
  /** Error texts the CLI reported. */
  readonly errors: readonly string[];
}

export interface AgentAvailability {
  readonly available: boolean;
  readonly version?: string;
  /** Where a CLI comes from: the root file system, whose digest pins it, or this machine, which lends it. */
  readonly source?: 'rootfs' | 'host';
  readonly detail: string;
  readonly remedy?: string;
}

/** What comes of a user's login into a sandbox, for one command. */
export interface LoginMaterial {
  /** Files of the private home. */
  readonly files: readonly WorkFile[];
  /** Texts that may appear in no record. */
  readonly secrets: readonly string[];
}

/** A subscription login of a CLI. */
export interface AgentLogin {
  /** Whose service it is, by the name that attestations of data use give it. */
  readonly provider: string;
  /** Hosts that the CLI cannot do without, on port 443, lower case; `.name` stands for every host below that name. */
  readonly hosts: readonly string[];
  /**
   * Reads the user's login without what could renew it: no lasting credential enters a sandbox, and no renewal in one
   * makes the user's own login invalid. Throws `LOGIN_MISSING`, and `LOGIN_EXPIRES` when it does not last as long as needed.
   */
  read(need: { readonly now: Date; readonly seconds: number }): Promise<LoginMaterial>;
}

/** One coding agent; one file per agent beside this one. */
export interface Agent {
  readonly name: string;
  /** True when it talks to a model through the gateway. */
  readonly needsModel: boolean;
  /** True only for `reference`: it is handed the answer, so no run of it may ever be published. */
  readonly isHandedTheAnswer: boolean;
  /** Where the CLI looks for skills, relative to the work folder, for example `.codex/skills`. */
  readonly skillFolder: string;
  /** Effort levels it accepts by name. */
  readonly efforts: readonly Effort[];
  /** What `auto` stands for. */
  readonly autoEffort: Effort;
  /** For CLIs with which a subscription can be used. */
  readonly login?: AgentLogin;
  probe(): Promise<AgentAvailability>;
  launch(request: AgentRequest): Promise<AgentLaunch>;
  /** Reads the trace file (bytes of the command's standard output) as a transcript; tolerant of damage. */
  readTranscript(tracePath: string): Promise<Transcript>;
  /** The summary of the same. */
  readTrace(tracePath: string): Promise<TraceReading>;
}
