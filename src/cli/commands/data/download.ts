import { Command } from 'commander';
import { downloadRelease } from '../../../datasets/download.js';
import { contextOf } from '../../context.js';
import { wholeNumber } from '../../options.js';
import { askPassword } from '../../password.js';

interface DownloadCommandOptions {
  readonly user?: string;
  readonly release?: string;
  readonly to?: string;
  readonly mirror?: string;
  readonly parallel: number;
}

/** `m4bench data download`. */
export function downloadCommand(): Command {
  return new Command('download')
    .description('download a release from PhysioNet: resumed where it stopped, every file checked')
    .argument('<name>', 'mimic-iv-demo or eicu-demo (open), mimic-iv or eicu (credentialed)')
    .option('--user <name>', 'PhysioNet user name for a credentialed release; the password is asked for')
    .option('--release <version>', 'default: the release the benchmark is defined for')
    .option('--to <dir>', 'default: downloads/ under the home folder')
    .option('--mirror <url>', 'address that stands for https://physionet.org/files/')
    .option('--parallel <n>', 'files at a time', wholeNumber('--parallel'), 4)
    .addHelpText('after', '\nExample:\n  m4bench data download mimic-iv-demo')
    .action(async (name: string, options: DownloadCommandOptions, command: Command) => {
      const context = contextOf(command);
      const { user, release, to, mirror, parallel } = options;
      const download = await downloadRelease(context.home, {
        name,
        parallel,
        progress: context.progress,
        ...(release === undefined ? {} : { release }),
        ...(to === undefined ? {} : { folder: to }),
        ...(mirror === undefined ? {} : { mirror }),
        ...(user === undefined
          ? {}
          : { login: async () => ({ user, password: await askPassword(`PhysioNet password of ${user}`) }) }),
      });
      context.say(download.licence);
      context.say(`next: m4bench data import ${name} --from ${download.folder}`);
      context.json(download);
    });
}
