import { join } from 'node:path';
import { z } from 'zod';
import { traceLines } from '../agents/trace-lines.js';

const text = z.string().catch('');
const textOrNull = z.string().nullable().catch(null);
const numberOrNull = z.number().nullable().catch(null);

/** What is shown of a line of `gateway.jsonl`; a field of another type is shown as missing. */
const exchangeSchema = z.object({
  startedAt: text,
  seconds: numberOrNull,
  host: textOrNull,
  method: text,
  path: text,
  model: textOrNull,
  status: numberOrNull,
  refusal: textOrNull,
  failure: textOrNull,
  requestBytes: numberOrNull,
  responseBytes: numberOrNull,
  tokens: z.object({ input: z.number(), output: z.number() }).nullable().catch(null),
  skillsOpened: z.array(z.string()).catch([]),
});

export interface GatewayLog {
  readonly exchanges: readonly z.infer<typeof exchangeSchema>[];
  readonly unreadable: number;
  /** Exchanges beyond what a page can hold. */
  readonly leftOut: number;
}

const mostExchanges = 5_000;

/** The exchanges of an attempt; a missing log has none. */
export async function readGatewayLog(attemptFolder: string): Promise<GatewayLog> {
  const exchanges: z.infer<typeof exchangeSchema>[] = [];
  let [unreadable, leftOut] = [0, 0];
  for await (const record of traceLines(join(attemptFolder, 'gateway.jsonl'))) {
    const parsed = exchangeSchema.safeParse(record);
    if (!parsed.success) unreadable += 1;
    else if (exchanges.length < mostExchanges) exchanges.push(parsed.data);
    else leftOut += 1;
  }
  return { exchanges, unreadable, leftOut };
}
