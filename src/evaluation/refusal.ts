import { messageOf } from '../support/errors.js';
import type { EvaluationErrorKind } from './evaluation.js';

/** Why an output (or a reference) cannot be scored; becomes a verdict, never reaches a user as an exception. */
export class Refusal extends Error {
  constructor(
    readonly kind: EvaluationErrorKind,
    /** One sentence; may name columns, record numbers and sizes, never cell values. */
    reason: string,
  ) {
    super(reason);
    this.name = 'Refusal';
  }
}

/** Whether the engine needed more memory than it may use: then nothing is said about the file it was reading. */
export function isOutOfMemory(thrown: unknown): boolean {
  return /^Out of Memory Error/i.test(messageOf(thrown));
}

/** The class of an engine error ("Conversion Error") without the message, which may quote cells. */
export function errorClassOf(message: string): string {
  return /^[A-Za-z ]{1,40}Error/.exec(message)?.[0] ?? 'unexpected error';
}
