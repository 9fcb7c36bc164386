/** Where long work reports; the command line shows a spinner on a terminal and plain lines elsewhere. */
export interface Progress {
  /** Replaces the current line of the running step. */
  update(text: string): void;
  /** A finished step, kept on screen. */
  done(text: string): void;
  /** Something the user should read, kept on screen. */
  warn(text: string): void;
}

/** Says nothing. */
export const silentProgress: Progress = { update: () => {}, done: () => {}, warn: () => {} };
