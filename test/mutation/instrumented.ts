import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import type { Plugin } from 'vitest/config';

/** One mutant of Stryker's instrumenter. Lines and columns count from 1. */
export interface JudgedMutant {
  readonly id: string;
  readonly file: string;
  readonly mutator: string;
  readonly line: number;
  readonly column: number;
  readonly original: string;
  readonly replacement: string;
  /** Reason of a `Stryker disable` comment. */
  readonly ignored?: string;
}

const silent = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: () => {},
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  fatal: () => {},
};

/** Sources of one folder of `src/` that are mutated, absolute paths. */
export function mutatedFiles(root: string, folder: string): readonly string[] {
  return readdirSync(path.join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => !/(\.test|\.fixture|scoring-fixture|published-case)\.ts$/.test(file))
    .sort()
    .map((file) => path.join(root, 'src', folder, file));
}

/** Every mutant of the files (absolute paths), and a plugin that loads the files with all of them behind switches. */
export async function instrumented(
  root: string,
  files: readonly string[],
): Promise<{ readonly mutants: readonly JudgedMutant[]; readonly plugin: Plugin }> {
  const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
  const result = await new Instrumenter(silent).instrument(
    [...sources].map(([name, content]) => ({ name, content, mutate: true })),
    { plugins: null, excludedMutations: [], ignorers: [] },
  );
  const code = new Map(result.files.map((file) => [file.name, withFastSwitches(file.content)]));
  const mutants = result.mutants.map((mutant) => {
    const { start, end } = mutant.location;
    return {
      id: mutant.id,
      file: path.relative(root, mutant.fileName),
      mutator: mutant.mutatorName,
      line: start.line + 1,
      column: start.column + 1,
      original: textBetween(sources.get(mutant.fileName)!, start, end),
      replacement: mutant.replacement,
      ...(mutant.status === 'Ignored' ? { ignored: mutant.statusReason ?? '' } : {}),
    };
  });
  const plugin: Plugin = {
    name: 'mutants',
    enforce: 'pre',
    load: (id) => code.get(id.split('?')[0]!),
  };
  return { mutants, plugin };
}

/**
 * Stryker's switches look up texts and count in nested records, which makes a bootstrap tens of times slower. Here a
 * switch compares two numbers; `judge-runner.ts` holds the record that they ask.
 */
function withFastSwitches(code: string): string {
  return code
    .replaceAll(/stryMutAct_9fa48\("(\d+)"\)/g, '(m4Switches.active === $1 && m4Switches.hit())')
    .replaceAll(/stryCov_9fa48\(((?:"\d+"(?:, )?)+)\)/g, (_, ids: string) => {
      return `(m4Switches.counts !== undefined && m4Switches.count(${ids.replaceAll('"', '')}))`;
    })
    .replace(/^/, 'const m4Switches = globalThis.m4Switches;\n');
}

interface Position {
  readonly line: number;
  readonly column: number;
}

function textBetween(source: string, start: Position, end: Position): string {
  const lines = source.split('\n').slice(start.line, end.line + 1);
  lines[lines.length - 1] = lines.at(-1)!.slice(0, end.column);
  lines[0] = lines[0]!.slice(start.column);
  return lines.join('\n');
}
