import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CanaryReport, LintReport } from '../runs/gates.js';
import { sandboxOf } from '../sandboxes/sandboxes.js';
import { auditRun } from './audit-run.js';
import { commandEvent, type FinishedRun, PLANTED_KEY, playRun, syntheticStays } from './test-run.js';

const bubblewrap = sandboxOf('bubblewrap');
const works = (await bubblewrap.probe()).available;
if (!works) console.warn('Skipped: bubblewrap does not work here');
/** Stands for a pinned root file system, so that nothing else stands against publication. */
const pinned = { ...bubblewrap, rootfsDigest: 'sha256:test' };

let home: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'm4bench-runs-'));
  if (works) await syntheticStays(home);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

let trial = 0;
const play = (part: Partial<Parameters<typeof playRun>[0]>): Promise<FinishedRun> => {
  trial += 1;
  return playRun({ sandbox: pinned, home, trial, condition: 'no-skill', ...part });
};
const lintOf = ({ folder }: FinishedRun): LintReport =>
  JSON.parse(readFileSync(join(folder, 'attempts/1/lint.json'), 'utf8')) as LintReport;
const reasonsOf = async (run: FinishedRun): Promise<readonly string[]> => {
  const audit = await auditRun(run.folder);
  expect(audit.problems).toEqual([]);
  expect([...audit.reasons].sort()).toEqual([...run.result.reasons].sort());
  return run.result.reasons;
};

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

describe.runIf(works)('a run with all gates', () => {
  it('is publishable when nothing stands against it, with its evidence, its cost and no key in any byte', async () => {
    const run = await play({});
    expect(await reasonsOf(run)).toEqual([]);
    expect(run.result.publishable).toBe(true);
    expect(run.result.integrity).toEqual({
      canaries: true,
      lint: true,
      egress: true,
      hostedTools: [],
      hostedToolCalls: [],
    });
    // The price of a provider named `local` is nothing.
    expect(run.result.cost).toBe(0);
    const files = filesBelow(run.folder);
    expect(files.map((path) => path.slice(run.folder.length + 1)).sort()).toEqual([
      'attempts/1/attempt.json',
      'attempts/1/canary.json',
      'attempts/1/evaluation.json',
      'attempts/1/evaluation.private.json',
      'attempts/1/gateway.jsonl',
      'attempts/1/instruction.md',
      'attempts/1/lint.json',
      'attempts/1/output.csv',
      'attempts/1/stderr.txt',
      'attempts/1/trace.jsonl',
      'attempts/1/transcript.json',
      'result.json',
    ]);
    for (const path of files) expect([path, readFileSync(path).includes(PLANTED_KEY)]).toEqual([path, false]);
  });

  it('is not when the provider used a tool of its own', async () => {
    const run = await play({ answer: { output: [{ type: 'web_search_call' }] } });
    expect(await reasonsOf(run)).toEqual(['the provider used tools of its own: web_search_call']);
  });

  it('is linted also when it failed', async () => {
    const url = 'https://github.com/MIT-LCP/mimic-code';
    const run = await play({ exitCode: 3, trace: [commandEvent(`git clone ${url}`, 'Cloning … done.')] });
    expect(run.result.failureReason).toBe('the agent ended with exit status 3');
    expect(run.result.reward).toBe(0);
    expect(lintOf(run).findings.map(({ code }) => code)).toEqual(['public-repository']);
    expect(await reasonsOf(run)).toEqual(['the contamination lint found a violation']);
  });

  it('is not when the agent wrote the reference query word for word', async () => {
    const sql = readFileSync('benchmark/references/eicu/gcs.sql', 'utf8');
    const run = await play({ trace: [commandEvent(`duckdb database.duckdb -c '${sql}'`, '15')] });
    expect(lintOf(run).overlap!.share).toBe(1);
    expect(await reasonsOf(run)).toEqual(['the contamination lint found a violation']);
  });

  it('stays publishable when a right output equals the reference byte for byte, which is noted', async () => {
    const run = await play({ output: { isRight: true } });
    expect(run.result.reward).toBe(1);
    expect(lintOf(run).findings.map(({ code, severity }) => [code, severity])).toEqual([
      ['byte-identical', 'note'],
    ]);
    expect(await reasonsOf(run)).toEqual([]);
  });

  it('ends in class agent when its budget is spent, at once', async () => {
    const again = `for (let at = 0; at < 3; at += 1) await fetch(process.env.M4BENCH_GATEWAY_URL + '/local/v1/responses', { method: 'POST', body: '{"model":"gpt-5"}' });
      await new Promise((resolve) => setTimeout(resolve, 50_000));`;
    const run = await play({ script: again, environment: { budget: { maxTokens: 200 } } });
    expect(run.result.failureReason).toBe('the budget of 200 tokens is spent');
    expect([run.result.failureClass, run.result.reward]).toEqual(['agent', 0]);
    expect(run.result.seconds.agent).toBeLessThan(20);
    expect(run.result.tokens).toMatchObject({ input: 200, output: 14 });
    await reasonsOf(run);
  });

  it('does not start its agent where a canary is reached, and says what was', async () => {
    const leaky = {
      ...pinned,
      prepare: (spec: Parameters<typeof pinned.prepare>[0]) =>
        pinned.prepare({
          ...spec,
          inputs: [...spec.inputs, { source: join(home, 'references'), target: '/opt/elsewhere' }],
        }),
    };
    const run = await play({ sandbox: leaky });
    expect(run.result.status).toBe('unjudged');
    expect(run.result.failureReason).toContain('no planted marker is found by name');
    expect(run.result.integrity.canaries).toBe(false);
    expect(readdirSync(join(run.folder, 'attempts/1'))).not.toContain('trace.jsonl');
    const canary = JSON.parse(
      readFileSync(join(run.folder, 'attempts/1/canary.json'), 'utf8'),
    ) as CanaryReport;
    expect(canary.passed).toBe(false);
    expect(await reasonsOf(run)).toContain('a canary was reached from inside the sandbox');
  });

  it('says that its gates were not run when they were not', async () => {
    const { gates: _gates, ...none } = { gates: undefined };
    const run = await play({ environment: { ...none, gates: undefined as never } });
    expect(await reasonsOf(run)).toEqual([
      'the canaries were not run',
      'the contamination lint was not run',
      'where bytes went was not looked at',
    ]);
  });

  it('is never publishable without isolation, where the canaries say so too', async () => {
    const run = await play({ sandbox: { ...sandboxOf('process'), rootfsDigest: 'sha256:test' } });
    expect(await reasonsOf(run)).toEqual([
      'the sandbox does not isolate',
      'a canary was reached from inside the sandbox',
    ]);
  });
});
