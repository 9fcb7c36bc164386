import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readResult } from '../../src/campaigns/campaign-index.js';
import { campaignFolder } from '../../src/campaigns/plan.js';
import type { RunStore } from '../../src/campaigns/run-store.js';
import { parseS3Url, s3Store } from '../../src/campaigns/s3-store.js';
import { recordTestRun, type TestOutcome, testPlan } from '../../src/campaigns/test-campaign.js';
import { homeAt } from '../../src/support/home.js';

/** The experimental store, against an S3 server from npm. */
const plan = testPlan(2, 2, 'bucket');
let root: string;
let server: S3rver;
let endpoint: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'm4bench-s3-'));
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const port = (probe.address() as { port: number }).port;
  probe.close();
  await once(probe, 'close');
  await mkdir(join(root, 'server'));
  server = new S3rver({
    port,
    address: '127.0.0.1',
    silent: true,
    directory: join(root, 'server'),
    configureBuckets: [{ name: 'runs', configs: [] }],
  });
  await server.run();
  endpoint = `http://127.0.0.1:${port}`;
  process.env.AWS_ACCESS_KEY_ID = 'S3RVER';
  process.env.AWS_SECRET_ACCESS_KEY = 'S3RVER';
  process.env.AWS_REGION = 'us-east-1';
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

/** The store as one machine sees it. */
const storeAt = (machine: string): Promise<RunStore> =>
  s3Store({
    campaign: campaignFolder(homeAt(join(root, machine)), plan.name),
    name: plan.name,
    url: 's3://runs/campaigns/',
    endpoint,
  });

async function make(
  store: RunStore,
  run: number,
  worker: string,
  ...outcomes: TestOutcome[]
): Promise<boolean> {
  const planned = plan.runs[run]!;
  const staged = await store.begin(planned.runId, worker);
  await recordTestRun(staged.folder, plan, planned, outcomes);
  await writeFile(join(staged.folder, 'attempts', '1', 'evaluation.private.json'), '{}');
  return await staged.publish();
}

describe('results in a bucket', () => {
  test('a run made on one machine is seen and fetched on another; the first of two wins', async () => {
    const [one, two, home] = [await storeAt('one'), await storeAt('two'), await storeAt('home')];
    const { runId } = plan.runs[0]!;
    expect(await make(one, 0, 'a', { reward: 0.25 })).toBe(true);
    expect(await make(two, 0, 'b', { reward: 0.75 })).toBe(false);
    const all = plan.runs.map((run) => run.runId);
    expect([...(await home.finished(all))]).toEqual([[runId, 'judged']]);
    expect([...(await home.finished([all[1]!]))]).toEqual([]);
    await home.fetch(runId);
    const folder = campaignFolder(homeAt(join(root, 'home')), plan.name);
    expect(await readResult(join(folder.runs, runId))).toMatchObject({ reward: 0.25, runId });
  });

  test('a run without a judgement is taken up with its attempts, and replaced', async () => {
    const [one, two, home] = [await storeAt('one'), await storeAt('two'), await storeAt('home')];
    const { runId } = plan.runs[1]!;
    expect(await make(one, 1, 'a', { class: 'infrastructure', reason: 'lost' })).toBe(true);
    expect([...(await home.finished([runId, 'another']))]).toEqual([[runId, 'unjudged']]);
    const staged = await two.begin(runId, 'b');
    expect(await readResult(staged.folder)).toMatchObject({ status: 'unjudged' });
    await recordTestRun(staged.folder, plan, plan.runs[1]!, [{ class: 'infrastructure' }, { reward: 1 }]);
    expect(await staged.publish()).toBe(true);
    expect([...(await home.finished([runId, 'another']))]).toEqual([[runId, 'judged']]);
  });

  test('the plan travels with the results', async () => {
    const store = await storeAt('one');
    expect(await store.readPlan()).toBeUndefined();
    await store.writePlan(JSON.stringify(plan));
    expect(JSON.parse((await (await storeAt('two')).readPlan())!)).toEqual(plan);
  });

  test('an object that names a file outside of its run is refused', async () => {
    const { runId } = plan.runs[2]!;
    const client = new S3Client({ endpoint, forcePathStyle: true });
    await client.send(
      new PutObjectCommand({
        Bucket: 'runs',
        Key: `campaigns/${plan.name}/judged/${runId}.json`,
        Body: JSON.stringify({ token: '0'.repeat(16), files: ['../../../escaped'] }),
      }),
    );
    await expect((await storeAt('home')).fetch(runId)).rejects.toMatchObject({ code: 'STORE_DAMAGED' });
  });

  test.each(['http://bucket', 's3://', 's3://UPPER/x'])('%s is no address of a bucket', (url) => {
    expect(() => parseS3Url(url)).toThrow(/not the address of a bucket/);
  });
});
