import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/support/home.js';

/** One fenced block of a page. */
export interface Block {
  /** Relative to the repository. */
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** From a comment `<!-- not run: … -->` right above; why the test does not run it. */
  readonly notRun: string | undefined;
}

/** Pages that are written by hand, in the order in which their commands are run: the first one makes the data. */
export function pages(): readonly string[] {
  const docs = readdirSync(join(packageRoot(), 'docs')).filter((name) => name.endsWith('.md'));
  const all = ['README.md', 'CONTRIBUTING.md', ...docs.sort().map((name) => `docs/${name}`)];
  return ['docs/start.md', ...all.filter((page) => page !== 'docs/start.md')];
}

/** The fenced blocks of a page. */
export function blocksOf(page: string): readonly Block[] {
  const lines = readFileSync(join(packageRoot(), page), 'utf8').split('\n');
  const blocks: Block[] = [];
  let open: { readonly at: number; readonly language: string } | undefined;
  for (const [at, line] of lines.entries()) {
    const fence = /^```(\w*)\s*$/.exec(line);
    if (fence === null) continue;
    if (open === undefined) open = { at, language: fence[1]! };
    else {
      const reason = /^<!-- not run: (.+) -->$/.exec(lines[open.at - 1] ?? '')?.[1];
      const text = lines.slice(open.at + 1, at).join('\n');
      blocks.push({ page, line: open.at + 1, language: open.language, text, notRun: reason });
      open = undefined;
    }
  }
  return blocks;
}
