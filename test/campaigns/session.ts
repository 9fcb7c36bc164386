import { readPlan } from '../../src/campaigns/plan.js';
import { runCampaign } from '../../src/campaigns/run.js';
import { homeAt } from '../../src/support/home.js';
import { prepareSmall, smallEnvironment } from './small-campaign.js';

/** One scheduler process of the crash tests: `session.ts HOME CAMPAIGN PARALLEL`. Prints a line when runs begin. */
const [root, name, parallel] = process.argv.slice(2);
const home = homeAt(root!);
const plan = (await readPlan(home, name!))!;
let isTold = false;
const outcome = await runCampaign({
  home,
  plan,
  prepare: (cell) => prepareSmall(home, plan, cell),
  environment: smallEnvironment(),
  limits: { parallel: Number(parallel) },
  onEvent: ({ kind }) => {
    if (kind === 'started' && !isTold) process.stdout.write('started\n');
    isTold = true;
  },
});
process.stdout.write(`${JSON.stringify({ ran: outcome.ran, kept: outcome.kept, how: outcome.ended.how })}\n`);
