import type { KeyObject } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { recordHash, recordJson, recordText, statusOf } from '../audit/record-files.js';
import type { Dataset } from '../datasets/dataset.js';
import { listDatasets } from '../datasets/dataset.js';
import { canonicalJson, sha256File } from '../support/hashing.js';
import type { Home } from '../support/home.js';
import { checkRecords, type RecordCheck } from './check-records.js';
import { Guard } from './guard.js';
import { type PackageManifest, sanitisationSchema } from './package-manifest.js';
import type { Ruleset } from './ruleset.js';
import { scanPackage } from './scan.js';
import { type Signature, type Statement, signatureProblem, signatureSchema } from './signing.js';
import { defaultLimits, type PackageProblem, type UnpackLimits, unpackPackage } from './unpack.js';

export interface VerifyOptions {
  readonly archive: string;
  readonly ruleset: Ruleset;
  /** Whose datasets are asked for identifiers; without one, identifiers are looked for by their shape only. */
  readonly home?: Home;
  /** The journal must be signed with this key. */
  readonly publicKey?: KeyObject;
  /** Folder of the campaign with the originals: their hashes are compared with what the package says of them. */
  readonly originals?: string;
  /** Where to unpack to, empty; default a temporary folder that is removed. */
  readonly folder?: string;
  readonly limits?: UnpackLimits;
}

export interface Verification {
  readonly isGood: boolean;
  readonly problems: readonly PackageProblem[];
  /** What was checked and what could not be, in sentences. */
  readonly notes: readonly string[];
  readonly manifest: PackageManifest | undefined;
  /** SHA-256 of the archive and of the tar in it. */
  readonly archiveSha256: string;
  readonly tarSha256: string | undefined;
  readonly scores: number;
}

/** Checks a package: its bytes, its records, its completeness, and that nothing is in it that must not be. */
export async function verifyPackage(options: VerifyOptions): Promise<Verification> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'm4bench-evidence-')));
  try {
    return await verifyIn(folder, options);
  } finally {
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function verifyIn(folder: string, options: VerifyOptions): Promise<Verification> {
  const name = basename(options.archive);
  const problems: PackageProblem[] = [];
  const notes: string[] = [];
  const unpacked = await unpackPackage(options.archive, folder, name, options.limits ?? defaultLimits);
  const archiveSha256 = await sha256File(options.archive);
  const sidecar = await recordText(`${options.archive}.sha256`);
  if (sidecar === undefined) notes.push(`There is no ${name}.sha256 to compare the archive with.`);
  else if (sidecar.split(/\s/)[0] !== archiveSha256)
    problems.push({
      code: 'ARCHIVE_DIFFERS',
      file: name,
      detail: `its SHA-256 is not that of ${name}.sha256`,
    });
  problems.push(...unpacked.problems);
  const { manifest } = unpacked;
  let scores = 0;
  if (manifest !== undefined && unpacked.problems.length === 0) {
    const records = await checkRecords(folder, manifest);
    problems.push(...records.problems);
    scores = records.rescored;
    notes.push(...notesOn(manifest, records));
    problems.push(...signatureProblems(manifest, records, options.publicKey));
    problems.push(...(await packageSignatureProblems(options, manifest, unpacked.tarSha256, notes)));
    const scan = await scanFor(folder, manifest, records, options);
    problems.push(...scan.problems);
    notes.push(...scan.notes);
    if (options.originals !== undefined)
      problems.push(...(await originalProblems(options.originals, records, notes)));
  }
  return {
    isGood: problems.length === 0,
    problems,
    notes,
    manifest,
    archiveSha256,
    tarSha256: unpacked.tarSha256,
    scores,
  };
}

function notesOn(manifest: PackageManifest, records: RecordCheck): readonly string[] {
  const { planned, packaged, missing, unplanned } = manifest.runs;
  const withheld = records.lineage.flatMap(({ attempts }) =>
    attempts.flatMap(({ files }) => files.filter(({ state }) => state === 'withheld')),
  ).length;
  return [
    planned === null
      ? `${packaged} runs; there is no plan to compare them with.`
      : `${packaged} of ${planned} planned runs, ${missing.length} missing and told so, ${unplanned.length} unplanned.`,
    `${records.rescored} scores worked out again from their counts; ${withheld} files are withheld, with hash and reason.`,
    records.journal === undefined
      ? 'There is no journal: runs could have been left out before the package was made.'
      : `The journal has ${records.journal.lines} lines and agrees; head ${records.journal.head.slice(0, 16)}.`,
  ];
}

function signatureProblems(
  manifest: PackageManifest,
  { signature, journal }: RecordCheck,
  expected: KeyObject | undefined,
): readonly PackageProblem[] {
  const file = 'journal.signature.json';
  if (signature === undefined)
    return expected === undefined
      ? []
      : [{ code: 'SIGNATURE_MISSING', file, detail: 'the journal is not signed' }];
  const wanted: Statement | undefined = journal && {
    purpose: 'm4bench campaign journal',
    campaign: manifest.campaign,
    planHash: manifest.planHash,
    sha256: journal.head,
    count: journal.lines,
  };
  const detail =
    signatureProblem(signature, expected) ??
    (says(signature, wanted) ? undefined : 'it signs another journal than the one in the package');
  return detail === undefined ? [] : [{ code: 'SIGNATURE_INVALID', file, detail }];
}

function says({ statement }: Signature, wanted: Statement | undefined): boolean {
  return wanted !== undefined && canonicalJson(statement) === canonicalJson(wanted);
}

/** The signature beside the archive, as `evidence pack --key` writes it; without one there is nothing to check. */
async function packageSignatureProblems(
  { archive, publicKey }: VerifyOptions,
  manifest: PackageManifest,
  tarSha256: string | undefined,
  notes: string[],
): Promise<readonly PackageProblem[]> {
  const path = `${archive}.signature.json`;
  const json = await recordJson(path);
  if (json === undefined && (await statusOf(path)) === undefined) return [];
  const invalid = (detail: string): readonly PackageProblem[] => [
    { code: 'SIGNATURE_INVALID', file: basename(path), detail },
  ];
  const signature = signatureSchema.safeParse(json);
  if (!signature.success) return invalid('it is no signature');
  const problem = signatureProblem(signature.data, publicKey);
  if (problem !== undefined) return invalid(problem);
  const wanted: Statement | undefined =
    tarSha256 === undefined
      ? undefined
      : {
          purpose: 'm4bench evidence package',
          campaign: manifest.campaign,
          planHash: manifest.planHash,
          sha256: tarSha256,
          count: manifest.entries.length,
        };
  if (!says(signature.data, wanted)) return invalid('it signs another package');
  notes.push(`The package is signed${publicKey === undefined ? '; whose key it is was not asked' : ''}.`);
  return [];
}

async function scanFor(
  folder: string,
  manifest: PackageManifest,
  { lineage }: RecordCheck,
  { ruleset, home }: VerifyOptions,
): Promise<{ readonly problems: readonly PackageProblem[]; readonly notes: readonly string[] }> {
  const wanted = new Map(lineage.map(({ inputs }) => [inputs.dataset, inputs.dataset]));
  const present = home === undefined ? [] : await listDatasets(home).catch((): readonly Dataset[] => []);
  const datasets = present.filter(({ contentHash }) => wanted.has(contentHash));
  const report = sanitisationSchema.safeParse(
    JSON.parse((await recordText(join(folder, 'sanitisation.json'))) ?? 'null'),
  );
  await using guard = await Guard.open({
    ruleset,
    datasets,
    terms: [],
    ...(report.success && report.data.years !== null ? { years: report.data.years } : {}),
  });
  const runIds = new Set([...lineage.map(({ runId }) => runId), ...manifest.runs.missing]);
  await scanPackage(folder, manifest.entries, guard.collecting, runIds);
  await guard.lookUp();
  const leaks = await scanPackage(folder, manifest.entries, guard.sanitiser, runIds);
  const names = datasets.map(({ name }) => name);
  return {
    problems: leaks.map(({ path, rule }) => ({
      code: 'FORBIDDEN_CONTENT',
      file: path,
      detail: `it holds what rule "${rule}" does not let out`,
    })),
    notes: [
      names.length === wanted.size
        ? `No identifier and no date of ${names.join(', ')} was found.`
        : 'Identifiers were looked for by their shape only: the dataset that the runs read is not at hand (--home).',
    ],
  };
}

/** Compares the originals with what the package says of them, withheld ones too. */
async function originalProblems(
  campaign: string,
  { lineage }: RecordCheck,
  notes: string[],
): Promise<readonly PackageProblem[]> {
  const problems: PackageProblem[] = [];
  let compared = 0;
  for (const { runId, result, attempts } of lineage) {
    const files = [
      result,
      ...attempts.flatMap(({ n, files: all }) =>
        all.map((one) => ({ ...one, file: `attempts/${n}/${one.file}` })),
      ),
    ];
    for (const { file, state, sha256 } of files) {
      if (state === 'absent') continue;
      compared += 1;
      const found = await recordHash(join(campaign, 'runs', runId, file));
      if (found !== sha256)
        problems.push({
          code: 'ORIGINAL_DIFFERS',
          file: `runs/${runId}/${file}`,
          detail: found === null ? 'the original is not there' : 'the original is another file',
        });
    }
  }
  const folders = await readdir(join(campaign, 'runs')).catch(() => []);
  const packaged = new Set(lineage.map(({ runId }) => runId));
  for (const runId of folders.filter((one) => !packaged.has(one)))
    if ((await recordHash(join(campaign, 'runs', runId, 'result.json'))) !== null)
      problems.push({
        code: 'RUN_DROPPED',
        file: `runs/${runId}`,
        detail: 'the campaign has a result of it',
      });
  notes.push(`${compared} originals were compared with their hashes.`);
  return problems;
}
