import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Home, homeAt } from '../support/home.js';
import { loadTasks } from '../tasks/load-tasks.js';
import { finishRun, type GeneratedCampaign, generateCampaign } from './generated-campaign.fixture.js';
import { hostileText, hostileTrace } from './hostile.fixture.js';
import { startViewer, type Viewer } from './server.js';

let home: Home;
let campaign: GeneratedCampaign;
let viewer: Viewer;
let cookie: string;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A request with exactly these headers, as no browser would let one make it. */
function ask(
  path: string,
  headers: Readonly<Record<string, string>> = { cookie },
  method = 'GET',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: viewer.port, path, method, headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => {
        body += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

const tokenOf = (address: string): string => new URL(address).searchParams.get('token')!;

beforeAll(async () => {
  home = homeAt(await mkdtemp(join(tmpdir(), 'm4b-server-')));
  campaign = await generateCampaign(home, {
    name: 'half',
    tasks: ['mimic-meld-24h'],
    conditions: ['no-skill', 'with-skill'],
    models: ['model-a'],
    trials: 2,
    done: 0.75,
    trace: hostileTrace(),
  });
  await writeFile(join(home.root, 'viewer.css'), 'body{}');
  await writeFile(join(home.root, 'viewer.js'), '');
  viewer = await startViewer({ home, tasks: await loadTasks(), assetFolder: home.root });
  const entered = await ask(`/?token=${tokenOf(viewer.address)}`, {});
  cookie = String(entered.headers['set-cookie']).split(';')[0]!;
});
afterAll(async () => {
  await viewer[Symbol.asyncDispose]();
  await rm(home.root, { recursive: true, force: true });
});

const runPath = (index = 0): string => `/campaigns/half/runs/${campaign.plan.runs[index]!.runId}`;
const attemptPath = (): string => `${runPath()}/attempts/1`;

describe('who gets in', () => {
  it('is who has the token: once in the address, then as a cookie that scripts cannot read', async () => {
    const entered = await ask(`/campaigns/half?token=${tokenOf(viewer.address)}`, {});
    expect([entered.status, entered.headers.location]).toEqual([303, '/campaigns/half']);
    expect(String(entered.headers['set-cookie'])).toMatch(
      /HttpOnly.*SameSite=Strict|SameSite=Strict.*HttpOnly/,
    );
    expect((await ask('/')).status).toBe(200);
    for (const headers of [{}, { cookie: `${cookie}x` }, { cookie: 'm4bench-1=x' }]) {
      const refused = await ask('/', headers as Record<string, string>);
      expect(refused.status).toBe(403);
      expect(refused.body).not.toContain('half');
    }
    expect((await ask('/?token=wrong', {})).status).toBe(403);
    expect((await ask('/assets/viewer.css', {})).status).toBe(403);
  });

  it('is nobody who came by another name (DNS rebinding), even with the token', async () => {
    for (const host of ['attacker.example', `attacker.example:${viewer.port}`, `127.0.0.1:1`, '127.0.0.1']) {
      expect((await ask('/', { host, cookie })).status).toBe(421);
    }
    expect((await ask('/', { host: `localhost:${viewer.port}`, cookie })).status).toBe(200);
  });

  it('only reads', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await ask('/', { cookie }, method)).status).toBe(405);
    }
  });

  it('gets pages that may load nothing from elsewhere and run no inline script', async () => {
    for (const path of ['/', '/absent', runPath()]) {
      const { headers } = await ask(path);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cache-control']).toBe('no-store');
    }
  });
});

describe('what is not there', () => {
  it('is a page that says so, also for ways out of the folder', async () => {
    const attempt = attemptPath();
    for (const path of [
      '/campaigns/absent',
      '/campaigns/..%2f..%2fetc',
      '/campaigns/half/runs/absent',
      '/campaigns/half/runs/..%2f..%2fcampaign.json',
      '/campaigns/half/tasks/absent',
      `${runPath()}/attempts/0/transcript`,
      `${runPath()}/attempts/2/transcript`,
      `${runPath()}/attempts/..%2f1/transcript`,
      `${attempt}/files/..%2f..%2fresult.json`,
      `${attempt}/files/%2fetc%2fpasswd`,
      `${attempt}/files/absent`,
      `${attempt}/transcript/part?turn=1&part=constructor`,
      '/campaigns/half/compare?a=x&b=y',
      '/campaigns/half/compare',
      '/assets/constructor',
    ]) {
      const { status, body } = await ask(path);
      expect([path, status]).toEqual([path, 404]);
      expect(body).toContain('There is no such page.');
    }
  });

  it('is said in one sentence when a plan was changed', async () => {
    const other = homeAt(await mkdtemp(join(tmpdir(), 'm4b-server-broken-')));
    const { plan } = await generateCampaign(other, {
      name: 'broken',
      tasks: ['mimic-meld-24h'],
      conditions: ['no-skill'],
      models: ['m'],
      trials: 1,
    });
    const path = join(other.campaigns, 'broken', 'campaign.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace(plan.seed, 'other'));
    const second = await startViewer({ home: other, tasks: [], assetFolder: home.root });
    try {
      const address = new URL(second.address);
      const answer = await fetch(`http://127.0.0.1:${second.port}/campaigns/broken`, {
        headers: { cookie: `m4bench-${second.port}=${address.searchParams.get('token')}` },
      });
      expect(answer.status).toBe(409);
      expect(await answer.text()).toContain('was changed after it was frozen');
    } finally {
      await second[Symbol.asyncDispose]();
      await rm(other.root, { recursive: true, force: true });
    }
  });
});

/** What of a page is markup: tags, without the texts between them and without the data of grids. */
const tagsOf = (html: string): readonly string[] => html.match(/<[^>]*>/g) ?? [];

describe('what an agent wrote', () => {
  it('is text on every page that shows it', async () => {
    const attempt = attemptPath();
    for (const path of [
      `${attempt}/transcript`,
      `${attempt}/transcript?search=${encodeURIComponent('<script>')}`,
      `${attempt}/transcript/part?turn=1&part=text`,
      `${attempt}/transcript/part?turn=1&call=1&part=output`,
      `${attempt}/files/trace.jsonl`,
      `/campaigns/half/compare?a=${campaign.plan.runs[0]!.runId}&b=${campaign.plan.runs[1]!.runId}`,
    ]) {
      const { status, body } = await ask(path);
      expect([path, status]).toEqual([path, 200]);
      expect(body).toContain('&lt;script>document.documentElement.dataset.attacked');
      for (const tag of tagsOf(body)) expect(tag).not.toMatch(/\son\w+=|javascript:|attacker|http-equiv/i);
      for (const unseen of ['\u001b', '\u202e', '\u2066', '\u200b']) expect(body).not.toContain(unseen);
      expect(body).toContain('title="U+202E right-to-left override"');
    }
  });

  it('of 10 MB in one line comes in parts', async () => {
    const first = await ask(`${attemptPath()}/files/trace.jsonl?offset=1000000`);
    expect(first.body.length).toBeLessThan(400_000);
    expect(first.body).toMatch(/Bytes 1,000,000 to 1,065,536 of/);
    const next = /rel="next" href="([^"]+)"/.exec(first.body)?.[1];
    expect(next).toContain('?offset=1065536');
    expect((await ask(`${attemptPath()}/transcript`)).body.length).toBeLessThan(400_000);
  });

  it('as a model name, a reason or a column stays text in grids and their data', async () => {
    const { plan } = campaign;
    const tasks = new Map((await loadTasks()).map((task) => [task.name, task]));
    const result = await finishRun(home, plan, 3, tasks);
    const path = join(home.campaigns, 'half', 'runs', result.runId, 'result.json');
    await writeFile(
      path,
      JSON.stringify({
        ...result,
        failureClass: 'agent',
        failureReason: hostileText,
        observed: { ...result.observed, models: [hostileText] },
        evaluation: null,
      }),
    );
    for (const page of [runPath(3), '/campaigns/half/runs', '/campaigns/half']) {
      const { body } = await ask(page);
      for (const tag of tagsOf(body)) expect(tag).not.toMatch(/\son\w+=|javascript:|attacker/i);
    }
    expect((await ask(runPath(3))).body).toContain('&lt;script>');
    await rm(path);
  });
});

describe('a campaign that runs', () => {
  it('is followed: a part of the page comes again only when something changed', async () => {
    const live = '/campaigns/half/live?of=top';
    const first = await ask(live);
    expect(first.headers['m4bench-live']).toBe('running');
    const version = String(first.headers.etag);
    expect((await ask(live, { cookie, 'if-none-match': version })).status).toBe(304);
    const tasks = new Map((await loadTasks()).map((task) => [task.name, task]));
    await finishRun(home, campaign.plan, 3, tasks);
    const after = await ask(live, { cookie, 'if-none-match': version });
    expect([after.status, after.headers['m4bench-live']]).toEqual([200, 'finished']);
    expect(after.body).toContain('<b data-number="finished">4</b>');
  });

  it('shows a run that has not ended with what there is', async () => {
    await rm(join(home.campaigns, 'half', 'runs', campaign.plan.runs[1]!.runId, 'result.json'));
    const { status, body } = await ask(runPath(1));
    expect(status).toBe(200);
    expect(body).toContain('Transcript of attempt 1 so far');
  });
});
