import type { InputMount, WorkFile } from '../sandboxes/sandbox.js';

/** Requested reasoning effort; `auto` is the adapter's documented choice, `default` leaves it to the provider. */
export type Effort = 'auto' | 'default' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface AgentRequest {
  /** Model name as asked, undefined for the CLI's own default. */
  readonly model?: string;
  readonly effort: Effort;
  /** The full instruction text, also present as `instruction.md` in the work folder. */
  readonly instruction: string;
  /** Work folder as seen inside. */
  readonly workPath: string;
  /** Gateway base URL as seen inside; undefined for agents without a model. */
  readonly gatewayUrl: string | undefined;
  /** For the `sql` agent: the query to play. For `reference`: the answer, handed in by the harness. */
  readonly sqlText?: string;
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
}

export interface TokenCounts {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** What the agent's own trace says; untrusted, every field may be missing. */
export interface TraceReading {
  readonly tokens?: TokenCounts;
  readonly models: readonly string[];
  readonly turns: number;
  /** Commands the agent ran, in order, cut to 2,000 characters each. */
  readonly commands: readonly string[];
  /** Error texts the CLI reported. */
  readonly errors: readonly string[];
}

export interface AgentAvailability {
  readonly available: boolean;
  readonly version?: string;
  readonly detail: string;
  readonly remedy?: string;
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
  probe(): Promise<AgentAvailability>;
  launch(request: AgentRequest): Promise<AgentLaunch>;
  /** Reads the trace file (bytes of the command's standard output); tolerant of damage. */
  readTrace(tracePath: string): Promise<TraceReading>;
}
