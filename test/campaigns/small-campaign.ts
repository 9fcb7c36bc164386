import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from '../../src/agents/agent.js';
import { builtInAgent } from '../../src/agents/built-in.js';
import { type CampaignPlan, planCells } from '../../src/campaigns/plan.js';
import { testCell } from '../../src/campaigns/test-campaign.js';
import { DuckSession } from '../../src/duck/session.js';
import { literal } from '../../src/duck/sql.js';
import type { PreparedCell } from '../../src/runs/prepare.js';
import type { RunEnvironment } from '../../src/runs/run.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import type { Home } from '../../src/support/home.js';
import { loadProtocol } from '../../src/tasks/protocol.js';

/** Right rows of four that the agent writes, by condition; the other rows are wrong by one. */
const rightRows = { 'no-skill': 2, 'with-skill': 4 } as const;
type Arm = keyof typeof rightRows;

/** A plan of `tasks` x two conditions x `trials`, of tasks that are judged on four rows each. */
export function smallPlan(tasks: number, trials: number, name: string): CampaignPlan {
  const cells = Array.from({ length: tasks }, (_, task) =>
    (Object.keys(rightRows) as Arm[]).map((condition) => testCell({ task: `task-${task}`, condition })),
  ).flat();
  return planCells({
    name,
    benchmarkVersion: '0',
    cells,
    trials,
    seed: name,
    sandbox: 'process',
    timeoutSeconds: 60,
  });
}

/** Writes the one reference that all tasks are judged against. */
export async function writeReference(home: Home): Promise<void> {
  await mkdir(home.root, { recursive: true });
  await using session = await DuckSession.open();
  await session.run(
    `copy (select i::bigint as stay_id, i::bigint as value from range(1, 5) t(i)) to ${literal(referenceOf(home))} (format parquet)`,
  );
}

const referenceOf = (home: Home): string => join(home.root, 'reference.parquet');

/** An agent that writes four rows with a shell and ends. */
function shellAgent(condition: Arm): Agent {
  const rows = [1, 2, 3, 4].map((row) => `${row},${row <= rightRows[condition] ? row : row + 1}`);
  const script = `sleep 0.02; printf 'stay_id,value\\n${rows.join('\\n')}\\n' > output.csv`;
  return builtInAgent('empty', {}, async () => ({ command: ['/bin/sh', '-c', script], workFiles: [] }));
}

/** A cell of `smallPlan` as a run needs it. */
export async function prepareSmall(home: Home, plan: CampaignPlan, index: number): Promise<PreparedCell> {
  const cell = plan.cells[index]!;
  const dataset = { name: cell.dataset, class: 'synthetic', verified: true, contentHash: cell.datasetHash };
  const contract = {
    keyColumns: ['stay_id'],
    requiredColumns: ['stay_id', 'value'],
    valueColumns: ['value'],
    scoredColumns: ['value'],
    tolerance: {},
    rowCoverageThreshold: 0.9,
    accuracyThreshold: 0.9,
  };
  return {
    cell,
    request: {
      task: { name: cell.task, contract },
      condition: cell.condition,
      protocol: await loadProtocol(),
      dataset,
      agent: shellAgent(cell.condition as Arm),
      cliVersion: null,
      rootfsDigest: null,
      effort: 'auto',
    },
    context: { instruction: 'instruction', workFiles: [], skills: [], hash: cell.hashes.context },
    reference: { key: 'value', dataset: cell.dataset, parquetPath: referenceOf(home) },
    relations: [{ schema: 'mimiciv_icu', table: 'stays', contentHash: '0', path: referenceOf(home) }],
    emptySchemas: [],
    queryText: undefined,
  } as unknown as PreparedCell;
}

export function smallEnvironment(): RunEnvironment {
  return {
    sandbox: sandboxOf('process'),
    providers: [],
    benchmarkVersion: '0',
    limits: {
      timeoutSeconds: 60,
      memoryBytes: 512 * 1024 ** 2,
      processes: 64,
      workBytes: 64 * 1024 ** 2,
      streamBytes: 1024 ** 2,
    },
  };
}
