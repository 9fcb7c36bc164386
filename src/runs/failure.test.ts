import { describe, expect, test } from 'vitest';
import type { GatewaySummary } from '../gateway/gateway-types.js';
import type { CommandOutcome } from '../sandboxes/sandbox.js';
import { isRateLimited, verdictOf } from './failure.js';

const clean: CommandOutcome = {
  exitCode: 0,
  signal: null,
  endedBy: null,
  seconds: 10,
  stdoutBytes: 0,
  stderrBytes: 0,
};

function gateway(changes: Partial<GatewaySummary>): GatewaySummary {
  return {
    requests: 5,
    refused: 0,
    failed: 0,
    models: ['m'],
    tokens: { input: 1, cachedInput: 0, cacheWrite: 0, output: 1, reasoning: 0 },
    hostedToolsRemoved: [],
    skillsOffered: [],
    skillsOpened: [],
    modelSeconds: 1,
    lastServiceFailure: null,
    ...changes,
  } as GatewaySummary;
}

const verdict = (
  outcome: Partial<CommandOutcome>,
  hasOutput: boolean,
  summary: GatewaySummary | undefined = gateway({}),
): string =>
  verdictOf({
    needsModel: summary !== undefined,
    outcome: { ...clean, ...outcome },
    gateway: summary,
    hasOutput,
  }).class;

describe('whose loss an attempt is', () => {
  test('an output after a clean end is judged, whatever happened to the model service on the way', () => {
    expect(verdict({}, true)).toBe('judged');
    expect(
      verdict({}, true, gateway({ failed: 2, lastServiceFailure: { kind: 'upstream-status', status: 503 } })),
    ).toBe('judged');
  });

  test('no output after a clean end, a time limit, a crash: the agent', () => {
    expect(verdict({}, false)).toBe('agent');
    expect(verdict({ exitCode: null, endedBy: 'time' }, true)).toBe('agent');
    expect(verdict({ exitCode: null, endedBy: 'memory' }, false)).toBe('agent');
    expect(verdict({ exitCode: 1 }, true)).toBe('agent');
    expect(verdict({ exitCode: null, signal: 'SIGSEGV' }, true)).toBe('agent');
  });

  test('an end while the model service was failing: infrastructure', () => {
    const overloaded = gateway({ failed: 1, lastServiceFailure: { kind: 'upstream-status', status: 429 } });
    expect(verdict({ exitCode: 1 }, false, overloaded)).toBe('infrastructure');
    expect(verdict({ exitCode: null, endedBy: 'time' }, true, overloaded)).toBe('infrastructure');
    expect(verdict({}, false, overloaded)).toBe('infrastructure');
  });

  test('a model service that never answered: infrastructure, even after a clean exit', () => {
    const silent = gateway({
      requests: 3,
      failed: 3,
      lastServiceFailure: { kind: 'upstream-unreachable', status: 502 },
    });
    expect(verdict({}, false, silent)).toBe('infrastructure');
  });

  test('agents without a model have only themselves to blame', () => {
    expect(verdict({ exitCode: 1 }, false, undefined)).toBe('agent');
    expect(verdict({}, true, undefined)).toBe('judged');
  });

  test('a rate limit and an overload can be told from other losses by the reason', () => {
    const reasonOf = (status: number, failed: number): string | null =>
      verdictOf({
        needsModel: true,
        outcome: { ...clean, exitCode: 1 },
        gateway: gateway({ requests: 3, failed, lastServiceFailure: { kind: 'upstream-status', status } }),
        hasOutput: false,
      }).reason;
    for (const failed of [1, 3]) {
      expect([429, 503, 529, 401, 500].map((status) => isRateLimited(reasonOf(status, failed)))).toEqual([
        true,
        true,
        true,
        false,
        false,
      ]);
    }
    expect(isRateLimited(null)).toBe(false);
    expect(isRateLimited('set-up: the text (upstream-status, status 429) of somebody else')).toBe(false);
  });
});
