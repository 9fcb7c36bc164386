import { z } from 'zod';

/** Token counts that the server states for one reply. */
export interface StatedUsage {
  readonly input: number;
  /** Part of `input` that was read from a cache. */
  readonly cachedInput: number;
  readonly output: number;
  /** Part of `output` spent on reasoning. */
  readonly reasoning: number;
}

const usageSchema = z.strictObject({
  input: z.int().nonnegative(),
  cachedInput: z.int().nonnegative().default(0),
  output: z.int().nonnegative(),
  reasoning: z.int().nonnegative().default(0),
});

const stepSchema = z.union([
  z.strictObject({ shell: z.string(), message: z.string().optional(), usage: usageSchema.optional() }),
  z.strictObject({ message: z.string(), usage: usageSchema.optional() }),
  z.strictObject({ fail: z.int().min(400).max(599), retryAfterSeconds: z.number().optional() }),
  z.strictObject({ delaySeconds: z.number().nonnegative() }),
  z.strictObject({ disconnect: z.literal(true) }),
]);

/** What the scripted model does, one entry a reply (a delay belongs to the reply that follows it). */
export const scenarioSchema = z.array(stepSchema);

/**
 * One step of a scenario:
 * - `shell`: call the client's shell tool with this command (`message`: text said before it);
 * - `message`: say this and end the turn;
 * - `fail`: answer one request with this HTTP status;
 * - `delaySeconds`: wait before the next step's answer;
 * - `disconnect`: break the connection in the middle of one answer.
 */
export type Step = z.input<typeof stepSchema>;
export type Scenario = readonly Step[];
/** A scenario whose steps were checked and completed. */
export type CheckedScenario = z.output<typeof scenarioSchema>;

/** Call ids carry the step they belong to, so that the position is read off the request and runs never mix. */
const CALL_PREFIX = 'call_step';

/** The id of the tool call of a step; `poll` counts the follow-ups of a command that is still running. */
export function callIdFor(step: number, poll: number): string {
  return `${CALL_PREFIX}${step}x${poll}`;
}

/** Step and poll number of a call id made by `callIdFor`, or undefined. */
export function positionOf(callId: string): { readonly step: number; readonly poll: number } | undefined {
  if (!callId.startsWith(CALL_PREFIX)) return undefined;
  const [step, poll] = callId.slice(CALL_PREFIX.length).split('x').map(Number);
  return Number.isInteger(step) && Number.isInteger(poll) ? { step: step!, poll: poll! } : undefined;
}

/** What a protocol reads from a request. */
export interface ModelRequest {
  readonly model: string;
  readonly isStreaming: boolean;
  /** Names of the client's own tools, and types of tools without a name (hosted ones). */
  readonly tools: readonly string[];
  /** Ids of the tool calls that the client has answered, in order. */
  readonly answeredCalls: readonly string[];
  readonly lastToolOutput: string | undefined;
  /** Tells two conversations with the same model name apart, as far as the request allows. */
  readonly conversation: string;
}

/** What the server answers; a protocol turns it into its own events. */
export type Turn =
  | { readonly kind: 'fail'; readonly status: number; readonly retryAfterSeconds: number | undefined }
  | { readonly kind: 'disconnect' }
  | {
      readonly kind: 'reply';
      readonly text: string | undefined;
      readonly call:
        | { readonly id: string; readonly command: string; readonly session: number | undefined }
        | undefined;
      readonly usage: StatedUsage;
    };

export interface PlayedTurn {
  readonly turn: Turn;
  readonly step: number;
  readonly delaySeconds: number;
}

/** Distinct numbers per step, so that a sum shows which replies were counted. */
export function usageOfStep(step: number): StatedUsage {
  return { input: 1000 + 100 * step, cachedInput: 10 * step, output: 50 + step, reasoning: 5 + step };
}

/** Steps that leave no mark in the conversation, by conversation: they are played once each. */
export type SpentSteps = Map<string, Set<number>>;

/** Decides the answer to a request. Marks the failures and delays it plays in `spent`. */
export function play(scenario: CheckedScenario, request: ModelRequest, spent: SpentSteps): PlayedTurn {
  const positions = request.answeredCalls.map(positionOf).filter((position) => position !== undefined);
  const last = positions.at(-1);
  const session = runningSession(request.lastToolOutput);
  if (last !== undefined && session !== undefined) {
    const call = { id: callIdFor(last.step, last.poll + 1), command: '', session };
    const turn: Turn = { kind: 'reply', text: undefined, call, usage: usageOfStep(last.step) };
    return { turn, step: last.step, delaySeconds: 0 };
  }
  const played = spent.get(request.conversation) ?? new Set<number>();
  spent.set(request.conversation, played);
  let delaySeconds = 0;
  for (let step = (last?.step ?? -1) + 1; step < scenario.length; step += 1) {
    const entry = scenario[step]!;
    if ('delaySeconds' in entry) {
      if (!played.has(step)) delaySeconds += entry.delaySeconds;
      played.add(step);
    } else if ('fail' in entry || 'disconnect' in entry) {
      if (played.has(step)) continue;
      played.add(step);
      const turn: Turn =
        'fail' in entry
          ? { kind: 'fail', status: entry.fail, retryAfterSeconds: entry.retryAfterSeconds }
          : { kind: 'disconnect' };
      return { turn, step, delaySeconds };
    } else {
      return { turn: replyFor(entry, step), step, delaySeconds };
    }
  }
  const end: Turn = {
    kind: 'reply',
    text: 'The scenario is over.',
    call: undefined,
    usage: usageOfStep(scenario.length),
  };
  return { turn: end, step: scenario.length, delaySeconds };
}

function replyFor(
  entry: Extract<CheckedScenario[number], { shell: string } | { message: string }>,
  step: number,
): Turn {
  const call =
    'shell' in entry ? { id: callIdFor(step, 0), command: entry.shell, session: undefined } : undefined;
  return { kind: 'reply', text: entry.message, call, usage: entry.usage ?? usageOfStep(step) };
}

/** The session number in the output of a command that outlived its tool call (Codex says it in words). */
function runningSession(output: string | undefined): number | undefined {
  const match = output?.match(/Process running with session ID (\d+)/);
  return match ? Number(match[1]) : undefined;
}
