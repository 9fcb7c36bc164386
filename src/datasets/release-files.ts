import { join } from 'node:path';
import { M4BenchError } from '../support/errors.js';
import { checksumListOf, parseChecksums } from './checksums.js';
import { patiently, type RemoteFile, refusal, type Transfer } from './remote-file.js';
import type { SourceSchema } from './source-schema.js';

/** A release on a server. */
export interface RemoteRelease {
  readonly schema: SourceSchema;
  /** As in the source schema: `3.1`, `demo-2.2`. */
  readonly release: string;
  /** Address of the release's root, ending in `/`. */
  readonly base: URL;
  /** Folder for its files. */
  readonly folder: string;
}

const companions = /^(license\.txt|readme\.txt|readme|changelog\.txt|demo_subject_id\.csv)$/i;

/**
 * Files to fetch: the tables, and what explains and licenses them. Hashes come from the list embedded for the open
 * demos, else from the release's `SHA256SUMS.txt`; a release without that list is read from its HTML folders.
 */
export async function releaseFiles(
  remote: RemoteRelease,
  transfer: Transfer,
): Promise<readonly RemoteFile[]> {
  const embedded = remote.schema.checksums[remote.release];
  const published = embedded ?? (await publishedChecksums(remote, transfer));
  const names = published === undefined ? await listedFiles(remote, transfer) : Object.keys(published);
  const wanted = names.filter((name) => isTable(remote.schema, name) || companions.test(name));
  refuseIncomplete(remote, wanted);
  const hashes = published === undefined ? undefined : checksumListOf(published);
  const files = wanted.map((file): RemoteFile => {
    const sha256 = hashes?.get(file.toLowerCase());
    return {
      file,
      url: new URL(file, remote.base),
      path: join(remote.folder, ...file.split('/')),
      ...(sha256 === undefined ? {} : { sha256 }),
      isLenient: /^license\.txt$/i.test(file),
    };
  });
  if (published === undefined) return files;
  const list: RemoteFile = {
    file: 'SHA256SUMS.txt',
    url: new URL('SHA256SUMS.txt', remote.base),
    path: join(remote.folder, 'SHA256SUMS.txt'),
  };
  return [list, ...files];
}

function isTable(schema: SourceSchema, file: string): boolean {
  const found = /^(?:([^/]+)\/)?([^/]+)\.csv\.gz$/i.exec(file);
  if (found === null) return false;
  const folder = (found[1] ?? '').toLowerCase();
  const name = found[2]!.toLowerCase();
  return schema.tables.some((table) => table.folder === folder && table.name === name);
}

function refuseIncomplete({ schema, base }: RemoteRelease, files: readonly string[]): void {
  const tables = files.filter((file) => isTable(schema, file)).length;
  if (tables >= schema.tables.length) return;
  throw new M4BenchError(
    'DOWNLOAD_INCOMPLETE',
    `${base.href} lists ${tables} of the ${schema.tables.length} tables of ${schema.title}.`,
    'Check the address of --mirror: it stands for https://physionet.org/files/.',
    { party: 'environment' },
  );
}

/** A small text of the server; undefined when it has none there. */
async function textOf(url: URL, file: string, transfer: Transfer): Promise<string | undefined> {
  return patiently(file, transfer, async () => {
    const timeout = AbortSignal.timeout(transfer.stallMilliseconds ?? 30_000);
    const response = await fetch(url, {
      headers: transfer.authorization === undefined ? {} : { authorization: transfer.authorization },
      signal: transfer.signal === undefined ? timeout : AbortSignal.any([timeout, transfer.signal]),
    });
    if (response.ok) return response.text();
    await response.body?.cancel();
    if (response.status === 404) return undefined;
    throw refusal(file, response);
  });
}

async function publishedChecksums(
  { base }: RemoteRelease,
  transfer: Transfer,
): Promise<Readonly<Record<string, string>> | undefined> {
  const text = await textOf(new URL('SHA256SUMS.txt', base), 'SHA256SUMS.txt', transfer);
  if (text === undefined) return undefined;
  const list = parseChecksums(text);
  return list.length === 0
    ? undefined
    : Object.fromEntries(list.map(({ file, sha256 }) => [safeName(file), sha256]));
}

/** A path of a list that comes from a server must stay inside the release's folder. */
function safeName(file: string): string {
  const parts = file.split('/');
  if (!file.includes('\\') && parts.every((part) => part !== '' && part !== '.' && part !== '..'))
    return file;
  throw new M4BenchError(
    'DOWNLOAD_LIST_INVALID',
    `The server's file list names "${file.slice(0, 80)}", which leaves the folder of the release.`,
    'Do not use this mirror.',
    { party: 'environment' },
  );
}

/** Links of the release's folder pages that end in `.csv.gz`. */
async function listedFiles(remote: RemoteRelease, transfer: Transfer): Promise<readonly string[]> {
  const names: string[] = [];
  for (const folder of new Set(remote.schema.tables.map((table) => table.folder))) {
    const prefix = folder === '' ? '' : `${folder}/`;
    const page = (await textOf(new URL(prefix, remote.base), prefix || 'file list', transfer)) ?? '';
    for (const [, link] of page.matchAll(/href="([^"/?#]+\.csv\.gz)"/gi)) {
      names.push(prefix + decodeURIComponent(link!));
    }
  }
  return names.map(safeName);
}
