import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckSession } from '../duck/session.js';
import type { OutputContract } from '../tasks/task.js';
import { type EvaluatedOutput, type EvaluationRequest, evaluateOutput } from './evaluate.js';

/** A comparison in a test: file contents and the parts of the contract that matter to it. */
export interface ScoringCase {
  /** Contents of the reference CSV. */
  readonly truth: string | Uint8Array;
  /** Contents of the output file. */
  readonly output: string | Uint8Array;
  /** Default `k`. */
  readonly keys?: readonly string[];
  /** Headline columns, default `v`. */
  readonly values?: readonly string[];
  readonly required?: readonly string[];
  readonly scored?: readonly string[];
  readonly tolerance?: Readonly<Record<string, number>>;
  readonly coverage?: number;
  readonly accuracy?: number;
  readonly outputName?: string;
  readonly request?: Partial<EvaluationRequest>;
}

/** One engine session and one folder for all comparisons of a test file. */
export class ScoringFixture implements AsyncDisposable {
  private files = 0;

  private constructor(
    readonly session: DuckSession,
    readonly folder: string,
  ) {}

  /** One thread takes the least time for small tables. */
  static async open(threads = 1): Promise<ScoringFixture> {
    const folder = await mkdtemp(join(tmpdir(), 'm4bench-scoring-'));
    return new ScoringFixture(await DuckSession.open({ threads }), folder);
  }

  /** Writes a file of the folder and returns its path. */
  async write(name: string, content: string | Uint8Array): Promise<string> {
    this.files += 1;
    const path = join(this.folder, `${this.files}-${name}`);
    await writeFile(path, content);
    return path;
  }

  async evaluate(scoringCase: ScoringCase): Promise<EvaluatedOutput> {
    const referencePath = await this.write('truth.csv', scoringCase.truth);
    const outputPath = await this.write(scoringCase.outputName ?? 'output.csv', scoringCase.output);
    try {
      return await this.evaluateFiles(scoringCase, referencePath, outputPath);
    } finally {
      await Promise.all([rm(referencePath, { force: true }), rm(outputPath, { force: true })]);
    }
  }

  evaluateFiles(
    scoringCase: Omit<ScoringCase, 'truth' | 'output'>,
    referencePath: string,
    outputPath: string,
  ): Promise<EvaluatedOutput> {
    return evaluateOutput({
      task: { name: 'test-task', contract: contractOf(scoringCase) },
      dataset: 'mimic-iv-demo',
      outputPath,
      referencePath,
      session: this.session,
      ...scoringCase.request,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function contractOf({
  keys = ['k'],
  values = ['v'],
  required = [...keys, ...values],
  scored = values,
  tolerance = {},
  coverage = 0.95,
  accuracy = 0.9,
}: Omit<ScoringCase, 'truth' | 'output'>): OutputContract {
  return {
    keyColumns: keys,
    requiredColumns: required,
    valueColumns: values,
    scoredColumns: scored,
    tolerance,
    rowCoverageThreshold: coverage,
    accuracyThreshold: accuracy,
  };
}

/** CSV text from rows of cells; cells stand as they are, null is the empty field. */
export function csv(
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [header, ...rows].map((row) => `${row.map((cell) => cell ?? '').join(',')}\n`).join('');
}

/** CSV with columns `k` and `v`. */
export function keyed(
  ...rows: readonly (readonly [string | number | null, string | number | null])[]
): string {
  return csv(['k', 'v'], rows);
}
