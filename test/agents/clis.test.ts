import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentNamed } from '../../src/agents/agents.js';
import { packageRoot } from '../../src/support/home.js';
import { ModelServer } from '../model-server/model-server.js';
import type { Scenario } from '../model-server/scenario.js';
import { solvingScenario } from '../model-server/solving-scenario.js';
import { settings } from './host-run.js';
import manifest from './package.json' with { type: 'json' };
import {
  bubblewrap,
  type Played,
  type PlayOptions,
  PROVIDER_KEY,
  RIGHT_OUTPUT,
  RIGHT_SQL,
  routeOf,
  SandboxedRuns,
} from './sandboxed-run.js';

/** What differs between the CLIs; the tests below are the same for all. */
interface CliFacts {
  readonly name: string;
  readonly packageName: keyof typeof manifest.dependencies;
  /** Requests beside the model's that the CLI makes and the gateway turns away. */
  readonly refused: number;
  /** Its API states how many of the tokens were reasoning. */
  readonly statesReasoning: boolean;
  /** Text of the model's name in the API that a scenario goes by when no model is asked for. */
  readonly tools: readonly string[];
}

const CLIS: readonly CliFacts[] = [
  {
    name: 'codex',
    packageName: '@openai/codex',
    refused: 0,
    statesReasoning: true,
    tools: ['exec_command', 'request_user_input', 'view_image', 'write_stdin'],
  },
  {
    name: 'claude',
    packageName: '@anthropic-ai/claude-code',
    // It warms up the connection with a HEAD request.
    refused: 1,
    statesReasoning: false,
    tools: ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Skill', 'TaskOutput', 'TaskStop', 'Write'],
  },
];

const sandbox = await bubblewrap.probe();
if (!sandbox.available) console.warn(`Tests of the CLIs are skipped: ${sandbox.detail}.`);

let runs: SandboxedRuns;
beforeAll(async () => {
  runs = await SandboxedRuns.create();
});
afterAll(() => runs[Symbol.asyncDispose]());

for (const cli of CLIS) {
  const agent = agentNamed(cli.name, settings);
  const availability = await agent.probe();
  if (!availability.available) console.warn(`Tests of ${cli.name} are skipped: ${availability.detail}.`);

  const play = async (
    scenario: Scenario,
    options: PlayOptions = {},
  ): Promise<Played & { readonly server: ModelServer }> => {
    await using server = await ModelServer.start({ scenarios: { scripted: scenario } });
    return {
      ...(await runs.play(agent, routeOf(cli.name), server, { model: 'scripted', ...options })),
      server,
    };
  };

  describe.skipIf(!availability.available || !sandbox.available)(
    `${cli.name} in bubblewrap, through the gateway`,
    () => {
      test('is the version that the lock file pins', () => {
        expect(availability.version).toBe(manifest.dependencies[cli.packageName]);
      });

      test('reads the instruction and the skill, queries the database and writes the answer', async () => {
        const played = await play(solvingScenario({ skillFolder: agent.skillFolder, sql: RIGHT_SQL }));
        expect(played.outcome).toMatchObject({ exitCode: 0, endedBy: null });
        expect(played.output).toBe(RIGHT_OUTPUT);
        expect(played.verdict).toEqual({ class: 'judged', reason: null });
        expect(played.summary).toMatchObject({
          requests: 5 + cli.refused,
          refused: cli.refused,
          failed: 0,
          models: ['scripted'],
          hostedToolsRemoved: [],
          skillsOffered: ['sirs-score'],
          skillsOpened: ['sirs-score'],
        });
        // Steps 0 to 4 of `usageOfStep`: what server, gateway and CLI count is the same.
        const stated = { input: 6000, cachedInput: 100, output: 260 };
        expect(played.server.statedUsage('scripted')).toEqual({ ...stated, reasoning: 35 });
        expect(played.summary.tokens).toEqual({
          ...stated,
          cacheWrite: 0,
          reasoning: cli.statesReasoning ? 35 : 0,
        });
        expect(played.trace.tokens).toMatchObject(stated);
        expect(played.transcript.turns).toHaveLength(5);
        expect(played.trace.commands[0]).toBe('cat instruction.md');
        expect(played.transcript.turns[2]?.calls[0]?.output).toContain('icustays');
      });

      test('declares local tools only, and speaks of no skill where none was placed', async () => {
        const { server, summary } = await play([{ message: 'Nothing to do.' }], { hasSkill: false });
        expect([...server.toolsOf('scripted')].sort()).toEqual(cli.tools);
        expect(summary.skillsOffered).toEqual([]);
        expect(JSON.stringify(server.exchangesOf('scripted'))).not.toMatch(/SKILL\.md\b.*\bsirs/);
      });

      test('sees neither a provider key nor a network, and reaches the gateway only', async () => {
        const probes = [
          'env | sort',
          'cat /proc/net/dev | tail -n +3 | cut -d: -f1',
          `ls ${packageRoot()} 2>&1`,
          '(exec 3<>/dev/tcp/192.0.2.1/80) 2>&1',
        ];
        const played = await play([...probes.map((shell) => ({ shell })), { message: 'Nothing.' }]);
        const outputs = played.transcript.turns.flatMap(({ calls }) =>
          calls.map(({ output }) => output ?? ''),
        );
        expect(outputs).toHaveLength(probes.length);
        expect(outputs[0]).toContain('HOME=/home/agent');
        expect(outputs[1]).toMatch(/\blo\b/);
        expect(outputs[1]).not.toMatch(/\beth|\bens|\bwlan/);
        expect(outputs[2]).toContain('No such file or directory');
        expect(outputs[3]).toMatch(/unreachable|denied|not permitted/i);
        expect(played.traceText).not.toContain(PROVIDER_KEY);
        expect(played.server.exchanges.every(({ headers }) => holdsKey(headers))).toBe(true);
      });

      test('cut at its time limit is an agent failure, and leaves a readable trace', async () => {
        const played = await play([{ shell: 'echo x > output.csv' }, { shell: 'sleep 300' }], {
          timeoutSeconds: 8,
        });
        expect(played.outcome.endedBy).toBe('time');
        expect(played.verdict).toEqual({ class: 'agent', reason: 'time limit reached' });
        expect(played.trace.commands).toEqual(['echo x > output.csv', 'sleep 300']);
        expect(played.trace.tokens).toBeUndefined();
        expect(played.summary.tokens.input).toBe(2100);
      });

      test('whose model answers 429 twice waits and goes on', async () => {
        const played = await play([
          { fail: 429, retryAfterSeconds: 1 },
          { fail: 429, retryAfterSeconds: 1 },
          { shell: 'echo a,b > output.csv' },
          { message: 'Done.' },
        ]);
        expect(played.exchanges.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(
          2,
        );
        expect(played.verdict).toEqual({ class: 'judged', reason: null });
        expect(played.output).toBe('a,b\n');
        // Steps 2 and 3; an answer that failed costs nothing.
        expect(played.summary.tokens.input).toBe(2500);
      });

      test('that crashes is an agent failure', async () => {
        const played = await play([{ shell: 'sleep 1; kill -9 $PPID; sleep 5' }, { message: 'Never said.' }]);
        expect(played.verdict.class).toBe('agent');
        expect(played.verdict.reason).toMatch(/signal SIGKILL|exit status/);
        expect(played.trace.commands).toEqual(['sleep 1; kill -9 $PPID; sleep 5']);
      });

      test('that writes no file is an agent failure', async () => {
        const played = await play([{ message: 'I did nothing.' }]);
        expect(played.outcome.exitCode).toBe(0);
        expect(played.verdict).toEqual({ class: 'agent', reason: 'no output.csv' });
        expect(played.transcript.finalText).toBe('I did nothing.');
      });
    },
  );
}

/** The gateway put the provider's key in, in whatever header the provider takes it. */
function holdsKey(headers: Readonly<Record<string, string>>): boolean {
  return Object.values(headers).some((value) => value === PROVIDER_KEY || value === `Bearer ${PROVIDER_KEY}`);
}
