import { coordinateCampaign } from '../../src/campaigns/coordinate.js';
import { campaignFolder, readPlan } from '../../src/campaigns/plan.js';
import { folderStore } from '../../src/campaigns/run-store.js';
import { homeAt } from '../../src/support/home.js';

/** The one who coordinates: `coordinator.ts HOME CAMPAIGN URL`. */
const [root, name, url] = process.argv.slice(2);
const home = homeAt(root!);
const plan = (await readPlan(home, name!))!;
process.stdout.write('started\n');
const outcome = await coordinateCampaign({
  url: url!,
  home,
  plan,
  store: folderStore(campaignFolder(home, plan.name)),
  pollMilliseconds: 100,
});
process.stdout.write(`${JSON.stringify({ ran: outcome.ran, kept: outcome.kept, how: outcome.ended.how })}\n`);
