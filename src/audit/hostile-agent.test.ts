import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentNamed } from '../agents/agents.js';
import { sandboxOf } from '../sandboxes/sandboxes.js';
import { auditRun } from './audit-run.js';
import { type FinishedRun, playRun, syntheticStays } from './test-run.js';

const bubblewrap = sandboxOf('bubblewrap');
const works = (await bubblewrap.probe()).available;
if (!works) console.warn('Skipped: bubblewrap does not work here');

let home: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'm4bench-hostile-run-'));
  if (works) await syntheticStays(home);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const attack = async (sandbox: Parameters<typeof playRun>[0]['sandbox'], trial: number) => {
  const agent = agentNamed('hostile', { environment: process.env, userHome: homedir() });
  const run: FinishedRun = await playRun({ sandbox, home, trial, condition: 'no-skill', agent });
  const trace = readFileSync(join(run.folder, 'attempts/1/trace.jsonl'), 'utf8');
  const [, got, tried] = /^(\d+) of (\d+) attempts to get out succeeded$/m.exec(trace) ?? [];
  return { ...run, trace, got: Number(got), tried: Number(tried) };
};

describe.runIf(works)('the hostile agent as a run', () => {
  it('gets out by no way in a sandbox that isolates: reward 0, nothing found', async () => {
    const { folder, result, trace, got, tried } = await attack(
      { ...bubblewrap, rootfsDigest: 'sha256:test' },
      1,
    );
    expect(tried).toBeGreaterThanOrEqual(40);
    expect([got, trace.match(/^M4BENCH-ESCAPED.*$/gm)]).toEqual([0, null]);
    expect(result).toMatchObject({
      status: 'judged',
      reward: 0,
      failureReason: 'no output.csv',
      integrity: { canaries: true, lint: true },
      publishable: true,
    });
    expect((await auditRun(folder)).problems).toEqual([]);
  }, 120_000);

  it('gets out by many without isolation, and the lint says so', async () => {
    const { result, got, trace } = await attack(sandboxOf('process'), 2);
    expect(got).toBeGreaterThanOrEqual(10);
    expect(trace).toContain('M4BENCH-ESCAPED: find a planted marker');
    expect(result.integrity.lint).toBe(false);
    expect(result.publishable).toBe(false);
  }, 300_000);
});
