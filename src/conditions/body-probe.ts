import { M4BenchError } from '../support/errors.js';

/** Plain characters only, so that the line stays recognisable inside JSON and behind line numbers. */
const plainLine = /^[A-Za-z0-9 .,;:()/+<>=%*-]+$/;
const shortest = 40;

/**
 * A line of a skill body by which a request shows that the agent opened the skill: the first one of at least 40
 * plain characters that occurs nowhere else in what the agent is given anyway.
 */
export function bodyProbe(body: string, name: string, givenElsewhere: readonly string[]): string {
  const found = body
    .split('\n')
    .map((line) => line.trim())
    .find(
      (line) =>
        line.length >= shortest &&
        plainLine.test(line) &&
        !givenElsewhere.some((text) => text.includes(line)),
    );
  if (found !== undefined) return found;
  throw new M4BenchError(
    'SKILL_INVALID',
    `The skill ${name} has no line of ${shortest} plain characters by which its use could be recognised.`,
    'Write at least one sentence of its own into the skill.',
  );
}
