import { Command } from 'commander';
import { loadTasks } from '../../tasks/load-tasks.js';
import { startViewer } from '../../viewer/server.js';
import { contextOf } from '../context.js';
import { wholeNumber } from '../options.js';

/** `m4bench view`: campaigns, runs and transcripts in a browser, on this machine. */
export function viewCommand(): Command {
  return new Command('view')
    .description('campaigns, runs and transcripts in a browser, also while they run')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes any free one', wholeNumber('--port', 0), 0)
    .addHelpText(
      'after',
      '\nThe address that is printed holds a token; nobody gets in without it. Pages show rows of patients, and the connection is plain HTTP: beyond this machine carry the port through SSH (docs/report.md) instead of choosing another --host.\n\nExample:\n  m4bench view --home .m4bench',
    )
    .action(async (options: { host: string; port: number }, command: Command) => {
      const context = contextOf(command);
      await using viewer = await startViewer({
        home: context.home,
        tasks: await loadTasks(context.content),
        host: options.host,
        port: options.port,
      });
      if (!['127.0.0.1', '::1', 'localhost'].includes(options.host)) {
        context.progress.warn(
          `${options.host} is more than this machine, and the connection is plain HTTP: who can read the network sees the pages`,
        );
      }
      context.say(`Open ${viewer.address}\nCtrl-C ends the viewer.`);
      context.json({ address: viewer.address, port: viewer.port });
      await new Promise<void>((resolve) => {
        if (context.signal.aborted) resolve();
        context.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    });
}
