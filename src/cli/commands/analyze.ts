import { join } from 'node:path';
import { Command } from 'commander';
import { renderAnalysis, writeAnalysis } from '../../analysis/campaign-report.js';
import { campaignFolder } from '../../campaigns/plan.js';
import { readResults } from '../../campaigns/run.js';
import { M4BenchError } from '../../support/errors.js';
import { contextOf } from '../context.js';
import { existingPlan } from './campaign.js';

/** `m4bench analyze CAMPAIGN…`: from results to claims. */
export function analyzeCommand(): Command {
  return new Command('analyze')
    .description('rewards by task and condition, skill deltas with bootstrap intervals')
    .argument('<campaigns...>', 'names of campaigns')
    .option('--seed <text>', 'seed of the bootstrap', '20260504')
    .action(async (names: string[], options: { seed: string }, command: Command) => {
      const context = contextOf(command);
      const results = [];
      for (const name of names)
        results.push(...(await readResults(context.home, await existingPlan(context.home, name))));
      if (results.length === 0) {
        throw new M4BenchError(
          'NO_RESULTS',
          `No finished runs in ${names.join(', ')}.`,
          'Run the campaign first: m4bench campaign run.',
        );
      }
      const analysis = renderAnalysis(results, { title: names.join(', '), seed: options.seed });
      const folder = campaignFolder(context.home, names[0]!).analysis;
      await writeAnalysis(folder, analysis);
      context.say(analysis.text);
      context.say(`report: ${join(folder, 'report.md')}`);
      context.json({ tables: analysis.tables, figures: {} });
    });
}
