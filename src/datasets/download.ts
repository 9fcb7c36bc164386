import { mkdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import type { Home } from '../support/home.js';
import { type Progress, silentProgress } from '../support/progress.js';
import { knownDatasets } from './dataset.js';
import { DownloadProgress } from './download-progress.js';
import { basicAuthorization, type Login, refuseOpenTransport } from './login.js';
import { releaseFiles } from './release-files.js';
import { fetchRemoteFile, type RemoteFile, type Transfer } from './remote-file.js';
import { loadSourceSchema, type SourceSchema } from './source-schema.js';

/** Where PhysioNet keeps the files of all releases. */
export const physionetFiles = 'https://physionet.org/files/';

export interface DownloadOptions {
  /** `mimic-iv-demo`, `eicu-demo` (open), `mimic-iv`, `eicu` (credentialed). */
  readonly name: string;
  /** Release of a credentialed dataset; default the one the benchmark is defined for. */
  readonly release?: string;
  /** Needed for credentialed releases; asked for only then. */
  readonly login?: () => Promise<Login>;
  /** Default `<home>/downloads/<project>-<release>`. */
  readonly folder?: string;
  /** Address that stands for `https://physionet.org/files/`. */
  readonly mirror?: string;
  /** Files at a time, default 4. */
  readonly parallel?: number;
  readonly progress?: Progress;
  readonly transfer?: Omit<Transfer, 'authorization' | 'onBytes'>;
}

/** A downloaded release. */
export interface Download {
  readonly folder: string;
  readonly release: string;
  readonly files: number;
  /** How many of the files were there already. */
  readonly kept: number;
  readonly bytes: number;
  readonly licence: string;
}

/**
 * Downloads a release as PhysioNet ships it, several files at a time, each compared with its published SHA-256. What
 * is there already is kept, half a file is continued.
 */
export async function downloadRelease(home: Home, options: DownloadOptions): Promise<Download> {
  const progress = options.progress ?? silentProgress;
  const { schema, release } = await remoteOf(options);
  const facts = schema.releases[release]!;
  const base = baseAddress(options.mirror, facts.path);
  const folder = options.folder ?? join(home.root, 'downloads', facts.path.replaceAll('/', '-'));
  const transfer: Transfer = {
    ...options.transfer,
    ...(await authorizationFor(facts.access, base, options)),
  };

  progress.update(`asking ${base.host} for the files of ${schema.title} ${release}`);
  const files = await releaseFiles({ schema, release, base, folder }, transfer);
  const sizes = await sizesOf(files, transfer);
  await mkdir(folder, { recursive: true });
  await checkDisk(folder, files, sizes);

  const tracker = new DownloadProgress(progress, files.length, sumOf(sizes));
  let kept = 0;
  const waiting = [...files].sort((a, b) => (sizes.get(b.file) ?? 0) - (sizes.get(a.file) ?? 0));
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined && !hasFailed; file = waiting.shift()) {
      const { file: name } = file;
      const done = await fetchRemoteFile(file, {
        ...transfer,
        onBytes: (bytes) => tracker.advance(name, bytes),
      });
      if (done === 'kept') kept += 1;
      tracker.finish(name, (await stat(file.path)).size);
    }
  };
  const results = await Promise.allSettled(
    Array.from({ length: Math.max(1, options.parallel ?? 4) }, () =>
      work().catch((thrown: unknown) => {
        hasFailed = true;
        throw thrown;
      }),
    ),
  );
  tracker.stop();
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  const bytes = sumOf(
    new Map(await Promise.all(files.map(async ({ path }) => [path, (await stat(path)).size] as const))),
  );
  progress.done(
    `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB in ${folder}${kept > 0 ? ` (${kept} were there)` : ''}`,
  );
  return { folder, release, files: files.length, kept, bytes, licence: licenceOf(schema, release) };
}

async function remoteOf(
  options: DownloadOptions,
): Promise<{ readonly schema: SourceSchema; readonly release: string }> {
  const known = knownDatasets[options.name];
  if (known === undefined || known.class === 'synthetic') {
    throw new M4BenchError(
      'DATASET_KIND_UNKNOWN',
      `${options.name} is no dataset that PhysioNet offers.`,
      'Use mimic-iv-demo or eicu-demo (open), mimic-iv or eicu (credentialed); "data synthesize" generates data.',
    );
  }
  const schema = await loadSourceSchema(known.kind);
  const release = known.release ?? options.release ?? schema.targetVersion;
  const isOffered =
    schema.releases[release] !== undefined &&
    (options.release ?? release) === release &&
    (known.class === 'open') === (schema.releases[release].access === 'open');
  if (isOffered) return { schema, release };
  throw new M4BenchError(
    'RELEASE_UNKNOWN',
    `${options.name} has no release ${options.release ?? release}.`,
    `Known releases of ${schema.title}: ${Object.keys(schema.releases).join(', ')}.`,
  );
}

function baseAddress(mirror: string | undefined, path: string): URL {
  const text = mirror ?? physionetFiles;
  const root = URL.parse(text);
  if (
    root === null ||
    !['http:', 'https:'].includes(root.protocol) ||
    root.username !== '' ||
    root.password !== ''
  ) {
    throw new M4BenchError(
      'MIRROR_INVALID',
      '--mirror is no plain http or https address.',
      `Give an address that stands for ${physionetFiles}, without user name and password.`,
    );
  }
  return new URL(`${path}/`, root.href.endsWith('/') ? root.href : `${root.href}/`);
}

async function authorizationFor(
  access: 'credentialed' | 'open',
  base: URL,
  options: DownloadOptions,
): Promise<{ readonly authorization?: string }> {
  if (access === 'open') return {};
  refuseOpenTransport(base);
  if (options.login === undefined) {
    throw new M4BenchError(
      'DOWNLOAD_LOGIN_MISSING',
      `${options.name} is a credentialed release.`,
      'Give your PhysioNet user name with --user; the password is asked for.',
    );
  }
  return { authorization: basicAuthorization(await options.login()) };
}

/** Sizes the server tells; files whose size it keeps to itself are left out. */
async function sizesOf(
  files: readonly RemoteFile[],
  transfer: Transfer,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  const waiting = [...files];
  const ask = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const response = await fetch(file.url, {
        method: 'HEAD',
        headers: {
          'accept-encoding': 'identity',
          ...(transfer.authorization === undefined ? {} : { authorization: transfer.authorization }),
        },
        signal: AbortSignal.timeout(transfer.stallMilliseconds ?? 30_000),
      }).catch(() => undefined);
      const length = response?.ok === true ? response.headers.get('content-length') : null;
      if (length !== null && /^\d+$/.test(length)) sizes.set(file.file, Number(length));
    }
  };
  await Promise.all([ask(), ask(), ask(), ask()]);
  return sizes;
}

function sumOf(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

async function checkDisk(
  folder: string,
  files: readonly RemoteFile[],
  sizes: ReadonlyMap<string, number>,
): Promise<void> {
  const present = await Promise.all(
    files
      .flatMap(({ path }) => [path, `${path}.part`])
      .map((path) =>
        stat(path).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  const needed = sumOf(sizes) - present.reduce((sum, bytes) => sum + bytes, 0);
  const { bavail, bsize } = await statfs(folder);
  if (needed <= bavail * bsize) return;
  throw new M4BenchError(
    'DISK_TOO_SMALL',
    `The download needs ${(needed / 1e9).toFixed(1)} GB, ${folder} has ${((bavail * bsize) / 1e9).toFixed(1)} GB free.`,
    'Free space, or choose another folder with --to.',
    { party: 'environment' },
  );
}

/** What the user may do with a release, in a sentence or two. */
export function licenceOf(schema: SourceSchema, release: string): string {
  if (schema.releases[release]?.access === 'open') {
    return `${schema.title} (${release}) is licensed under the Open Data Commons Open Database License (ODbL) 1.0: name the source, and offer derived databases under the same licence. The text is LICENSE.txt beside the data.`;
  }
  return `${schema.title} (${release}) is restricted by the PhysioNet Credentialed Health Data License and the data use agreement that you signed: no row may be shared, also not with an online model provider that has not been cleared for it. The text is LICENSE.txt beside the data.`;
}
