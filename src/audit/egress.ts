import { z } from 'zod';
import type { GatewayExchange } from '../gateway/gateway-types.js';
import { isAllowedHost, type Tunnel } from '../gateway/tunnels.js';

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

const tunnelSchema = z.object({
  startedAt: z.string(),
  seconds: z.number(),
  host: z.string(),
  port: z.number(),
  refusal: z.string().nullable(),
  failure: z.enum(['unreachable', 'timeout', 'broke-off']).nullable(),
  sentBytes: z.number(),
  receivedBytes: z.number(),
});

/** The lines of `egress.jsonl`; undefined where one of them is no tunnel. */
export function tunnelsOf(text: string): readonly Tunnel[] | undefined {
  const tunnels: Tunnel[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      const parsed = tunnelSchema.safeParse(JSON.parse(line));
      if (!parsed.success) return undefined;
      tunnels.push(parsed.data);
    } catch {
      return undefined;
    }
  }
  return tunnels;
}

function tunnelProblems(text: string | undefined, allowedHosts: readonly string[]): readonly string[] {
  if (text === undefined || text === '')
    return ['there is no log of the tunnels of a run that needs a model'];
  const tunnels = tunnelsOf(text);
  if (tunnels === undefined) return ['the log of tunnels is damaged'];
  return tunnels
    .filter((tunnel) => tunnel.sentBytes > 0 || tunnel.refusal === null)
    .filter(
      ({ host, port, refusal }) => refusal !== null || port !== 443 || !isAllowedHost(host, allowedHosts),
    )
    .map(({ host, port }) => `bytes went through a tunnel to ${host}:${port}, which is not the provider's`);
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
  login?: { readonly log: string | undefined },
): EgressReading {
  if (login !== undefined) {
    // The CLI's model requests are inside the tunnels; what else it asked of the gateway is judged as ever.
    const asked = text === '' ? undefined : text;
    const problems = [...tunnelProblems(login.log, allowedHosts), ...egressOf(asked, [], false).problems];
    return { passed: problems.length === 0, problems: [...new Set(problems)].sort() };
  }
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
