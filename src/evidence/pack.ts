import type { KeyObject } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { writeFileAtomic, writeJsonAtomic } from '../support/files.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { benchmarkVersion } from '../version.js';
import { type WrittenArchive, writeArchive } from './archive-writer.js';
import { type CampaignSource, readCampaignSource } from './campaign-source.js';
import { Guard } from './guard.js';
import { datasetsToGuard } from './identifiers.js';
import type { PackageManifest, SanitisationReport } from './package-manifest.js';
import { packageReadme } from './package-readme.js';
import { recordText } from './record-sanitiser.js';
import { loadRuleset, type PackageMode, type Ruleset } from './ruleset.js';
import { packageTables } from './run-table.js';
import { scanPackage } from './scan.js';
import { signStatement } from './signing.js';
import { addFile, runIdsOf, type Staged, stageCampaign } from './stage.js';

export interface PackOptions {
  readonly home: Home;
  readonly campaign: string;
  readonly mode: PackageMode;
  /** The archive, `.tar.zst`; sidecars stand beside it. */
  readonly out: string;
  /** Words to take out. */
  readonly terms?: readonly string[];
  /** Identifier columns of own kinds of databases. */
  readonly identifiersFile?: string;
  /** Secret of the pseudonyms, 16 to 64 bytes; needed in private mode, never written anywhere. */
  readonly salt?: Buffer;
  /** Signs the package. */
  readonly key?: KeyObject;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

export interface Packed {
  readonly archive: WrittenArchive;
  readonly manifest: PackageManifest;
  readonly report: SanitisationReport;
  /** Files beside the archive. */
  readonly sidecars: readonly string[];
}

/**
 * Makes a package of a campaign. The same campaign, mode, terms and salt give the same bytes. Nothing is left behind
 * when it is refused: `EVIDENCE_LEAK` when something that must not be published is still found after all rules.
 */
export async function packCampaign(options: PackOptions): Promise<Packed> {
  const progress = options.progress ?? silentProgress;
  checkOptions(options);
  const { home, mode } = options;
  const ruleset = await loadRuleset(
    options.identifiersFile === undefined ? {} : { identifiersFile: options.identifiersFile },
  );
  const source = await readCampaignSource(home, options.campaign, ruleset, options.signal);
  const wanted = new Map(source.runs.map(({ result }) => [result.dataset.contentHash, result.dataset]));
  const datasets = await datasetsToGuard(home, ruleset, [...wanted.values()]);
  await using guard = await Guard.open({
    ruleset,
    datasets,
    terms: options.terms ?? [],
    home,
    ...(mode === 'private' && options.salt !== undefined ? { salt: options.salt } : {}),
  });
  await mkdir(dirname(options.out), { recursive: true });
  const folder = await mkdtemp(join(dirname(options.out), '.m4bench-evidence-'));
  try {
    const staged = await stageCampaign({
      source,
      ruleset,
      guard,
      mode,
      salt: options.salt,
      folder,
      onRun: (runId) => progress.update(`sanitise ${runId}`),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const report = reportOf(ruleset, staged, guard, mode, source);
    const manifest = await addOverview(folder, source, staged, ruleset, mode, report);
    progress.update('look for what must not be there');
    await refuseLeaks(folder, manifest, guard, source);
    progress.update('pack');
    const archive = await writeArchive(options.out, folder, recordText(manifest), manifest.entries);
    const sidecars = await writeSidecars(options, archive, manifest);
    return { archive, manifest, report, sidecars };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function checkOptions({ out, mode, salt }: PackOptions): void {
  if (!out.endsWith('.tar.zst')) {
    throw new M4BenchError('EVIDENCE_NAME', `${out} does not end in .tar.zst.`, 'Name a file that does.');
  }
  if (mode === 'private' && (salt === undefined || salt.length < 16 || salt.length > 64)) {
    throw new M4BenchError(
      'EVIDENCE_SALT',
      'A private package needs a secret salt of 16 to 64 bytes for its pseudonyms.',
      'Name a file for it with --salt; it is made when it is not there. Never give it away with the package.',
    );
  }
}

function reportOf(
  ruleset: Ruleset,
  staged: Staged,
  guard: Guard,
  mode: PackageMode,
  source: CampaignSource,
): SanitisationReport {
  const datasets = new Map(source.runs.map(({ result }) => [result.dataset.name, result.dataset]));
  return {
    schemaVersion: 1,
    mode,
    rules: ruleset.rules.map(({ id, why }) => ({ id, why, hits: staged.hits.get(id) ?? 0 })),
    years: guard.years ?? null,
    datasets: [...datasets.values()]
      .map(({ name, contentHash, class: kind }) => ({ name, contentHash, class: kind }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    files: [...staged.hitsByFile].map(([path, hits]) => ({ path, hits: Object.fromEntries(hits) })),
  };
}

/** Adds what is made of all runs together, and lists everything. */
async function addOverview(
  folder: string,
  source: CampaignSource,
  staged: Staged,
  ruleset: Ruleset,
  mode: PackageMode,
  report: SanitisationReport,
): Promise<PackageManifest> {
  const lineage = staged.lineage.map((line) => `${JSON.stringify(line)}\n`).join('');
  await addFile(folder, staged, 'lineage.jsonl', lineage);
  await addFile(folder, staged, 'sanitisation.json', recordText(report));
  for (const [path, content] of Object.entries(packageTables(staged.runs)))
    await addFile(folder, staged, path, content);
  const runs = {
    planned: source.plan?.runs.length ?? null,
    packaged: source.runs.length,
    missing: [...source.missing],
    unplanned: [...source.unplanned],
  };
  await addFile(folder, staged, 'README.md', packageReadme({ campaign: source.name, mode, runs, report }));
  return {
    schemaVersion: 1,
    kind: 'm4bench-evidence',
    mode,
    campaign: source.name,
    benchmarkVersion,
    planHash: source.plan?.planHash ?? null,
    rules: { version: ruleset.version, sha256: ruleset.sha256 },
    runs,
    entries: [...staged.entries].sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

/** The last gate: whatever the rules missed stops the package, and is named by file and rule, not by value. */
async function refuseLeaks(
  folder: string,
  { entries }: PackageManifest,
  guard: Guard,
  source: CampaignSource,
): Promise<void> {
  const runIds = runIdsOf(source);
  await scanPackage(folder, entries, guard.collecting, runIds);
  await guard.lookUp();
  const leaks = await scanPackage(folder, entries, guard.sanitiser, runIds);
  if (leaks.length === 0) return;
  const shown = leaks.slice(0, 5).map(({ path, rule }) => `${path} (rule ${rule})`);
  throw new M4BenchError(
    'EVIDENCE_LEAK',
    `Something that must not be published is still there after all rules: ${shown.join('; ')}${leaks.length > 5 ? `, and ${leaks.length - 5} more` : ''}.`,
    'Nothing was written. Take the passage out of the record of that run as a rule would (--terms), or report it.',
  );
}

async function writeSidecars(
  options: PackOptions,
  archive: WrittenArchive,
  manifest: PackageManifest,
): Promise<readonly string[]> {
  const { out, key } = options;
  const sums = `${out}.sha256`;
  await writeFileAtomic(sums, `${archive.sha256}  ${basename(out)}\n`);
  const summary = `${out}.manifest.json`;
  const counts = new Map<string, { files: number; bytes: number }>();
  for (const { path, bytes } of manifest.entries) {
    const group = path.includes('/') ? path.slice(0, path.indexOf('/')) : 'overview';
    const before = counts.get(group) ?? { files: 0, bytes: 0 };
    counts.set(group, { files: before.files + 1, bytes: before.bytes + bytes });
  }
  await writeJsonAtomic(summary, {
    schemaVersion: 1,
    archive: {
      file: basename(out),
      bytes: archive.bytes,
      sha256: archive.sha256,
      tarBytes: archive.tarBytes,
      tarSha256: archive.tarSha256,
    },
    mode: manifest.mode,
    campaign: manifest.campaign,
    runs: {
      ...manifest.runs,
      missing: manifest.runs.missing.length,
      unplanned: manifest.runs.unplanned.length,
    },
    contents: Object.fromEntries(counts),
  });
  if (key === undefined) return [sums, summary];
  const signature = `${out}.signature.json`;
  await writeJsonAtomic(
    signature,
    signStatement(
      {
        purpose: 'm4bench evidence package',
        campaign: manifest.campaign,
        planHash: manifest.planHash,
        sha256: archive.tarSha256,
        count: manifest.entries.length,
      },
      key,
    ),
  );
  return [sums, summary, signature];
}
