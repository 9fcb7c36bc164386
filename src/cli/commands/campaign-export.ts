import { join } from 'node:path';
import { Command } from 'commander';
import { exportCampaign, exportColumns } from '../../campaigns/export.js';
import { campaignFolder } from '../../campaigns/plan.js';
import { existingPlan } from '../campaign-setup.js';
import { contextOf } from '../context.js';

/** `m4bench campaign export`: one Parquet file for one's own analysis. */
export function campaignExportCommand(): Command {
  return new Command('export')
    .description('one Parquet file with a row per planned run, for your own analysis')
    .argument('<name>', 'name of the campaign')
    .option('--out <file>', "default runs.parquet in the campaign's analysis folder")
    .addHelpText(
      'after',
      '\nExample:\n  m4bench campaign export paper --out paper.parquet && duckdb -c "select condition, avg(reward) from \'paper.parquet\' group by 1"',
    )
    .action(async (name: string, options: { out?: string }, command: Command) => {
      const context = contextOf(command);
      const plan = await existingPlan(context.home, name);
      const file = options.out ?? join(campaignFolder(context.home, name).analysis, 'runs.parquet');
      const rows = await exportCampaign(context.home, plan, file);
      context.say(`${rows} rows, ${Object.keys(exportColumns).length} columns: ${file}`);
      context.json({ campaign: name, file, rows, columns: exportColumns });
    });
}
