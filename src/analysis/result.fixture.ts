import { type RunResult, resultSchema } from '../runs/result.js';

const seconds = { total: 3, setup: 0, agent: 2, model: 1, evaluation: 0.1 };

/** A result as this system writes it, checked by its own schema. */
export function resultWith(task: string, condition: string, reward: number | null, trial = 1): RunResult {
  const evaluation =
    reward === null
      ? null
      : {
          task,
          dataset: 'mimic-iv-demo',
          reward,
          rewardRobust: reward,
          matchRates: { a: reward, b: reward },
          checks: [
            { name: 'exists', passed: true, detail: '' },
            { name: 'accuracy a', passed: false, detail: '' },
          ],
          strictPass: false,
          keyPrecision: 1,
          keyRecall: 0.5,
          keyF1: 2 / 3,
          extraKeys: 0,
          missingKeys: 50,
          duplicateKeys: 0,
          truthRows: 100,
          outputRows: 50,
          orderedNmae: 0.2,
          nmae: { value: 0.2, columns: 2, coverage: 0.5 },
          mismatchKinds: {},
          confusion: {},
          errorKind: null,
          error: null,
        };
  return resultSchema.parse({
    schemaVersion: 1,
    benchmarkVersion: '0.1.0',
    runId: `${task}_${condition}_t${trial}`,
    campaign: 'mine',
    cell: {
      task,
      condition,
      schema: 'native',
      protocol: 'm4bench-1',
      dataset: 'mimic-iv-demo',
      datasetHash: 'd',
      agent: 'codex',
      cliVersion: '1.0',
      rootfsDigest: null,
      model: 'm',
      effort: 'medium',
      hashes: { instruction: 'i', context: 'c', reference: 'r', taskDatabase: 't', query: null },
    },
    observed: { cliVersion: '1.0', models: ['m'], overrides: [], backgroundModels: [], routing: [] },
    trial,
    status: reward === null ? 'unjudged' : 'judged',
    attempt: reward === null ? null : 1,
    attempts: [
      {
        n: 1,
        class: reward === null ? 'infrastructure' : 'judged',
        reason: null,
        startedAt: 's',
        seconds: 3,
      },
    ],
    failureClass: reward === null ? 'infrastructure' : null,
    failureReason: reward === null ? 'the model service never answered' : null,
    reward,
    rewardRobust: reward,
    evaluation,
    tokens: { input: 100, cachedInput: 50, cacheWrite: 0, output: 10, reasoning: 0, source: 'gateway' },
    agentTokens: null,
    cost: 0.02,
    seconds,
    skill: {
      placed: condition === 'with-skill' ? ['s'] : [],
      offered: [],
      opened: condition === 'with-skill' && trial === 1 ? ['s'] : [],
      source: 'gateway',
    },
    dataset: { name: 'mimic-iv-demo', class: 'open', verified: true, contentHash: 'd' },
    sandbox: { kind: 'bubblewrap', rootfsDigest: null, limits: { asked: {}, enforced: [] } },
    dataUse: { provider: null, attestation: null, allowed: true },
    hashes: {
      instruction: 'i',
      context: 'c',
      taskDatabase: 't',
      reference: 'r',
      output: null,
      trace: null,
      gateway: null,
    },
    integrity: { canaries: true, lint: null, egress: null, hostedTools: [] },
    publishable: false,
    reasons: ['the contamination lint was not run'],
  });
}
