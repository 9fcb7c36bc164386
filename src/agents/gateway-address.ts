import { M4BenchError } from '../support/errors.js';
import type { AgentRequest } from './agent.js';

/** What CLIs get where they insist on a key; the gateway takes it out and adds the real one. */
export const PLACEHOLDER_KEY = 'not-a-key';

/** For a CLI that signs in by itself: the gateway as the proxy of its connections. */
export function proxyEnvironment(
  agent: string,
  { gatewayUrl }: AgentRequest,
): Readonly<Record<string, string>> {
  if (gatewayUrl === undefined) throw gatewayMissing(agent);
  return { HTTPS_PROXY: gatewayUrl, https_proxy: gatewayUrl, NO_PROXY: '', no_proxy: '' };
}

/** Base URL of a provider's route at the gateway, without a version: `http://127.0.0.1:PORT/openai`. */
export function providerUrl(agent: string, request: AgentRequest, defaultProvider: string): string {
  if (request.gatewayUrl === undefined) throw gatewayMissing(agent);
  const provider = request.provider ?? defaultProvider;
  return `${request.gatewayUrl.replace(/\/$/, '')}/${encodeURIComponent(provider)}`;
}

function gatewayMissing(agent: string): M4BenchError {
  return new M4BenchError(
    'GATEWAY_MISSING',
    `The agent ${agent} needs a model, and no gateway was started for this run.`,
    'Configure a provider, or choose an agent without a model.',
    { party: 'internal' },
  );
}
