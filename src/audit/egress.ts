import { z } from 'zod';
import type { GatewayExchange } from '../gateway/gateway-types.js';

const exchangeSchema = z.custom<GatewayExchange>((value) => {
  if (typeof value !== 'object' || value === null) return false;
  const line = value as Partial<Record<keyof GatewayExchange, unknown>>;
  return (
    typeof line.status === 'number' &&
    (line.host === null || typeof line.host === 'string') &&
    (line.refusal === null || typeof line.refusal === 'string') &&
    (line.failure === null || typeof line.failure === 'string') &&
    Array.isArray(line.hostedToolsRemoved)
  );
});

/** The lines of `gateway.jsonl`; undefined where one of them is no exchange. */
export function exchangesOf(text: string): readonly GatewayExchange[] | undefined {
  const exchanges: GatewayExchange[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      const parsed = exchangeSchema.safeParse(JSON.parse(line));
      if (!parsed.success) return undefined;
      exchanges.push(parsed.data);
    } catch {
      return undefined;
    }
  }
  return exchanges;
}

/** What the log of a run says about where bytes went. */
export interface EgressReading {
  readonly passed: boolean;
  readonly problems: readonly string[];
}

/**
 * Judges where a run's bytes went. The gateway is the only way out, so its log is complete; an exchange that was
 * forwarded must have gone to a host of a configured provider, by a known protocol. What was refused went nowhere
 * and is no violation: CLIs look for updates and send telemetry by themselves. A run that used a model and has no
 * log cannot be vouched for.
 */
export function egressOf(
  text: string | undefined,
  allowedHosts: readonly string[],
  needsModel: boolean,
): EgressReading {
  if (text === undefined || text === '') {
    return needsModel
      ? { passed: false, problems: ['the gateway has no log of a run that needs a model'] }
      : { passed: true, problems: [] };
  }
  const exchanges = exchangesOf(text);
  if (exchanges === undefined) return { passed: false, problems: ["the gateway's log is damaged"] };
  const problems = new Set<string>();
  for (const { host, protocol, refusal } of exchanges) {
    if (host === null) {
      if (refusal === null) continue;
    } else if (!allowedHosts.includes(host)) problems.add(`bytes went to ${host}, which no provider has`);
    else if (protocol === null) problems.add(`bytes went to ${host} by no known protocol`);
  }
  return { passed: problems.size === 0, problems: [...problems].sort() };
}
