import { z } from 'zod';
import type { TokenCounts, TraceReading } from './agent.js';

/** Trace formats that can be read, by the agent that writes them; `text` is anything without structure. */
export const traceFormatSchema = z.enum(['codex', 'claude', 'gemini', 'pi', 'opencode', 'basic', 'text']);
export type TraceFormat = z.infer<typeof traceFormatSchema>;

const count = z.number().int().nonnegative();

/** Tokens in the terms of the gateway. */
export const tokensSchema = z.object({
  /** Everything that was sent, cached or not. */
  input: count,
  /** Part of `input` read from the provider's cache. */
  cachedInput: count,
  /** Part of `input` written to the provider's cache. */
  cacheWrite: count,
  /** Everything that was generated, reasoning included. */
  output: count,
  /** Part of `output`. */
  reasoning: count,
});

/** Tokens of one turn; null where the trace does not say (Claude Code states the output in the end only). */
const turnTokensSchema = tokensSchema.extend({ output: count.nullable(), reasoning: count.nullable() });
export type TurnTokens = z.infer<typeof turnTokensSchema>;

/** One use of a tool. */
const toolCallSchema = z.object({
  /** The CLI's own name of the tool. */
  tool: z.string(),
  /** The shell command, or null when the tool is no shell. */
  command: z.string().nullable(),
  /** Arguments as the model gave them, as JSON text; empty for a shell command without further arguments. */
  input: z.string(),
  /** What the model got back, or null when the trace ends before. */
  output: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  /** `unanswered`: the trace ends before the result. */
  status: z.enum(['completed', 'failed', 'unanswered']),
  startedAt: z.string().nullable(),
  seconds: z.number().nonnegative().nullable(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** One reply of a model: what it thought and said, and the tools it then used. */
const turnSchema = z.object({
  model: z.string().nullable(),
  startedAt: z.string().nullable(),
  /** Time until the reply was complete, without the tools. */
  seconds: z.number().nonnegative().nullable(),
  tokens: turnTokensSchema.nullable(),
  reasoning: z.string(),
  text: z.string(),
  calls: z.array(toolCallSchema),
});
export type Turn = z.infer<typeof turnSchema>;

/**
 * `transcript.json`: what any agent's trace says, in one shape. Everything in it is the agent's own word, cut to
 * bounds (`damage.cutTexts` counts the cuts), and times are ISO 8601 in UTC.
 */
export const transcriptSchema = z.object({
  schemaVersion: z.literal(1),
  format: traceFormatSchema,
  cliVersion: z.string().nullable(),
  /** Every model that the trace names, in order of appearance. */
  models: z.array(z.string()),
  /** Skills that the CLI says it knows, its own included; empty where it does not say. */
  skills: z.array(z.string()),
  startedAt: z.string().nullable(),
  seconds: z.number().nonnegative().nullable(),
  turns: z.array(turnSchema),
  /** As the CLI states them in the end; null when it was cut. */
  tokens: tokensSchema.nullable(),
  /** The agent's last words. */
  finalText: z.string().nullable(),
  errors: z.array(z.string()),
  /** How the CLI says that it ended; `unstated`: it does not say, as when it was cut off. */
  ending: z.enum(['completed', 'failed', 'unstated']),
  /** Where the times of turns come from: the trace, the gateway's log, or nowhere. */
  timing: z.enum(['trace', 'gateway', 'none']),
  damage: z.object({
    /** Lines that are no JSON objects: cut, broken, overlong or foreign. */
    unreadableLines: count,
    /** Events of a kind that this version does not know. */
    unknownEvents: count,
    /** Texts that were shortened. */
    cutTexts: count,
  }),
});
export type Transcript = z.infer<typeof transcriptSchema>;

const MAX_COMMAND = 2_000;

/** The summary of a transcript that goes into an attempt. */
export function readingOf(transcript: Transcript): TraceReading {
  const tokens: TokenCounts | null = transcript.tokens;
  return {
    ...(tokens === null ? {} : { tokens }),
    models: transcript.models,
    turns: transcript.turns.length,
    commands: transcript.turns
      .flatMap((turn) => turn.calls)
      .flatMap(({ command }) => (command === null ? [] : [command.slice(0, MAX_COMMAND)])),
    errors: transcript.errors,
  };
}
