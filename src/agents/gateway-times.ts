import { z } from 'zod';
import { traceLines } from './trace-lines.js';
import { type ToolCall, type Transcript, type Turn, tokensSchema } from './transcript.js';

const exchangeSchema = z.object({
  startedAt: z.iso.datetime(),
  seconds: z.number().nonnegative(),
  model: z.string().nullable(),
  refusal: z.string().nullable(),
  failure: z.string().nullable(),
  tokens: tokensSchema.nullable(),
});

/** What is read of a line of `gateway.jsonl`. */
export type MeasuredExchange = z.infer<typeof exchangeSchema>;

/** The exchanges of a gateway log; lines that are none are left out, and a missing log is empty. */
export async function readMeasuredExchanges(logPath: string): Promise<readonly MeasuredExchange[]> {
  const exchanges: MeasuredExchange[] = [];
  for await (const record of traceLines(logPath)) {
    const exchange = exchangeSchema.safeParse(record);
    if (exchange.success) exchanges.push(exchange.data);
  }
  return exchanges;
}

/**
 * A transcript with the times and tokens that the gateway measured, turn by turn. Only done where the gateway saw as
 * many complete answers as the trace has turns; otherwise which belongs to which is not known, and the transcript
 * stays as it is.
 */
export function withGatewayTimes(transcript: Transcript, exchanges: readonly MeasuredExchange[]): Transcript {
  const answers = exchanges
    .filter(({ refusal, failure, tokens }) => refusal === null && failure === null && tokens !== null)
    .map((exchange) => ({ exchange, start: Date.parse(exchange.startedAt) }))
    .filter(({ start }) => Number.isFinite(start))
    .sort((a, b) => a.start - b.start);
  if (answers.length === 0 || answers.length !== transcript.turns.length) return transcript;
  const turns = transcript.turns.map((turn, index): Turn => {
    const { exchange, start } = answers[index]!;
    const next = answers[index + 1]?.start;
    const pause = next === undefined ? null : (next - start) / 1000 - exchange.seconds;
    return {
      ...turn,
      model: turn.model ?? exchange.model,
      startedAt: exchange.startedAt,
      seconds: rounded(exchange.seconds),
      tokens: exchange.tokens === null ? turn.tokens : { ...exchange.tokens },
      calls: callsWithin(turn.calls, pause),
    };
  });
  const first = answers[0]!;
  const last = answers.at(-1)!;
  const models = [
    ...new Set([...transcript.models, ...turns.flatMap(({ model }) => (model === null ? [] : [model]))]),
  ];
  return {
    ...transcript,
    models,
    turns,
    startedAt: transcript.startedAt ?? first.exchange.startedAt,
    seconds: transcript.seconds ?? rounded((last.start - first.start) / 1000 + last.exchange.seconds),
    timing: 'gateway',
  };
}

/** The time between two answers is that of the tool, where there is one only and the trace does not tell. */
function callsWithin(calls: readonly ToolCall[], pause: number | null): ToolCall[] {
  const isOne = calls.length === 1 && pause !== null && pause >= 0;
  return calls.map((call) => (isOne && call.seconds === null ? { ...call, seconds: rounded(pause) } : call));
}

function rounded(seconds: number): number {
  return Math.round(Math.max(0, seconds) * 1000) / 1000;
}
