/** What agents need to know of the machine; passed in, never read from the process. */
export interface AgentSettings {
  /** Environment of the benchmark process: `PATH` and `M4BENCH_AGENTS_DIR` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user, for `~/.m4bench/agents`. */
  readonly userHome: string;
  /** Folder with a `node_modules` that holds the CLIs; wins over the environment. */
  readonly agentsFolder?: string;
  /** Root of the root file system in which the agent will run, where there is one: its own CLIs come first. */
  readonly rootfs?: string;
}
