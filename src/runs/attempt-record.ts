import { sha256 } from '../support/hashing.js';
import type { RunEnvironment } from './attempt.js';
import type { PreparedCell } from './prepare.js';
import type { Attempt } from './result.js';

/** An attempt of which nothing is known yet but what was asked. */
export function emptyAttempt(
  n: number,
  startedAt: string,
  prepared: PreparedCell,
  environment: RunEnvironment,
): Attempt {
  return {
    schemaVersion: 1,
    n,
    startedAt,
    seconds: { total: 0, setup: 0, agent: 0, model: 0, evaluation: 0 },
    class: 'infrastructure',
    failureReason: null,
    outcome: null,
    observed: {
      cliVersion: prepared.request.cliVersion,
      cliSource: prepared.request.cliSource ?? null,
      models: [],
      overrides: [],
      backgroundModels: [],
      backgroundTurns: 0,
      routing: [],
      localModel: null,
    },
    gateway: null,
    tokens: null,
    agentTokens: null,
    skill: {
      placed: prepared.context.skills.map((skill) => skill.name),
      offered: [],
      opened: [],
      source: environment.login === undefined ? 'gateway' : 'attested',
    },
    hostedToolsRemoved: [],
    cost: null,
    replay: null,
    login: null,
    allowedHosts:
      environment.login === undefined
        ? environment.providers.map(({ baseUrl }) => new URL(baseUrl).host)
        : [...(prepared.request.agent.login?.hosts ?? [])],
    integrity: { canaries: null, lint: null, egress: null, hostedToolCalls: [] },
    limits: { asked: { ...environment.limits }, enforced: [...environment.sandbox.enforcedLimits()] },
    files: { copied: [], refused: [] },
    hashes: {
      output: null,
      trace: null,
      gateway: null,
      instruction: sha256(prepared.context.instruction),
      evaluation: null,
      stderr: null,
      canary: null,
      lint: null,
      transcript: null,
      egress: null,
    },
    reward: null,
  };
}
