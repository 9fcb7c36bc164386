import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { campaignFolder, campaignNotFound } from '../../campaigns/plan.js';
import { loadTasks } from '../../tasks/load-tasks.js';
import { CampaignStore } from '../../viewer/campaign-store.js';
import { writeReport } from '../../viewer/report.js';
import { contextOf } from '../context.js';

/** `m4bench report CAMPAIGN`: a campaign as pages that can be published. */
export function reportCommand(): Command {
  return new Command('report')
    .description('one folder of static pages: summary, figures, tables, a page per task and per run')
    .argument('<campaign>', 'name of the campaign')
    .option('--out <dir>', "folder of the report (default: report/ in the campaign's analysis folder)")
    .option('--publishable-only', 'leave out runs that may not be published')
    .addHelpText(
      'after',
      '\nThe pages hold no output, no transcript and no row of a patient; m4bench view shows those on this machine.\n\nExample:\n  m4bench report tonight --out ./report',
    )
    .action(async (name: string, options: { out?: string; publishableOnly?: boolean }, command: Command) => {
      const context = contextOf(command);
      const state = await new CampaignStore(context.home).open(name);
      if (state === undefined) {
        throw campaignNotFound(context.home, name);
      }
      const folder = resolve(options.out ?? join(campaignFolder(context.home, name).analysis, 'report'));
      const written = await writeReport(folder, state, {
        tasks: await loadTasks(context.content),
        ...(options.publishableOnly === undefined ? {} : { publishableOnly: options.publishableOnly }),
      });
      context.say(`${written.pages} pages; open ${written.index}`);
      context.json({ report: written.index, pages: written.pages });
    });
}
