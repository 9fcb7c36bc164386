/** A root file system on this machine. */
export interface RootfsPlace {
  readonly root: string;
  /** Folder in it that holds a folder for each agent, with a `node_modules`. */
  readonly agentsFolder: string;
}

/** What agents need to know of the machine; passed in, never read from the process. */
export interface AgentSettings {
  /** Environment of the benchmark process: `PATH` and `M4BENCH_AGENTS_DIR` are read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Home folder of the user, for `~/.m4bench/agents`. */
  readonly userHome: string;
  /** Folder with a `node_modules` that holds the CLIs; wins over the environment. */
  readonly agentsFolder?: string;
  /** The root file system in which the agent will run, where there is one: its own CLIs come first. */
  readonly rootfs?: RootfsPlace;
}
