import { campaignFolder, readPlan } from '../../src/campaigns/plan.js';
import { folderStore } from '../../src/campaigns/run-store.js';
import { workQueue } from '../../src/campaigns/worker.js';
import { homeAt } from '../../src/support/home.js';
import { prepareSmall, smallEnvironment } from './small-campaign.js';

/** One worker: `worker.ts HOME CAMPAIGN URL`. Ends at SIGTERM, giving its run back. */
const [root, name, url] = process.argv.slice(2);
const home = homeAt(root!);
const plan = (await readPlan(home, name!))!;
const abort = new AbortController();
process.once('SIGTERM', () => abort.abort());
process.stdout.write('started\n');
await workQueue({
  url: url!,
  plan,
  store: folderStore(campaignFolder(home, plan.name)),
  prepare: (cell) => prepareSmall(home, plan, cell),
  environment: smallEnvironment(),
  lockMilliseconds: 2000,
  signal: abort.signal,
});
