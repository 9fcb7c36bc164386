import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import type { PreparedCell } from '../runs/prepare.js';
import type { RunEnvironment } from '../runs/run.js';
import { M4BenchError } from '../support/errors.js';
import { type Home, homeAt } from '../support/home.js';
import { lockCampaign } from './lock.js';
import { campaignFolder } from './plan.js';
import { type PreflightFinding, type PreflightOptions, preflight } from './preflight.js';
import { testPlan } from './test-campaign.js';

let root: string;
let home: Home;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-preflight-'));
  home = homeAt(root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const plan = testPlan(1, 1);
const provider = {
  name: 'openai',
  baseUrl: 'https://api.openai.com',
  apiKey: 'k',
  keyHeader: 'x-api-key',
  protocols: [],
};
const environment = {
  sandbox: { kind: 'process', isIsolated: false },
  limits: { memoryBytes: 1e6, workBytes: 1e6 },
  providers: [provider],
  prices: { as_of: '2025-01-01', currency: 'USD', free_providers: [], models: [] },
  benchmarkVersion: '0',
};

async function look(
  more: Partial<PreflightOptions> = {},
  change: object = {},
): Promise<Map<string, PreflightFinding>> {
  const findings = await preflight({
    home,
    plan,
    environment: { ...environment, ...change } as unknown as RunEnvironment,
    rootfs: undefined,
    parallel: 1,
    hasCostBudget: false,
    content: {},
    ...more,
  });
  return new Map(findings.map((finding) => [finding.code, finding]));
}

test('each check has its code and a remedy where something is to be done; none stops another', async () => {
  const found = await look();
  expect([...found.keys()]).toEqual([
    'LOCK',
    'FOLDER',
    'DISK',
    'MEMORY',
    'ROOTFS',
    'PROVIDERS',
    'DATA_USE',
    'PRICES',
    'PRIVACY',
  ]);
  // The dataset of the plan is not there: the checks that need it say so, the others are made.
  expect(found.get('DATA_USE')).toMatchObject({ state: 'problem' });
  expect(found.get('LOCK')).toMatchObject({ state: 'ok' });
  for (const { state, remedy } of found.values()) expect(remedy === '').toBe(state === 'ok');
  // The probe of the folder is gone again.
  expect(await readdir(campaignFolder(home, plan.name).root)).toEqual([]);
});

test('a lock, a missing key, an unknown price and too little memory are found', async () => {
  const { root: folder } = campaignFolder(home, plan.name);
  await mkdir(folder, { recursive: true });
  await using _held = await lockCampaign(folder, plan.name);
  const found = await look(
    { parallel: 4, hasCostBudget: true },
    { limits: { memoryBytes: 1e15, workBytes: 1 }, providers: [{ ...provider, apiKey: '' }] },
  );
  expect(found.get('LOCK')).toMatchObject({ state: 'problem' });
  expect(found.get('PROVIDERS')).toMatchObject({ state: 'problem', detail: 'no key for openai' });
  expect(found.get('PRICES')).toMatchObject({ state: 'problem' });
  expect(found.get('MEMORY')).toMatchObject({ state: 'warning' });
  expect((await look({ parallel: 1 })).get('PRICES')).toMatchObject({ state: 'warning' });
});

test('a folder that cannot be written to is a problem', async () => {
  await mkdir(home.campaigns, { recursive: true });
  await writeFile(campaignFolder(home, plan.name).root, 'a file where the folder should be');
  expect((await look()).get('FOLDER')).toMatchObject({ state: 'problem' });
});

test('a task database that still holds a removed table, and missing material, are found in the file itself', async () => {
  const database = join(root, 'task.duckdb');
  const parquet = join(root, 'reference.parquet');
  {
    await using session = await DuckSession.open({ path: database });
    await session.run('create schema mimiciv_derived; create table mimiciv_derived.meld as select 1 as x');
    await session.run(`copy (select 1 as stay_id) to ${literal(parquet)} (format parquet)`);
  }
  const found = await look({
    prepare: async (index) => {
      if (index === 1) throw new M4BenchError('INPUTS_CHANGED', 'The instruction is another.', 'Restore it.');
      return {
        cell: plan.cells[index],
        request: {
          task: {
            mode: 'standard',
            database: 'mimic-iv',
            conditions: ['with-skill'],
            removesPublished: ['mimiciv_derived.meld'],
            contract: { keyColumns: ['stay_id'], scoredColumns: ['meld'] },
          },
        },
        reference: { key: 'meld-24h', parquetPath: parquet, manifest: { contentHash: 'another' } },
        taskDatabase: { path: database },
      } as unknown as PreparedCell;
    },
  });
  expect(found.get('REMOVAL')).toMatchObject({
    state: 'problem',
    detail: 'task-0: mimiciv_derived.meld can be read',
  });
  expect(found.get('MATERIAL')).toMatchObject({ detail: 'task-0 has no material for no-skill' });
  expect(found.get('REFERENCES')?.detail).toContain('differ from their manifest');
  expect(found.get('INPUTS')).toMatchObject({ state: 'problem', detail: 'The instruction is another.' });
  expect(found.get('CONTENT')).toMatchObject({ state: 'ok' });
});
