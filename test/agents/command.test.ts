import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentNamed } from '../../src/agents/agents.js';
import { packageRoot } from '../../src/support/home.js';
import { ModelServer } from '../model-server/model-server.js';
import { solvingScenario } from '../model-server/solving-scenario.js';
import { settings } from './host-run.js';
import { bubblewrap, RIGHT_OUTPUT, RIGHT_SQL, routeOf, SandboxedRuns } from './sandboxed-run.js';

const sandbox = await bubblewrap.probe();
if (!sandbox.available) console.warn(`Tests of the documented agent are skipped: ${sandbox.detail}.`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-own-agent-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The example of the documentation, as it stands there. */
async function documented(): Promise<string> {
  const text = await readFile(join(packageRoot(), 'docs', 'agents.md'), 'utf8');
  return /^```toml\n([\s\S]*?)^```$/m.exec(text)![1]!;
}

describe.skipIf(!sandbox.available)(
  'the agent of the documentation, in bubblewrap behind the gateway',
  () => {
    test('takes under 20 lines, and solves the task', async () => {
      const toml = await documented();
      expect(toml.trimEnd().split('\n').length).toBeLessThan(20);
      await writeFile(join(folder, 'my-agent.toml'), toml);
      await copyFile(join(import.meta.dirname, 'example-agent.mjs'), join(folder, 'agent.mjs'));
      const agent = agentNamed(join(folder, 'my-agent.toml'), settings);
      expect(await agent.probe()).toMatchObject({ available: true });
      const scenario = solvingScenario({ skillFolder: agent.skillFolder, sql: RIGHT_SQL });
      await using server = await ModelServer.start({ scenarios: { 'org/model:4b': scenario } });
      await using runs = await SandboxedRuns.create();
      const played = await runs.play(agent, routeOf('my-agent'), server, {
        model: 'org/model:4b',
        request: { effort: 'high' },
      });
      expect(played.stderr).toBe('');
      expect(played.output).toBe(RIGHT_OUTPUT);
      expect(played.verdict.class).toBe('judged');
      // Steps 0 to 4 of `usageOfStep`.
      expect(played.summary.tokens).toMatchObject({ input: 6000, output: 260 });
      expect(played.summary.skillsOpened).toEqual(['sirs-score']);
      expect(server.exchanges[0]?.body).toMatchObject({ reasoning_effort: 'high' });
      expect(played.transcript.finalText).toContain('output.csv is written.');
    });
  },
);
