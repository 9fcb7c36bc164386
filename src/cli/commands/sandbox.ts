import { Command } from 'commander';
import { cleanLeftovers } from '../../support/runtime-folders.js';
import { contextOf } from '../context.js';

/** `m4bench sandbox …`: what sandboxes leave on this machine. */
export function sandboxCommand(): Command {
  const sandbox = new Command('sandbox').description('what sandboxes leave on this machine');
  sandbox
    .command('clean')
    .description(
      'remove work folders, sockets and processes that a crash left behind; running ones are left alone',
    )
    .action(async (_options: unknown, command: Command) => {
      const context = contextOf(command);
      const removed = await cleanLeftovers();
      context.say(removed.length === 0 ? 'Nothing was left behind.' : `Removed: ${removed.join(', ')}`);
      context.json({ removed });
    });
  return sandbox;
}
