import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentNamed } from '../../src/agents/agents.js';
import type { Dataset } from '../../src/datasets/dataset.js';
import { openDataset } from '../../src/datasets/dataset.js';
import { synthesizeDataset } from '../../src/datasets/synthesize.js';
import { runIdOf } from '../../src/runs/cell.js';
import { CellPreparation, type CellRequest } from '../../src/runs/prepare.js';
import type { RunResult } from '../../src/runs/result.js';
import { executeRun } from '../../src/runs/run.js';
import { sandboxOf } from '../../src/sandboxes/sandboxes.js';
import { proveEquivalence } from '../../src/schemas/equivalence.js';
import { buildLake, describeLake } from '../../src/schemas/lake.js';
import { presentationOf, type TransformedSchema } from '../../src/schemas/presentation.js';
import { SqlTranslator } from '../../src/schemas/sql-translator.js';
import { type Home, homeAt, packageRoot } from '../../src/support/home.js';
import { findTask } from '../../src/tasks/load-tasks.js';
import { loadProtocol } from '../../src/tasks/protocol.js';

const TASK = 'mimic-sirs-24h-raw';
const sandbox = sandboxOf('process');

let root: string;
let home: Home;
let dataset: Dataset;
let nativeQuery: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-schema-runs-'));
  home = homeAt(root);
  await synthesizeDataset(home, { kind: 'mimic-iv', stays: 30, seed: 'schema-runs' });
  dataset = await openDataset(home, 'mimic-iv-synthetic');
  const script = await readFile(join(packageRoot(), 'benchmark', 'quickstart', TASK, 'skilled.sql'), 'utf8');
  nativeQuery = script.slice(script.indexOf('copy (') + 6, script.lastIndexOf(') to'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Presented {
  readonly schema: TransformedSchema;
  readonly protocol: string;
  readonly perturb: readonly string[];
}

/** The right query as an agent would write it for that schema. */
async function carriedQuery({ schema, protocol, perturb }: Presented): Promise<string> {
  const presentation = presentationOf({ schema, protocol: await loadProtocol(protocol), perturb });
  await using translator = await SqlTranslator.open(await describeLake({ home, dataset, presentation }));
  const { sql } = await translator.translate(nativeQuery, 'the right query');
  const path = join(root, `${schema}-${protocol}-${perturb.join('-')}.sql`);
  await writeFile(path, `copy (${sql}) to './output.csv' (header);\n`);
  return path;
}

async function request(presented: Presented): Promise<CellRequest> {
  return {
    task: await findTask(TASK),
    condition: 'with-skill',
    protocol: await loadProtocol(presented.protocol),
    dataset,
    schema: presented.schema,
    perturb: presented.perturb,
    agent: agentNamed('sql', { environment: process.env, userHome: root }),
    cliVersion: null,
    rootfsDigest: null,
    effort: 'auto',
    queryFile: await carriedQuery(presented),
  };
}

async function play(presented: Presented, trial = 1): Promise<RunResult> {
  const prepared = await new CellPreparation(home).prepare(await request(presented));
  const runId = runIdOf(prepared.cell, trial);
  const result = await executeRun(
    {
      sandbox,
      limits: { timeoutSeconds: 60, memoryBytes: 2e9, processes: 100, workBytes: 1e9, streamBytes: 1e7 },
      providers: [],
      benchmarkVersion: '0',
    },
    { campaign: 'c', runId, runFolder: join(home.campaigns, 'c', 'runs', runId), trial, prepared },
  );
  return result!;
}

describe('a run in a transformed schema', () => {
  test.each<Presented>([
    { schema: 'obfuscated', protocol: 'm4bench-1', perturb: [] },
    { schema: 'restructured', protocol: 'published-2026', perturb: [] },
    { schema: 'restructured', protocol: 'm4bench-1', perturb: ['items', 'labels', 'dates'] },
  ])('$schema under $protocol with $perturb: the carried query is rewarded 1', async (presented) => {
    const result = await play(presented);
    expect(result).toMatchObject({ reward: 1, rewardRobust: 1, evaluation: { strictPass: true } });
    expect(result.cell).toMatchObject({
      schema: presented.schema,
      presentation: { perturb: presented.perturb },
    });
    expect(result.presentation?.isVerified).toBe(false);
  });

  test('is publishable as far as the schema goes once the schema is proven, and not before', async () => {
    const presented: Presented = { schema: 'obfuscated', protocol: 'm4bench-1', perturb: [] };
    const reason =
      /^schema obfuscated is not proven to hold the same \(schema obfuscated-1 was never verified\)$/;
    expect((await play(presented, 2)).reasons.filter((text) => reason.test(text))).toHaveLength(1);
    const presentation = presentationOf({ ...presented, protocol: await loadProtocol(presented.protocol) });
    const lake = await buildLake({ home, dataset, presentation });
    expect((await proveEquivalence({ home, lake })).isVerified).toBe(true);
    const proven = await play(presented, 3);
    expect(proven.presentation).toEqual({ isVerified: true, reasons: [] });
    expect(proven.reasons.filter((text) => text.startsWith('schema'))).toEqual([]);
  });

  test('changes no values in the native schema', async () => {
    const asked = await request({ schema: 'obfuscated', protocol: 'm4bench-1', perturb: ['dates'] });
    await expect(new CellPreparation(home).prepare({ ...asked, schema: 'native' })).rejects.toMatchObject({
      code: 'PERTURBATION_NOT_APPLICABLE',
    });
  });
});
