import type { TokenCounts } from '../agents/agent.js';

export type Protocol = 'openai-responses' | 'openai-chat' | 'anthropic-messages';

/** One upstream model service. The key stays in this process. */
export interface Provider {
  /** Route prefix inside: `http://127.0.0.1:PORT/<name>/…`. */
  readonly name: string;
  readonly baseUrl: string;
  /** Secret; never logged, never sent into a sandbox. */
  readonly apiKey: string;
  /** How the key travels. */
  readonly keyHeader: 'authorization-bearer' | 'x-api-key';
  readonly protocols: readonly Protocol[];
}

/** One line of `gateway.jsonl`. */
export interface GatewayExchange {
  readonly startedAt: string;
  readonly seconds: number;
  readonly provider: string | null;
  readonly protocol: Protocol | null;
  readonly method: string;
  readonly path: string;
  /** Host contacted, or null when the request was refused here. */
  readonly host: string | null;
  readonly model: string | null;
  readonly status: number;
  readonly refusal: string | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly tokens: TokenCounts | null;
  /** Provider-hosted tools that were removed from the request. */
  readonly hostedToolsRemoved: readonly string[];
  /** Names of planted skills whose description, or whose body, occurred in the request. */
  readonly skillsOffered: readonly string[];
  readonly skillsOpened: readonly string[];
}

export interface GatewaySummary {
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  readonly models: readonly string[];
  readonly tokens: TokenCounts;
  readonly hostedToolsRemoved: readonly string[];
  readonly skillsOffered: readonly string[];
  readonly skillsOpened: readonly string[];
  /** Seconds spent waiting for models. */
  readonly modelSeconds: number;
}
