import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { renderAnalysis } from '../../src/analysis/campaign-report.js';
import { readJournal } from '../../src/campaigns/journal.js';
import { type CampaignPlan, campaignFolder } from '../../src/campaigns/plan.js';
import { readResults } from '../../src/campaigns/run.js';
import { type Home, packageRoot } from '../../src/support/home.js';

/** How a process of the crash tests ended. */
export interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Named steps of a run at which the process is killed, in the order in which they are met. */
export const killSteps = [
  'spawned',
  'copy-out',
  'half evaluation.json',
  'half attempt.json',
  'rename attempt.json',
  'half result.json',
  'rename result.json',
  'before journal',
  'half journal',
] as const;

/**
 * Runs a script of this folder in a process of its own. With `killAt` the process kills itself at that step; with
 * `killAfter` it is killed so many milliseconds after it said that runs have begun.
 */
export async function runScript(
  script: string,
  words: readonly string[],
  kill: { readonly killAt?: string; readonly killAfter?: number } = {},
): Promise<Ended> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(packageRoot(), 'test', 'campaigns', script), ...words],
    {
      cwd: packageRoot(),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...(kill.killAt === undefined ? {} : { M4BENCH_KILL_AT: kill.killAt }) },
    },
  );
  let [stdout, stderr] = ['', ''];
  let isTimed = false;
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    if (kill.killAfter === undefined || isTimed || !stdout.includes('started')) return;
    isTimed = true;
    void sleep(kill.killAfter).then(() => child.kill('SIGKILL'));
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout, stderr };
}

/** Everything that must hold of a finished campaign, as plain values to compare. */
export async function stateOf(home: Home, plan: CampaignPlan) {
  const folder = campaignFolder(home, plan.name);
  const results = await readResults(home, plan);
  const { lines } = (await readJournal(folder.journal))!;
  const files = await readdir(folder.root, { recursive: true });
  const numbers: number[] = [];
  for (const result of results) {
    const attempts = (await readdir(join(folder.runs, result.runId, 'attempts'))).map(Number).sort();
    // Attempts are numbered from one without a gap, and the result names exactly those that are there.
    if (attempts.join() === result.attempts.map(({ n }) => n).join()) numbers.push(attempts.length);
    const attempt = JSON.parse(
      await readFile(join(folder.runs, result.runId, 'attempts', '1', 'attempt.json'), 'utf8'),
    ) as { reward: number };
    if (attempt.reward !== result.reward) throw new Error(`${result.runId}: two rewards`);
  }
  const indexed = lines.flatMap((line) => (line.kind === 'result' ? [line.runId] : []));
  const analysis = renderAnalysis(results, { title: 'crashes', seed: 1 });
  return {
    runs: results.map(({ runId }) => runId).sort(),
    resultFiles: files.filter((file) => file.endsWith('result.json')).length,
    attemptFiles: files.filter((file) => file.endsWith('attempt.json')).length,
    wholeRuns: numbers.length,
    indexed: indexed.sort(),
    debris: files.filter((file) => file.endsWith('.tmp')),
    tables: analysis.tables,
  };
}
