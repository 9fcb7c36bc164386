import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentNamed } from '../../src/agents/agents.js';
import { CassettePlayer } from '../../src/gateway/cassette-player.js';
import { CassetteRecorder } from '../../src/gateway/cassette-recorder.js';
import { ModelServer } from '../model-server/model-server.js';
import { solvingScenario } from '../model-server/solving-scenario.js';

import {
  bubblewrap,
  PROVIDER_KEY,
  RIGHT_OUTPUT,
  RIGHT_SQL,
  routeOf,
  SandboxedRuns,
  sandboxSettings,
} from './sandboxed-run.js';

/** Real CLIs recorded against the scripted model, then played with the server stopped and no key. */
const AGENTS = ['codex', 'claude'];
const isolated = await bubblewrap.probe();
if (!isolated.available) console.warn(`Replays are skipped: ${isolated.detail}.`);

let folder: string;
let runs: SandboxedRuns;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-replay-'));
  runs = await SandboxedRuns.create();
});
afterAll(async () => {
  await runs[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Nothing listens there. */
const STOPPED = { baseUrl: 'http://127.0.0.1:1' };

describe.runIf(isolated.available)('a replay', () => {
  test.each(AGENTS)(
    'of %s gives the same output, commands and tokens, and refuses another question',
    async (name) => {
      const agent = agentNamed(name, sandboxSettings);
      const availability = await agent.probe();
      if (!availability.available) {
        console.warn(`A replay of ${name} is skipped: ${availability.detail}.`);
        return;
      }
      const route = routeOf(name);
      const path = join(folder, `${name}.cassette`);
      const recordOnce = async () => {
        await using server = await ModelServer.start({
          scenarios: { scripted: solvingScenario({ skillFolder: agent.skillFolder, sql: RIGHT_SQL }) },
        });
        await using recorder = await CassetteRecorder.open(path, {
          providers: [{ ...route, baseUrl: server.baseUrl, apiKey: PROVIDER_KEY }],
          benchmarkVersion: '0',
          keptOutOf: [],
          guardedFolder: folder,
        });
        return await runs.play(agent, route, server, { gateway: { recording: recorder.session('run/1') } });
      };
      const replayOnce = async (instruction?: string) => {
        await using player = await CassettePlayer.open(path, { isStrict: true });
        const replay = player.session('run/1');
        const played = await runs.play(agent, route, STOPPED, {
          gateway: { replay, providers: player.providers },
          ...(instruction === undefined ? {} : { request: { instruction } }),
        });
        return { ...played, replay };
      };
      const live = await recordOnce();
      expect(live.output).toBe(RIGHT_OUTPUT);
      expect(await readFile(path, 'utf8')).not.toContain(PROVIDER_KEY);

      const again = await replayOnce();
      expect(again.replay.mismatch).toBe(null);
      expect(again.replay.left).toBe(0);
      expect(again.output).toBe(RIGHT_OUTPUT);
      expect(again.trace.commands).toEqual(live.trace.commands);
      expect(again.summary.tokens).toEqual(live.summary.tokens);
      expect(again.summary.skillsOpened).toEqual(live.summary.skillsOpened);
      expect(again.summary.replayed).toEqual({
        answers: live.summary.requests - live.summary.refused,
        byTurn: 0,
      });
      expect(again.exchanges.filter(({ host }) => host !== null)).toEqual([]);

      const changed = await replayOnce('Read instruction.md, please.');
      expect(changed.replay.mismatch).toMatch(
        /^the cassette holds no answer: the request differs from the recorded one of turn 1 in (input|messages|contents)\[\d+\]/,
      );
      expect(changed.output).toBe(undefined);
    },
  );
});
