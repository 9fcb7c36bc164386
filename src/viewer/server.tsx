import { type ServerType, serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { renderToString } from 'preact-render-to-string';
import { M4BenchError, messageOf, systemCodeOf } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import type { Task } from '../tasks/task.js';
import { guard, newToken, safeHeaders, servedNames } from './access.js';
import { type AssetName, assetTypes, readAssets } from './assets.js';
import { readWindow, windowBytes } from './attempt-files.js';
import { taskNames } from './campaign-view.js';
import { readGatewayLog } from './gateway-log.js';
import { compareHtml, type Side } from './pages/compare.js';
import { figuresPartHtml } from './pages/figures-part.js';
import { gatewayHtml } from './pages/gateway.js';
import { homeHtml, problemHtml } from './pages/home.js';
import { LivePart, type LivePartName, type LiveProps, overviewHtml } from './pages/overview.js';
import { openRunHtml, runHtml } from './pages/run.js';
import { runsHtml } from './pages/runs.js';
import { tablesHtml } from './pages/tables.js';
import { taskHtml, tasksHtml } from './pages/tasks.js';
import { textPageHtml, transcriptHtml } from './pages/transcript.js';
import { viewSite } from './site.js';
import { transcriptPage, turnPart, turnParts } from './transcript-pages.js';
import {
  attemptFolder,
  attemptsOf,
  conditionPairs,
  givenFiles,
  localRun,
  type OpenCampaign,
  shownAttempt,
  ViewerData,
} from './viewer-data.js';

export interface ViewerOptions {
  readonly home: Home;
  readonly tasks: readonly Task[];
  /** Address to listen on; default loopback. */
  readonly host?: string;
  /** Default any free one. */
  readonly port?: number;
  /** Folder of the built style and script. */
  readonly assetFolder?: string;
}

/** A running viewer. */
export interface Viewer extends AsyncDisposable {
  /** With the token. */
  readonly address: string;
  readonly port: number;
}

/** Starts the local viewer. Throws `VIEWER_NOT_BUILT` and `PORT_TAKEN`. */
export async function startViewer(options: ViewerOptions): Promise<Viewer> {
  const host = options.host ?? '127.0.0.1';
  const token = newToken();
  const assets = await readAssets(options.assetFolder);
  let port = options.port ?? 0;
  const names = servedNames(host);
  const app = new Hono();
  app.use(safeHeaders);
  app.use(
    guard({
      token,
      port: () => port,
      hosts: () => names.map((name) => `${name}:${port}`),
    }),
  );
  app.get('/assets/:name', (context) => {
    const name = context.req.param('name') as AssetName;
    if (!Object.hasOwn(assetTypes, name)) return context.notFound();
    return context.body(new Uint8Array(assets[name]), 200, {
      'content-type': assetTypes[name],
      'cache-control': 'private, max-age=3600',
    });
  });
  addPages(app, new ViewerData(options.home, options.tasks));
  app.notFound((context) =>
    context.html(problemHtml('There is no such page.', 'Start from the list of campaigns.'), 404),
  );
  app.onError((thrown, context) => {
    if (thrown instanceof HTTPException) return thrown.getResponse();
    const isKnown = thrown instanceof M4BenchError;
    const remedy = isKnown ? thrown.remedy : 'This is a fault of m4bench; report it.';
    return context.html(problemHtml(messageOf(thrown), remedy), isKnown ? 409 : 500);
  });
  const server = await listen(app, host, port);
  // What draws takes a while to load; the first page with figures shall not wait for it.
  void import('../analysis/render-figure.js');
  const bound = server.address();
  port = typeof bound === 'object' && bound !== null ? bound.port : port;
  return {
    address: `http://${names[0]}:${port}/?token=${token}`,
    port,
    [Symbol.asyncDispose]: () => closed(server),
  };
}

function listen(app: Hono, hostname: string, port: number): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname, port }, () => resolve(server));
    server.once('error', (cause) => {
      const isTaken = systemCodeOf(cause) === 'EADDRINUSE';
      reject(
        new M4BenchError(
          isTaken ? 'PORT_TAKEN' : 'CANNOT_LISTEN',
          `The viewer cannot listen on ${hostname}:${port}: ${messageOf(cause)}.`,
          isTaken ? 'Choose another --port.' : 'Choose another --host.',
          { cause },
        ),
      );
    });
  });
}

function closed(server: ServerType): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
}

/** The part of a request that names a run; thrown answers become the page that says so. */
function found<Value>(value: Value | undefined): Value {
  if (value !== undefined) return value;
  throw new HTTPException(404, {
    res: new Response(problemHtml('There is no such page.', 'Start from the list of campaigns.'), {
      status: 404,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    }),
  });
}

const wholeNumber = (text: string | undefined, least: number): number => {
  const value = Number(text ?? least);
  return Number.isSafeInteger(value) && value >= least ? value : least;
};

function addPages(app: Hono, data: ViewerData): void {
  app.get('/', async (context) => context.html(homeHtml(data.store.home.root, await data.store.list())));
  addCampaignPages(app, data);
  addRunPages(app, data);
  addAttemptPages(app, data);
}

/** Version of what changes while a campaign runs. */
const liveVersion = ({ state }: OpenCampaign): string =>
  sha256(`${state.version} ${state.running.join(' ')}`).slice(0, 16);

const isRunning = ({ state }: OpenCampaign): boolean =>
  state.plan !== undefined && state.results.length < state.plan.runs.length;

const liveProps = ({ view, state }: OpenCampaign, of: LivePartName): LiveProps => ({
  view,
  site: viewSite(view.name),
  running: state.running,
  of,
});

function addCampaignPages(app: Hono, data: ViewerData): void {
  const root = '/campaigns/:campaign';
  const open = async (name: string): Promise<OpenCampaign> => found(await data.campaign(name));
  app.get(root, async (context) => {
    const campaign = await open(context.req.param('campaign'));
    const site = viewSite(campaign.view.name);
    const state = isRunning(campaign) ? 'running' : 'finished';
    return context.html(
      overviewHtml({
        view: campaign.view,
        site,
        live: (of) => (
          <div
            data-part={state === 'running' ? `${site.overview}/live?of=${of}` : undefined}
            data-live={state}
            data-version={liveVersion(campaign)}
          >
            <LivePart {...liveProps(campaign, of)} />
          </div>
        ),
        figures:
          campaign.view.results.length === 0 ? null : (
            <section aria-labelledby="figures">
              <h2 id="figures">Figures</h2>
              <div data-part={`${site.overview}/figures?of=overview`}>
                <p class="hint">Drawing …</p>
              </div>
            </section>
          ),
      }),
    );
  });
  app.get(`${root}/live`, async (context) => {
    const campaign = await open(context.req.param('campaign'));
    const version = `"${liveVersion(campaign)}"`;
    const headers = { etag: version, 'm4bench-live': isRunning(campaign) ? 'running' : 'finished' };
    if (context.req.header('if-none-match') === version) return context.body(null, 304, headers);
    const of = context.req.query('of') === 'tables' ? 'tables' : 'top';
    return context.html(renderToString(<LivePart {...liveProps(campaign, of)} />), 200, headers);
  });
  app.get(`${root}/figures`, async (context) => {
    const campaign = await open(context.req.param('campaign'));
    if (context.req.query('of') === 'rest') {
      return context.html(figuresPartHtml((await data.full(campaign)).drawn, 'rest'));
    }
    return context.html(figuresPartHtml(await data.overviewFigures(campaign), 'overview'));
  });
  app.get(`${root}/runs`, async (context) => {
    const { view } = await open(context.req.param('campaign'));
    return context.html(runsHtml(view, viewSite(view.name)));
  });
  app.get(`${root}/tasks`, async (context) => {
    const { view } = await open(context.req.param('campaign'));
    return context.html(tasksHtml(view, viewSite(view.name)));
  });
  app.get(`${root}/tasks/:task`, async (context) => {
    const { view, state } = await open(context.req.param('campaign'));
    const name = found(taskNames(view).find((task) => task === context.req.param('task')));
    const site = viewSite(view.name);
    const caveat = await data.caveatOf(view.tasks.get(name));
    const pairs = conditionPairs(state, name, site);
    return context.html(taskHtml({ view, site, name, caveat, pairs }));
  });
  app.get(`${root}/tables`, async (context) => {
    const campaign = await open(context.req.param('campaign'));
    const site = viewSite(campaign.view.name);
    const hasRuns = campaign.view.results.length > 0;
    const analysis = hasRuns ? (await data.full(campaign)).analysis : undefined;
    return context.html(
      tablesHtml({
        view: campaign.view,
        site,
        analysis,
        figures: <div data-part={`${site.overview}/figures?of=rest`} />,
      }),
    );
  });
}

function addRunPages(app: Hono, data: ViewerData): void {
  const root = '/campaigns/:campaign';
  app.get(`${root}/compare`, async (context) => {
    const { state, view } = found(await data.campaign(context.req.param('campaign')));
    const site = viewSite(view.name);
    const [a, b] = await Promise.all(
      ['a', 'b'].map(async (name): Promise<Side & { readonly folder: string | undefined }> => {
        const runId = context.req.query(name);
        const result = found(state.results.find((one) => one.runId === runId));
        const folder = await attemptFolder(state, result.runId, String(shownAttempt(result)));
        const transcript = folder === undefined ? undefined : await data.transcripts.read(folder);
        return { result, href: site.run(result.runId), transcript, folder };
      }),
    );
    const given = await givenFiles(a!.folder, b!.folder);
    return context.html(compareHtml({ campaign: view.name, site, a: a!, b: b!, given }));
  });
  app.get(`${root}/runs/:run`, async (context) => {
    const { state, view } = found(await data.campaign(context.req.param('campaign')));
    const site = viewSite(view.name);
    const runId = context.req.param('run');
    const result = state.results.find((one) => one.runId === runId);
    if (result === undefined) {
      found(state.running.includes(runId) ? runId : undefined);
      return context.html(openRunHtml(view.name, site, runId, await attemptsOf(state, runId)));
    }
    const local = await localRun(state, result, site);
    return context.html(runHtml({ view, site, result, ...(local === undefined ? {} : { local }) }));
  });
}

function addAttemptPages(app: Hono, data: ViewerData): void {
  const root = '/campaigns/:campaign/runs/:run/attempts/:n';
  const at = async (param: (name: 'campaign' | 'run' | 'n') => string) => {
    const { state, view } = found(await data.campaign(param('campaign')));
    const runId = param('run');
    const folder = found(await attemptFolder(state, runId, param('n')));
    const site = viewSite(view.name);
    const base = site.attempt(runId, Number(param('n')))!;
    return { campaign: view.name, site, runId, attempt: Number(param('n')), folder, base };
  };
  app.get(`${root}/transcript`, async (context) => {
    const { folder, ...place } = await at((name) => context.req.param(name));
    const transcript = found(await data.transcripts.read(folder));
    const search = (context.req.query('search') ?? '').slice(0, 200);
    const page = transcriptPage(transcript, { page: wholeNumber(context.req.query('page'), 1), search });
    return context.html(transcriptHtml({ ...place, page, search }));
  });
  app.get(`${root}/transcript/part`, async (context) => {
    const { folder, base, ...place } = await at((name) => context.req.param(name));
    const transcript = found(await data.transcripts.read(folder));
    const { turn, call, part } = context.req.query();
    const kind = found(turnParts.find((name) => name === part));
    const callNumber = call === undefined ? null : wholeNumber(call, 1);
    const text = found(turnPart(transcript, wholeNumber(turn, 1), callNumber, kind));
    const number = wholeNumber(context.req.query('page'), 1);
    const here = (page: number): string =>
      `${base}/transcript/part?turn=${wholeNumber(turn, 1)}${callNumber === null ? '' : `&call=${callNumber}`}&part=${kind}&page=${page}`;
    const pages = Math.max(1, Math.ceil(text.length / partCharacters));
    const page = Math.min(number, pages);
    return context.html(
      textPageHtml({
        ...place,
        title: `Turn ${wholeNumber(turn, 1)}, ${kind}`,
        text: text.slice((page - 1) * partCharacters, page * partCharacters),
        place: `Part ${page} of ${pages}`,
        previous: page > 1 ? here(page - 1) : null,
        next: page < pages ? here(page + 1) : null,
        back: { text: 'Transcript', href: `${base}/transcript` },
      }),
    );
  });
  app.get(`${root}/gateway`, async (context) => {
    const { folder, ...place } = await at((name) => context.req.param(name));
    return context.html(gatewayHtml({ ...place, log: await readGatewayLog(folder) }));
  });
  app.get(`${root}/files/:path{.+}`, async (context) => {
    const { folder, base, ...place } = await at((name) => context.req.param(name));
    const path = context.req.param('path');
    const window = found(await readWindow(folder, path, wholeNumber(context.req.query('offset'), 0)));
    const here = `${base}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
    const end = window.next ?? window.bytes;
    return context.html(
      textPageHtml({
        ...place,
        title: path,
        text: window.text,
        place: `Bytes ${window.offset.toLocaleString('en-US')} to ${end.toLocaleString('en-US')} of ${window.bytes.toLocaleString('en-US')}`,
        previous: window.offset === 0 ? null : `${here}?offset=${Math.max(0, window.offset - windowBytes)}`,
        next: window.next === null ? null : `${here}?offset=${window.next}`,
        back: { text: `Attempt ${place.attempt}`, href: place.site.run(place.runId) },
      }),
    );
  });
}

/** Characters of a text that a page shows at once. */
const partCharacters = 100_000;
