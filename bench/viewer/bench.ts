/**
 * How long a reader waits: the first page of a campaign of 2,016 runs, cold and warm, its list of runs, and a
 * transcript of 50 MB, in Chromium where it is installed. Prints seconds, and each as a multiple of the time that
 * merely reading and parsing the same files takes.
 *
 *   npx tsx bench/viewer/bench.ts
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeAt } from '../../src/support/home.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';
import { type GeneratedCampaign, generateCampaign } from '../../src/viewer/generated-campaign.fixture.js';
import { startViewer } from '../../src/viewer/server.js';
import { buildAssets, hasChromium, launchBrowser } from '../../test/browser/browser.js';

const traceBytes = 50 * 1024 * 1024;

/** A trace in the format of one CLI with this many bytes, two thousand to a command's output. */
function traceOf(bytes: number): string {
  const lines = ['{"type":"thread.started","thread_id":"t"}'];
  for (let [written, turn] = [0, 1]; written < bytes; turn += 1) {
    const item = {
      id: `c${turn}`,
      type: 'command_execution',
      command: `bash -lc 'echo ${turn}'`,
      aggregated_output: 'row '.repeat(1_500),
      exit_code: 0,
      status: 'completed',
    };
    lines.push(JSON.stringify({ type: 'item.completed', item }));
    written += lines.at(-1)!.length + 1;
  }
  return `${lines.join('\n')}\n`;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

function print(what: string, time: number, yardstick: number): void {
  console.log(
    `${what.padEnd(52)} ${time.toFixed(2).padStart(6)} s   ${(time / yardstick).toFixed(1)} x reading`,
  );
}

/** Reading and parsing every result, and nothing else. */
async function readAll(home: string, { plan, results }: GeneratedCampaign): Promise<void> {
  for (const { runId } of results) {
    JSON.parse(await readFile(join(home, 'campaigns', plan.name, 'runs', runId, 'result.json'), 'utf8'));
  }
}

const root = await mkdtemp(join(tmpdir(), 'm4b-bench-viewer-'));
try {
  const home = homeAt(root);
  const big = await generateCampaign(home, {
    name: 'big',
    conditions: ['no-skill', 'with-skill', 'with-skill-decoy'],
    models: ['model-a', 'model-b'],
    trials: 12,
  });
  const long = await generateCampaign(home, {
    name: 'long',
    tasks: ['mimic-meld-24h'],
    conditions: ['no-skill'],
    models: ['model-a'],
    trials: 1,
    trace: 'x',
  });
  const attempt = join(root, 'campaigns', 'long', 'runs', long.plan.runs[0]!.runId, 'attempts', '1');
  await writeFile(join(attempt, 'trace.jsonl'), traceOf(traceBytes));
  const reading = await seconds(() => readAll(root, big));
  const readingTrace = await seconds(async () => {
    for (const line of (await readFile(join(attempt, 'trace.jsonl'), 'utf8')).split('\n'))
      if (line) JSON.parse(line);
  });
  console.log(
    `${big.results.length} results read and parsed in ${reading.toFixed(2)} s, the trace in ${readingTrace.toFixed(2)} s\n`,
  );
  const assetFolder = await buildAssets(join(root, 'assets'));
  await using viewer = await startViewer({ home, tasks: await loadTasks(), assetFolder });
  const { origin } = new URL(viewer.address);
  const transcript = `${origin}/campaigns/long/runs/${long.plan.runs[0]!.runId}/attempts/1/transcript`;
  const pages: readonly (readonly [string, string, number])[] = [
    ['first page of the campaign, never read before', `${origin}/campaigns/big`, reading],
    ['the same again', `${origin}/campaigns/big`, reading],
    ['its list of runs', `${origin}/campaigns/big/runs`, reading],
    ['first page of the transcript, never read before', transcript, readingTrace],
    ['another page of it', `${transcript}?page=40`, readingTrace],
    ['a search in it', `${transcript}?search=echo+4711`, readingTrace],
  ];
  if (hasChromium) {
    const browser = await launchBrowser();
    const page = await browser.newPage();
    await page.goto(viewer.address);
    for (const [what, address, yardstick] of pages) {
      const time = await seconds(async () => {
        await page.goto(address);
        await page.waitForSelector('html[data-ready]');
      });
      print(`${what} (until usable)`, time, yardstick);
    }
    await browser.close();
  } else {
    const cookie = `m4bench-${viewer.port}=${new URL(viewer.address).searchParams.get('token')}`;
    for (const [what, address, yardstick] of pages) {
      const time = await seconds(async () => (await fetch(address, { headers: { cookie } })).text());
      print(`${what} (server only)`, time, yardstick);
    }
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
