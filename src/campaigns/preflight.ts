import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { openDataset } from '../datasets/dataset.js';
import { contentHash, describeQuery } from '../duck/parquet.js';
import { DuckSession } from '../duck/session.js';
import { literal } from '../duck/sql.js';
import { hasPrice } from '../gateway/prices.js';
import { mayReceive } from '../runs/data-use.js';
import type { PreparedCell } from '../runs/prepare.js';
import type { RunEnvironment } from '../runs/run.js';
import { isIntact, type Rootfs } from '../sandboxes/rootfs.js';
import { messageOf } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { holderInWords } from '../support/lock.js';
import { lintContent } from '../tasks/lint.js';
import type { LoadTasksOptions } from '../tasks/load-tasks.js';
import { ownDatabases } from '../tasks/own-databases.js';
import { lockHolder } from './lock.js';
import { type CampaignPlan, campaignFolder } from './plan.js';
import { hostileFinding } from './preflight-hostile.js';

/** One finding of the preflight. A `problem` stops a campaign, a `warning` does not. */
export interface PreflightFinding {
  readonly code: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly detail: string;
  /** What to do; empty when nothing is to be done. */
  readonly remedy: string;
}

export interface PreflightOptions {
  readonly home: Home;
  readonly plan: CampaignPlan;
  readonly environment: RunEnvironment;
  readonly rootfs: Rootfs | undefined;
  readonly parallel: number;
  /** True when the campaign has a budget in money. */
  readonly hasCostBudget: boolean;
  readonly content: LoadTasksOptions;
  /** Cells by index; with it references, databases and materials are looked at too. */
  readonly prepare?: (cell: number) => Promise<PreparedCell>;
  /** Home folder of the user; with it the hostile agent is let loose once in the sandbox. */
  readonly hostileUserHome?: string;
}

const ok = (code: string, detail: string): PreflightFinding => ({ code, state: 'ok', detail, remedy: '' });
const problem = (code: string, detail: string, remedy: string): PreflightFinding => ({
  code,
  state: 'problem',
  detail,
  remedy,
});
const warning = (code: string, detail: string, remedy: string): PreflightFinding => ({
  code,
  state: 'warning',
  detail,
  remedy,
});

type Check = readonly [string, () => Promise<PreflightFinding | readonly PreflightFinding[]>];

/**
 * What must hold before the first run of a campaign, looked at for what is planned only. Checks never stop each other;
 * each has one code, whatever it finds. Nothing is sent to a model service.
 */
export async function preflight(options: PreflightOptions): Promise<readonly PreflightFinding[]> {
  const { prepare, hostileUserHome, home, environment } = options;
  const checks: readonly Check[] = [
    ['LOCK', () => checkLock(options)],
    ['FOLDER', () => checkFolder(options)],
    ['DISK', () => checkDisk(options)],
    ['MEMORY', () => checkMemory(options)],
    ['ROOTFS', () => checkRootfs(options)],
    ['PROVIDERS', async () => checkProviders(options)],
    ['DATA_USE', () => checkDataUse(options)],
    ['PRICES', async () => checkPrices(options)],
    ['PRIVACY', () => checkPrivacy(options)],
    ...(prepare === undefined
      ? []
      : ([
          ['CONTENT', () => checkContent(options)],
          ['CELLS', () => checkCells(options, prepare)],
        ] satisfies readonly Check[])),
    ...(hostileUserHome === undefined
      ? []
      : ([['HOSTILE', () => hostileFinding(home, environment, hostileUserHome)]] satisfies readonly Check[])),
  ];
  const findings: PreflightFinding[] = [];
  for (const [code, check] of checks) {
    try {
      findings.push(...[await check()].flat());
    } catch (thrown) {
      findings.push(problem(code, `the check itself failed: ${messageOf(thrown)}`, 'Run m4bench doctor.'));
    }
  }
  return findings;
}

async function checkLock({ home, plan }: PreflightOptions): Promise<PreflightFinding> {
  const holder = await lockHolder(campaignFolder(home, plan.name).root);
  if (holder === undefined) return ok('LOCK', 'no other process runs this campaign');
  return problem(
    'LOCK',
    `${holderInWords(holder)} runs this campaign`,
    `Wait for it, or m4bench campaign stop ${plan.name}.`,
  );
}

/** Seconds that the clock of a file server may differ from ours. */
const clockSkewSeconds = 5;

async function checkFolder({ home, plan }: PreflightOptions): Promise<PreflightFinding> {
  const { root } = campaignFolder(home, plan.name);
  const probe = join(root, `probe-${randomBytes(4).toString('hex')}.tmp`);
  try {
    await mkdir(root, { recursive: true });
    const before = Date.now();
    await writeFile(probe, 'probe');
    const skew = ((await stat(probe)).mtimeMs - before) / 1000;
    if (Math.abs(skew) <= clockSkewSeconds) return ok('FOLDER', `${root} can be written to`);
    return warning(
      'FOLDER',
      `the clock of the file system at ${root} differs by ${skew.toFixed(0)} s`,
      'Synchronise the clocks of the machines.',
    );
  } catch (thrown) {
    return problem(
      'FOLDER',
      `${root} cannot be written to: ${messageOf(thrown)}`,
      'Choose another --home, or mend it.',
    );
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
}

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

/** Kept of one run: the published campaign has 64 MB a run on the full release, the demos a few hundred kB. */
const bytesPerRun = { credentialed: 64e6, other: 2e6 } as const;

async function checkDisk(options: PreflightOptions): Promise<PreflightFinding> {
  const { home, plan, environment, parallel } = options;
  const isFull = (await credentialedIn(options)).length > 0;
  const each = isFull ? bytesPerRun.credentialed : bytesPerRun.other;
  const { bavail, bsize } = await statfs(home.root);
  const free = bavail * bsize;
  const wanted = plan.runs.length * each + 1e9;
  const work = environment.limits.workBytes * parallel;
  if (free < wanted) {
    return problem(
      'DISK',
      `${gibibytes(free)} free at ${home.root}, about ${gibibytes(wanted)} needed`,
      'Make room, or move --home.',
    );
  }
  if (Number.isFinite(work) && free < work) {
    return warning(
      'DISK',
      `${gibibytes(free)} free; ${parallel} runs that fill their work folders would take ${gibibytes(work)}`,
      'Lower --parallel, or make room.',
    );
  }
  return ok('DISK', `${gibibytes(free)} free, about ${gibibytes(wanted)} needed`);
}

async function checkMemory({ environment, parallel }: PreflightOptions): Promise<PreflightFinding> {
  const asked = environment.limits.memoryBytes * parallel;
  if (asked <= totalmem() * 0.8) return ok('MEMORY', `${gibibytes(asked)} for ${parallel} sandboxes at once`);
  return warning(
    'MEMORY',
    `${parallel} sandboxes may take ${gibibytes(asked)} of ${gibibytes(totalmem())}; fewer will run at once`,
    'Lower --parallel or --memory.',
  );
}

async function checkRootfs({ environment, plan, rootfs }: PreflightOptions): Promise<PreflightFinding> {
  const { kind, isIsolated } = environment.sandbox;
  if (!isIsolated) {
    return warning(
      'ROOTFS',
      `the ${kind} sandbox does not isolate: no run is publishable`,
      'Use --sandbox bubblewrap.',
    );
  }
  if (rootfs === undefined) {
    return warning('ROOTFS', 'no root file system is built: no run is publishable', 'm4bench sandbox build');
  }
  const planned = new Set(plan.cells.map((cell) => cell.rootfsDigest));
  if (!planned.has(rootfs.manifest.digest)) {
    return problem(
      'ROOTFS',
      'the root file system is not the one that was planned',
      'Put the planned one in place, or plan another campaign.',
    );
  }
  if (await isIntact(rootfs)) return ok('ROOTFS', `${rootfs.manifest.digest.slice(0, 23)}, as built`);
  return problem('ROOTFS', 'the root file system was changed after it was built', 'm4bench sandbox build');
}

function checkProviders({ environment, plan }: PreflightOptions): PreflightFinding {
  const { providers, provider } = environment;
  if (providers.length === 0) return ok('PROVIDERS', `agent ${plan.cells[0]?.agent} asks no model`);
  const names = providers.map(({ name, baseUrl }) => `${name} at ${new URL(baseUrl).host}`).join(', ');
  const keyless = providers.filter(({ apiKey, name }) => apiKey === '' && name !== 'local');
  if (keyless.length > 0) {
    return problem(
      'PROVIDERS',
      `no key for ${keyless.map(({ name }) => name).join(', ')}`,
      'Set its environment variable.',
    );
  }
  if (provider === undefined && providers.length > 1) {
    return warning('PROVIDERS', `several are configured (${names})`, 'Name one with --provider.');
  }
  return ok('PROVIDERS', names);
}

/** Planned datasets whose rows are under a data use agreement. */
async function credentialedIn({ home, plan }: PreflightOptions): Promise<readonly string[]> {
  const names = [...new Set(plan.cells.map(({ dataset }) => dataset))];
  const datasets = await Promise.all(names.map((name) => openDataset(home, name)));
  return datasets.filter((dataset) => dataset.class === 'credentialed').map(({ name }) => name);
}

async function checkDataUse(options: PreflightOptions): Promise<PreflightFinding> {
  const { environment, home } = options;
  const credentialed = await credentialedIn(options);
  if (credentialed.length === 0) return ok('DATA_USE', 'open or synthetic data only');
  const refused = environment.providers.filter(
    (provider) => !mayReceive(provider, 'credentialed', environment.attestations).allowed,
  );
  if (refused.length === 0)
    return ok('DATA_USE', `${credentialed.join(', ')}: every service is local or attested`);
  return problem(
    'DATA_USE',
    `rows of ${credentialed.join(', ')} may not go to ${refused.map(({ name }) => name).join(', ')}`,
    `Use a local model, or attest the service in ${join(home.root, 'config.toml')} (docs/isolation.md).`,
  );
}

function checkPrices({ environment, plan, hasCostBudget }: PreflightOptions): PreflightFinding {
  const { providers, prices } = environment;
  if (providers.length === 0 || prices === undefined) return ok('PRICES', 'nothing to pay');
  const provider = environment.provider ?? providers[0]!.name;
  const models = [...new Set(plan.cells.map(({ model }) => model))];
  const without = models
    .filter((model) => !hasPrice(prices, provider, model))
    .map((model) => model ?? 'default');
  if (without.length === 0) return ok('PRICES', 'every model has a price');
  const finding = hasCostBudget ? problem : warning;
  return finding(
    'PRICES',
    `no price for ${without.join(', ')}: their cost is unknown`,
    'Use --budget-tokens, or add the models to benchmark/prices.toml.',
  );
}

async function checkPrivacy(options: PreflightOptions): Promise<PreflightFinding> {
  const { home } = options;
  const hasPatients = (await credentialedIn(options)).length > 0;
  let folder = home.root;
  while (hasPatients && dirname(folder) !== folder) {
    if (existsSync(join(folder, '.git'))) {
      return warning(
        'PRIVACY',
        `${home.root} lies in the git repository ${folder}: outputs of agents hold patient rows`,
        'Keep --home outside of repositories, or make sure that it is ignored.',
      );
    }
    folder = dirname(folder);
  }
  return ok('PRIVACY', hasPatients ? 'the folder is in no git repository' : 'no credentialed data');
}

async function checkContent({ content, home }: PreflightOptions): Promise<PreflightFinding> {
  const found = await lintContent({ ...content, ownDatabases: await ownDatabases(home) });
  if (found.length === 0) return ok('CONTENT', 'instructions, specifications and skills give nothing away');
  const words = found.slice(0, 20).map(({ file, line, message }) => `${basename(file)}:${line}: ${message}`);
  return problem('CONTENT', words.join('; '), 'm4bench tasks lint');
}

/** Everything that hangs on the cells: inputs as planned, material, references, removal. One finding per code. */
async function checkCells(
  { plan }: PreflightOptions,
  prepare: (cell: number) => Promise<PreparedCell>,
): Promise<readonly PreflightFinding[]> {
  const troubles = new Map<string, string[]>([
    ['INPUTS', []],
    ['MATERIAL', []],
    ['REFERENCES', []],
    ['REMOVAL', []],
  ]);
  const add = (code: string, detail: string | undefined): void => {
    if (detail !== undefined && !troubles.get(code)!.includes(detail)) troubles.get(code)!.push(detail);
  };
  const seen = new Set<string>();
  await using session = await DuckSession.open();
  for (const [index, cell] of plan.cells.entries()) {
    let prepared: PreparedCell;
    try {
      prepared = await prepare(index);
    } catch (thrown) {
      add('INPUTS', messageOf(thrown));
      continue;
    }
    const { task } = prepared.request;
    if (!(task.conditions as readonly string[]).includes(cell.condition)) {
      add('MATERIAL', `${cell.task} has no material for ${cell.condition}`);
    }
    const once = async (
      key: string,
      code: string,
      check: () => Promise<string | undefined>,
    ): Promise<void> => {
      if (seen.has(`${code} ${key}`)) return;
      seen.add(`${code} ${key}`);
      add(code, await check());
    };
    await once(prepared.reference.parquetPath, 'REFERENCES', () => referenceTrouble(session, prepared));
    await once(prepared.taskDatabase.path, 'REMOVAL', () => removalTrouble(prepared));
  }
  const remedies: Readonly<Record<string, string>> = {
    INPUTS: 'Restore what was planned, or plan another campaign.',
    MATERIAL: 'Leave the condition out for this task, or write its material (m4bench tasks lint).',
    REFERENCES: 'm4bench references build --dataset NAME',
    REMOVAL: 'Report it: nothing may run on a database that holds the answer.',
  };
  const fine: Readonly<Record<string, string>> = {
    INPUTS: `${plan.cells.length} cells are as planned`,
    MATERIAL: 'every condition has its material',
    REFERENCES: 'rows and columns agree with the manifests',
    REMOVAL: 'removed tables are absent from every task database',
  };
  return [...troubles].map(([code, details]) =>
    details.length === 0
      ? ok(code, fine[code]!)
      : problem(
          code,
          `${details.slice(0, 20).join('; ')}${details.length > 20 ? `; and ${details.length - 20} more` : ''}`,
          remedies[code]!,
        ),
  );
}

/** Rows as their manifest says, and every column that is scored there. */
async function referenceTrouble(session: DuckSession, prepared: PreparedCell): Promise<string | undefined> {
  const { reference, request, cell } = prepared;
  const from = `read_parquet(${literal(reference.parquetPath)})`;
  const columns = await describeQuery(session, `select * from ${from}`);
  const actual = await contentHash(session, from, columns);
  if (actual.contentHash !== reference.manifest.contentHash) {
    return `rows of ${reference.key} on ${cell.dataset} differ from their manifest`;
  }
  const names = new Set(columns.map(({ name }) => name));
  const { keyColumns, scoredColumns } = request.task.contract;
  const missing = [...keyColumns, ...scoredColumns].filter((column) => !names.has(column));
  return missing.length === 0 ? undefined : `reference ${reference.key} lacks ${missing.join(', ')}`;
}

/** Opens the task database as an agent would and looks for what must not be there. */
async function removalTrouble(prepared: PreparedCell): Promise<string | undefined> {
  const { cell, request, taskDatabase } = prepared;
  await using session = await DuckSession.open({ path: taskDatabase.path, readOnly: true });
  const rows = await session.rows('select table_schema, table_name from information_schema.tables');
  const present = rows.map((row) => `${String(row.table_schema)}.${String(row.table_name)}`);
  // Transformed names are codes; `schemas verify` proves those against their dictionary.
  if (cell.schema !== 'native')
    return present.length === 0 ? `${cell.task}: the database is empty` : undefined;
  const forbidden = new Set(request.task.removesPublished);
  const left = present.filter(
    (name) =>
      forbidden.has(name) ||
      (request.task.mode === 'raw' &&
        request.task.database === 'mimic-iv' &&
        name.startsWith('mimiciv_derived.')),
  );
  if (left.length > 0) return `${cell.task}: ${left.join(', ')} can be read`;
  return present.length === 0 ? `${cell.task}: the database is empty` : undefined;
}
