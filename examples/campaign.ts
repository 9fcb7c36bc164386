// A campaign of two cells with the built-in agent `reference`: tsx campaign.ts HOME
import { homedir } from 'node:os';
import {
  agentNamed,
  benchmarkVersion,
  CellPreparation,
  chooseDataset,
  findTask,
  freezePlan,
  homeAt,
  loadProtocol,
  type PreparedCell,
  planCampaign,
  readResults,
  rewardByTaskAndCondition,
  runCampaign,
  sandboxOf,
  toText,
} from 'm4bench';

const home = homeAt(process.argv[2] ?? '.m4bench');
const task = await findTask('mimic-meld-24h');
const dataset = await chooseDataset(home, task.database);
const agent = agentNamed('reference', { environment: {}, userHome: homedir() });
const bubblewrap = sandboxOf('bubblewrap');
const sandbox = (await bubblewrap.probe()).available ? bubblewrap : sandboxOf('process');

const preparation = new CellPreparation(home);
const cells: PreparedCell[] = [];
for (const condition of ['no-skill', 'with-skill']) {
  const asked = { task, condition, protocol: await loadProtocol(), dataset, agent, effort: 'auto' as const };
  const cell = { ...asked, cliVersion: null, rootfsDigest: sandbox.rootfsDigest };
  cells.push(await preparation.prepare(cell));
}

const plan = planCampaign({
  name: 'from-code',
  benchmarkVersion,
  cells,
  trials: 1,
  seed: '1',
  sandbox: sandbox.kind,
  timeoutSeconds: 120,
});
await freezePlan(home, plan);
await runCampaign({
  home,
  plan,
  prepare: async (index) => cells[index]!,
  environment: {
    sandbox,
    providers: [],
    benchmarkVersion,
    limits: {
      timeoutSeconds: 120,
      memoryBytes: 1024 ** 3,
      processes: 128,
      workBytes: 256 * 1024 ** 2,
      streamBytes: 1024 ** 2,
    },
  },
});
console.log(toText(rewardByTaskAndCondition(await readResults(home, plan))));
