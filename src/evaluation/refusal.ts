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

/** A name from a hostile file, shortened and without control characters, for use in a reason. */
export function shownName(name: string): string {
  const shown = [...name.slice(0, 60)].map((character) => (character < ' ' ? '?' : character)).join('');
  return `"${shown}${name.length > 60 ? '…' : ''}"`;
}
