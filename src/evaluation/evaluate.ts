import { DuckSession } from '../duck/session.js';
import { messageOf } from '../support/errors.js';
import type { OutputContract, Task } from '../tasks/task.js';
import { checkPlain, csvSource } from './csv-source.js';
import { Deadline } from './deadline.js';
import { diagnose } from './diagnostics.js';
import type { Evaluation, EvaluationExamples } from './evaluation.js';
import { planKeys } from './key-plans.js';
import { defaultLimits, type EvaluationLimits } from './limits.js';
import { orderedColumnsOf } from './ordered-columns.js';
import { OpenedFile } from './output-file.js';
import type { ColumnPlan, Pairing } from './pairing.js';
import { parquetAsText } from './parquet-source.js';
import { openReference, type Truth } from './reference.js';
import { errorClassOf, isOutOfMemory, Refusal } from './refusal.js';
import { firstReading, type Score, scorePairing } from './score.js';
import { ScratchFolder } from './scratch-folder.js';
import { dropStoredTables, type SourceColumn, type TableSource } from './table-source.js';
import type { TruthColumn } from './truth-column.js';
import { failedEvaluation, type Subject, scoredEvaluation } from './verdict.js';

export interface EvaluationRequest {
  readonly task: Pick<Task, 'name' | 'contract'>;
  /** Name of the dataset that the reference was made from, recorded in the verdict. */
  readonly dataset: string | null;
  /** The file to judge: `.csv`, `.csv.gz` or `.parquet`, told apart by the end of its name. Hostile input. */
  readonly outputPath: string;
  /** Parquet from the lake, or a CSV or CSV.gz given by a user. */
  readonly referencePath: string;
  /** Leaves out mismatch kinds, confusion and examples. */
  readonly scoresOnly?: boolean;
  /** Bound of the engine's memory, default 1 GiB; beyond it data spill to a private folder. */
  readonly memoryBytes?: number;
  readonly threads?: number;
  readonly limits?: Partial<EvaluationLimits>;
  /** A session to work in, one evaluation at a time, for callers with many outputs; default is one of its own. */
  readonly session?: DuckSession;
}

export interface EvaluatedOutput {
  /** May be stored and published: holds no row of the output or the reference. */
  readonly evaluation: Evaluation;
  /** Rows, for a private file only (promise P7). */
  readonly examples: EvaluationExamples;
}

const noExamples: EvaluationExamples = { columns: {} };

/**
 * Judges one output against its reference. Published and robust score are always both computed.
 *
 * Never throws for anything that the output or the reference may be: a file that cannot be scored gets a verdict with
 * `errorKind` and a one-sentence reason. Rules and cases: docs/scoring.md.
 */
export async function evaluateOutput(request: EvaluationRequest): Promise<EvaluatedOutput> {
  const limits = { ...defaultLimits, ...request.limits };
  if (request.session !== undefined) return evaluateIn(request.session, request, limits);
  await using session = await DuckSession.open({
    memoryBytes: request.memoryBytes ?? 1024 ** 3,
    ...(request.threads === undefined ? {} : { threads: request.threads }),
  });
  return await evaluateIn(session, request, limits);
}

async function evaluateIn(
  session: DuckSession,
  request: EvaluationRequest,
  limits: EvaluationLimits,
): Promise<EvaluatedOutput> {
  const clock = new Deadline(session, limits.seconds);
  const state: Progress = {};
  try {
    return await evaluateWithin(session, request, limits, clock.signal, state);
  } catch (thrown) {
    const { kind, reason } = failureOf(clock.signal.aborted ? clock.signal.reason : thrown);
    const evaluation = failedEvaluation(subjectOf(request, state.truth), kind, reason, state.truth?.rows);
    return { evaluation, examples: noExamples };
  } finally {
    clock[Symbol.dispose]();
    if (request.session !== undefined) await dropStoredTables(session).catch(() => {});
  }
}

/** The output, opened and (a CSV file) looked through while other work goes on. */
class OpeningOutput implements AsyncDisposable {
  readonly opened: Promise<{ readonly file: OpenedFile; readonly plain?: ReturnType<typeof checkPlain> }>;

  constructor(path: string, maxBytes: number, signal: AbortSignal) {
    this.opened = OpenedFile.open(path, maxBytes, signal).then((file) => {
      if (/\.(parquet|gz)$/.test(path)) return { file };
      const plain = checkPlain(file);
      plain.catch(() => {});
      return { file, plain };
    });
    this.opened.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { file, plain } = await this.opened.catch(() => ({ file: undefined, plain: undefined }));
    await plain?.catch(() => {});
    await file?.[Symbol.asyncDispose]();
  }
}

/** What is known when an evaluation fails midway. */
interface Progress {
  truth?: Truth;
}

function subjectOf({ task, dataset }: EvaluationRequest, truth: Truth | undefined): Subject {
  const orderedColumns = truth === undefined ? 0 : orderedColumnsOf(task.contract, truth.columns).size;
  return { task: task.name, dataset, contract: task.contract, orderedColumns };
}

function failureOf(thrown: unknown): { readonly kind: Refusal['kind']; readonly reason: string } {
  if (thrown instanceof Refusal) return { kind: thrown.kind, reason: thrown.message };
  // Engine messages may quote cells, so no more than the kind of error is told.
  const message = messageOf(thrown);
  if (isOutOfMemory(thrown) || /^IO Error/i.test(message)) {
    return {
      kind: 'limit-exceeded',
      reason: 'Scoring the output needs more memory or disk than it may use.',
    };
  }
  return { kind: 'evaluator-failed', reason: `The output could not be scored: ${errorClassOf(message)}.` };
}

async function evaluateWithin(
  session: DuckSession,
  request: EvaluationRequest,
  limits: EvaluationLimits,
  signal: AbortSignal,
  state: Progress,
): Promise<EvaluatedOutput> {
  const { contract } = request.task;
  await using scratch = new ScratchFolder();
  // Begun at once, so that a large file is looked through while the engine reads the reference; its faults are told
  // after the reference's own.
  await using opening = new OpeningOutput(request.outputPath, limits.fileBytes, signal);
  const values = [...new Set([...contract.scoredColumns, ...contract.valueColumns])];
  const truth = await openReference({
    session,
    path: request.referencePath,
    keyColumns: contract.keyColumns,
    valueColumns: values,
    limits,
    scratch,
  });
  state.truth = truth;
  const { file, plain } = await opening.opened;
  const wanted = new Set([...contract.keyColumns, ...values]);
  const output = request.outputPath.endsWith('.parquet')
    ? await parquetAsText(session, file, wanted, limits)
    : await csvSource({
        session,
        file,
        ...(plain === undefined ? {} : { plain }),
        isGzip: request.outputPath.endsWith('.gz'),
        wanted,
        limits,
        scratch,
      });
  signal.throwIfAborted();
  refuseUnusableHeader(contract, output);
  const scales = orderedColumnsOf(contract, truth.columns);
  const score = await scoreOutput(session, contract, truth, output, scales);
  const evaluation = scoredEvaluation(subjectOf(request, truth), {
    header: output.header,
    score,
    truthRows: truth.rows,
    orderedErrors: orderedErrorsOf(score, scales),
  });
  if (request.scoresOnly === true) return { evaluation, examples: noExamples };
  const keyTruths = contract.keyColumns.map((name) => truth.columns.get(name) as TruthColumn);
  const { examples, ...counts } = await diagnose(session, score, keyTruths, contract.scoredColumns);
  return { evaluation: { ...evaluation, ...counts }, examples };
}

function refuseUnusableHeader({ keyColumns }: OutputContract, { columns }: TableSource): void {
  const absent = keyColumns.filter((name) => !columns.has(name));
  if (absent.length > 0) {
    throw new Refusal('key-column-missing', `The output lacks key column ${absent.join(', ')}.`);
  }
}

async function scoreOutput(
  session: DuckSession,
  contract: OutputContract,
  truth: Truth,
  output: TableSource,
  scales: ReadonlyMap<string, number>,
): Promise<Score> {
  const truthColumn = (name: string) => truth.columns.get(name) as TruthColumn;
  const keyCells = contract.keyColumns.map((name) => output.columns.get(name) as SourceColumn);
  const plans = await planKeys(session, contract.keyColumns.map(truthColumn), output, keyCells);
  const names = [...new Set([...contract.scoredColumns, ...scales.keys()])];
  const columns = names.flatMap((name): ColumnPlan[] => {
    const cell = plans.output.columns.get(name);
    const column = truthColumn(name);
    const tolerance = Number(contract.tolerance[name] ?? 0) || 0;
    return cell === undefined
      ? []
      : [{ truth: column, cell, tolerance, reading: firstReading(column), scale: scales.get(name) ?? null }];
  });
  const pairing: Pairing = { truth: truth.source, output: plans.output, keys: plans.keys, columns };
  const score = await scorePairing(session, pairing, plans, truth.rows);
  const clash = contract.scoredColumns.find((name) => output.header.includes(`${name}_truth`));
  if (clash === undefined || score.published.error !== null) return score;
  const reason = `The output has a column ${clash}_truth, which the published join takes for the reference's ${clash}.`;
  return { ...score, published: { ...score.published, error: { kind: 'column-name-clash', reason } } };
}

/** Sum of the mean errors of the ordered columns over the pairs; a column that the output lacks counts 1. */
function orderedErrorsOf(score: Score, scales: ReadonlyMap<string, number>): number | null {
  if (score.keysInTruth === 0) return null;
  let sum = 0;
  for (const name of scales.keys()) {
    const i = score.pairing.columns.findIndex(({ truth }) => truth.name === name);
    sum += i < 0 ? 1 : (score.columns[i]?.orderedError ?? 0) / score.keysInTruth;
  }
  return sum;
}
