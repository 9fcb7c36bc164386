import { join } from 'node:path';
import type { Command } from 'commander';
import type { Agent } from '../agents/agent.js';
import { CassettePlayer } from '../gateway/cassette-player.js';
import { CassetteRecorder } from '../gateway/cassette-recorder.js';
import type { Provider } from '../gateway/gateway-types.js';
import { M4BenchError } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { benchmarkVersion } from '../version.js';

/** Options of the commands that can record what models answer, or play it again. */
export interface CassetteOptions {
  readonly record?: string;
  readonly replay?: string;
  /** With `replay`. */
  readonly loose?: boolean;
}

/** Adds the options to a command. */
export function withCassetteOptions(command: Command): Command {
  return command
    .option(
      '--record <file>',
      'take down what the model answers in a cassette (holds patient rows: mode 0600, outside run folders)',
    )
    .option(
      '--replay <file>',
      'answer from a cassette: no key, no connection, never publishable; a request that was not recorded is refused',
    )
    .option('--loose', 'with --replay: a request that was not recorded gets the answer of its turn');
}

/** An opened cassette: `recorder` or `player`, or none. */
export interface OpenCassette {
  readonly recorder?: CassetteRecorder;
  readonly player?: CassettePlayer;
}

/** Opens what the options name. `providers` is asked for only where it is needed: a replay needs no key. */
export async function openCassette(
  home: Home,
  agent: Agent,
  options: CassetteOptions,
  providers: () => readonly Provider[],
): Promise<OpenCassette> {
  const { record, replay, loose } = options;
  if (record === undefined && replay === undefined && loose !== true) return {};
  if ((record === undefined) === (replay === undefined) || (loose === true && replay === undefined)) {
    throw new M4BenchError(
      'CASSETTE_OPTIONS',
      'A run is recorded or played, not both, and --loose is about what is played.',
      'Give --record FILE, or --replay FILE with or without --loose.',
    );
  }
  if (!agent.needsModel) {
    throw new M4BenchError(
      'CASSETTE_OPTIONS',
      `The agent ${agent.name} asks no model, so there is nothing to record or to play.`,
      'Leave --record and --replay away.',
    );
  }
  if (replay !== undefined)
    return { player: await CassettePlayer.open(replay, { isStrict: loose !== true }) };
  return {
    recorder: await CassetteRecorder.open(record!, {
      providers: providers(),
      benchmarkVersion,
      keptOutOf: [home.campaigns],
      guardedFolder: join(home.root, 'cassettes'),
    }),
  };
}
