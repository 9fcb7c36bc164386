// Records the traces under src/agents/traces from the real CLIs, which play the same scenarios in bubblewrap:
//   npx tsx test/agents/record-traces.ts claude pi
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentNamed } from '../../src/agents/agents.js';
import { packageRoot } from '../../src/support/home.js';
import { ModelServer } from '../model-server/model-server.js';
import type { Scenario } from '../model-server/scenario.js';
import { settings } from './host-run.js';
import { routeOf, SandboxedRuns } from './sandboxed-run.js';

/** What the readers' tests expect of each recorded trace. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  answered: [
    { shell: 'cat instruction.md', message: 'I read the task.' },
    { shell: 'echo out; echo error >&2; exit 3' },
    { shell: 'sleep 1' },
    { shell: "printf 'stay_id,sirs\\n30000001,2\\n' > output.csv" },
    { message: 'Wrote output.csv with one row.' },
  ],
  retried: [
    { fail: 429, retryAfterSeconds: 1 },
    { shell: 'cat instruction.md' },
    { fail: 503 },
    { message: 'Done.' },
  ],
  killed: [{ shell: 'cat instruction.md' }, { shell: 'sleep 60' }],
  refused: [{ shell: 'cat instruction.md' }, { fail: 400 }],
};
const KILLED_SECONDS = 25;

async function record(name: string): Promise<void> {
  const agent = agentNamed(name, settings);
  await using runs = await SandboxedRuns.create();
  for (const [scenario, steps] of Object.entries(SCENARIOS)) {
    await using server = await ModelServer.start({ scenarios: { scripted: steps } });
    const played = await runs.play(agent, routeOf(name), server, {
      model: 'scripted',
      timeoutSeconds: scenario === 'killed' ? KILLED_SECONDS : 120,
    });
    const path = join(packageRoot(), 'src', 'agents', 'traces', `${name}-${scenario}.jsonl`);
    await writeFile(path, played.traceText);
    console.log(`${path}: exit status ${played.outcome.exitCode}, ${played.trace.turns} turns`);
  }
}

for (const name of process.argv.slice(2)) await record(name);
