import { z } from 'zod';
import type { TokenCounts, TraceReading } from './agent.js';
import { type TraceRecord, traceRecords } from './trace-lines.js';

const MAX_COMMANDS = 5_000;
const MAX_ERRORS = 200;
const MAX_MODELS = 20;
const MAX_TEXT = 2_000;

const count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER).catch(0);
const text = z.string().optional().catch(undefined);

/** The parts of an event of `codex exec --json` that are read; everything else may be anything. */
const eventSchema = z.object({
  type: z.string().catch(''),
  model: text,
  model_id: text,
  message: text,
  error: z.object({ message: text }).optional().catch(undefined),
  usage: z
    .object({
      input_tokens: count,
      cached_input_tokens: count,
      cache_write_input_tokens: count,
      output_tokens: count,
      reasoning_output_tokens: count,
    })
    .optional()
    .catch(undefined),
  item: z
    .object({ id: text, type: z.string().catch(''), command: text, message: text })
    .optional()
    .catch(undefined),
});
type Event = z.infer<typeof eventSchema>;

interface Gathered {
  tokens: TokenCounts | undefined;
  turns: number;
  readonly models: Set<string>;
  /** By item id: an item starts and completes in two events, and a cut trace has the first only. */
  readonly commands: Map<string, string>;
  readonly errors: string[];
}

/**
 * Reads what `codex exec --json` printed. Usage is stated once a turn (`turn.completed`), as the sum over the
 * turn's requests; a run that was cut has none. Retry notices count as errors: they tell of provider trouble.
 */
export async function readCodexTrace(tracePath: string): Promise<TraceReading> {
  const gathered: Gathered = {
    tokens: undefined,
    turns: 0,
    models: new Set(),
    commands: new Map(),
    errors: [],
  };
  for await (const record of traceRecords(tracePath)) gather(gathered, record);
  return {
    ...(gathered.tokens === undefined ? {} : { tokens: gathered.tokens }),
    models: [...gathered.models],
    turns: gathered.turns,
    commands: [...gathered.commands.values()],
    errors: gathered.errors,
  };
}

function gather(gathered: Gathered, record: TraceRecord): void {
  const event = eventSchema.parse(record);
  switch (event.type) {
    case 'thread.started': {
      const model = event.model ?? event.model_id;
      if (model && gathered.models.size < MAX_MODELS) gathered.models.add(model.slice(0, MAX_TEXT));
      break;
    }
    case 'turn.completed':
      gathered.turns += 1;
      if (event.usage !== undefined) gathered.tokens = sum(gathered.tokens, event.usage);
      break;
    case 'turn.failed':
      // Repeats the error event before it.
      if (gathered.errors.at(-1) !== shown(event.error?.message)) addError(gathered, event.error?.message);
      break;
    case 'error':
      addError(gathered, event.message);
      break;
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      gatherItem(gathered, event);
      break;
  }
}

function gatherItem(gathered: Gathered, { type, item }: Event): void {
  if (item?.type === 'error' && type === 'item.completed') addError(gathered, item.message);
  if (item?.type !== 'command_execution' || item.command === undefined) return;
  const id = item.id ?? `unnamed ${gathered.commands.size}`;
  if (gathered.commands.has(id) || gathered.commands.size < MAX_COMMANDS)
    gathered.commands.set(id, item.command.slice(0, MAX_TEXT));
}

function sum(before: TokenCounts | undefined, usage: NonNullable<Event['usage']>): TokenCounts {
  return {
    input: (before?.input ?? 0) + usage.input_tokens,
    cachedInput: (before?.cachedInput ?? 0) + usage.cached_input_tokens,
    cacheWrite: (before?.cacheWrite ?? 0) + usage.cache_write_input_tokens,
    output: (before?.output ?? 0) + usage.output_tokens,
    reasoning: (before?.reasoning ?? 0) + usage.reasoning_output_tokens,
  };
}

function addError(gathered: Gathered, message: string | undefined): void {
  const error = shown(message);
  if (error !== undefined && gathered.errors.length < MAX_ERRORS) gathered.errors.push(error);
}

function shown(text: string | undefined): string | undefined {
  return text?.slice(0, MAX_TEXT);
}
