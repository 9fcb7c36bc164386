import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isInnerPath } from '../sandboxes/work-folder.js';
import { M4BenchError } from '../support/errors.js';
import { writeFileAtomic } from '../support/files.js';
import { readResult } from './campaign-index.js';
import type { CampaignFolder } from './plan.js';
import type { RunStore } from './run-store.js';

type S3Module = typeof import('@aws-sdk/client-s3');
type S3Client = InstanceType<S3Module['S3Client']>;

export interface S3Place {
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
}

/** `s3://bucket/prefix`. Throws `STORE_URL_INVALID`. */
export function parseS3Url(url: string): S3Place {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(url);
  if (match === null) {
    throw new M4BenchError(
      'STORE_URL_INVALID',
      `"${url}" is not the address of a bucket.`,
      'Give one such as s3://my-bucket/campaigns.',
    );
  }
  return { bucket: match[1]!, prefix: (match[2] ?? '').replace(/^\/+|\/+$/g, '') };
}

/** The official client, which is not installed with the benchmark: most campaigns need no bucket. */
async function loadSdk(): Promise<S3Module> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (thrown) {
    throw new M4BenchError(
      'S3_CLIENT_MISSING',
      'Results in a bucket need the package @aws-sdk/client-s3, and it is not installed.',
      'Run npm install @aws-sdk/client-s3 beside m4bench, or use a shared folder.',
      { party: 'environment', cause: thrown },
    );
  }
}

export interface S3StoreOptions {
  readonly campaign: CampaignFolder;
  readonly name: string;
  readonly url: string;
  /** Of S3-compatible servers, default Amazon's; path-style addresses are used with it. */
  readonly endpoint?: string;
}

const pointerSchema = z.object({
  token: z.string().regex(/^[0-9a-f]{16}$/),
  files: z.array(z.string()),
});
type Pointer = z.infer<typeof pointerSchema>;

/**
 * Experimental: results in an S3-compatible bucket, for machines that share no folder. A worker makes a run on its own
 * disk and uploads it under a name of its own; then a small pointer object `results/<run-id>.json` shows it to all. The
 * pointer is written with `If-None-Match: *`: on servers that know conditional writes the first one wins, on others the
 * one that stands when it is read. Attempts of a worker that dies stay on its disk. Credentials and region come from
 * where the official client looks for them.
 */
export async function s3Store(options: S3StoreOptions): Promise<RunStore> {
  const sdk = await loadSdk();
  const client = new sdk.S3Client(
    options.endpoint === undefined ? {} : { endpoint: options.endpoint, forcePathStyle: true },
  );
  return new S3Store(sdk, client, options);
}

class S3Store implements RunStore {
  private readonly bucket: string;
  private readonly root: string;

  constructor(
    private readonly sdk: S3Module,
    private readonly client: S3Client,
    private readonly options: S3StoreOptions,
  ) {
    const { bucket, prefix } = parseS3Url(options.url);
    this.bucket = bucket;
    this.root = [prefix, options.name].filter((part) => part !== '').join('/');
  }

  async finished(runIds: readonly string[]): Promise<ReadonlyMap<string, 'judged' | 'unjudged'>> {
    const asked = new Set(runIds);
    const found = new Map<string, 'judged' | 'unjudged'>();
    // One key is cheaper to ask for than the whole list.
    const names = async (folder: string): Promise<readonly string[]> =>
      runIds.length === 1
        ? (await this.read(`${folder}/${runIds[0]}.json`)) === undefined
          ? []
          : [`${runIds[0]}.json`]
        : await this.list(`${folder}/`);
    for (const status of ['unjudged', 'judged'] as const) {
      for (const name of await names(status)) {
        const runId = name.slice(0, -'.json'.length);
        if (asked.has(runId)) found.set(runId, status);
      }
    }
    return found;
  }

  async begin(runId: string, worker: string) {
    const folder = join(this.options.campaign.root, 'staging', `${runId}.${worker}`);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const unjudged = await this.pointer(`unjudged/${runId}.json`);
    if (unjudged !== undefined) await this.download(runId, unjudged, folder);
    return { folder, publish: () => this.publish(runId, folder) };
  }

  private async publish(runId: string, folder: string): Promise<boolean> {
    const token = randomBytes(8).toString('hex');
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort();
    for (const file of files) {
      await this.write(`runs/${runId}/${token}/${file}`, await readFile(join(folder, file)));
    }
    const status = (await readResult(folder))?.status ?? 'unjudged';
    const pointer: Pointer = { token, files };
    const key = `${status}/${runId}.json`;
    const isFirst = await this.writeIfAbsent(key, JSON.stringify(pointer), status === 'unjudged');
    await rm(folder, { recursive: true, force: true });
    return isFirst && (await this.pointer(key))?.token === token;
  }

  async fetch(runId: string): Promise<void> {
    const target = join(this.options.campaign.runs, runId);
    if ((await readResult(target))?.status === 'judged') return;
    const pointer =
      (await this.pointer(`judged/${runId}.json`)) ?? (await this.pointer(`unjudged/${runId}.json`));
    if (pointer === undefined) return;
    const folder = join(this.options.campaign.root, 'staging', `${runId}.fetched`);
    await rm(folder, { recursive: true, force: true });
    await this.download(runId, pointer, folder);
    await mkdir(this.options.campaign.runs, { recursive: true });
    await rm(target, { recursive: true, force: true });
    await rename(folder, target);
  }

  async readPlan(): Promise<string | undefined> {
    return (await this.read('campaign.json'))?.toString('utf8');
  }

  async writePlan(text: string): Promise<void> {
    await this.write('campaign.json', text);
  }

  /** Names in the bucket are other machines' words: none may leave the folder. */
  private async download(runId: string, { token, files }: Pointer, folder: string): Promise<void> {
    for (const file of files) {
      if (!isInnerPath(file)) {
        throw new M4BenchError(
          'STORE_DAMAGED',
          `The stored run ${runId} names a file outside of its folder.`,
          'Find out who wrote to the bucket; remove that object.',
          { party: 'environment' },
        );
      }
      const bytes = await this.read(`runs/${runId}/${token}/${file}`);
      const mode = file.endsWith('evaluation.private.json') ? 0o600 : 0o644;
      if (bytes !== undefined) await writeFileAtomic(join(folder, file), bytes, { mode });
    }
  }

  private async pointer(key: string): Promise<Pointer | undefined> {
    const bytes = await this.read(key);
    if (bytes === undefined) return undefined;
    const parsed = pointerSchema.safeParse(JSON.parse(bytes.toString('utf8')));
    return parsed.success ? parsed.data : undefined;
  }

  private async read(key: string): Promise<Buffer | undefined> {
    try {
      const command = new this.sdk.GetObjectCommand({ Bucket: this.bucket, Key: `${this.root}/${key}` });
      const { Body } = await this.client.send(command);
      return Body === undefined ? undefined : Buffer.from(await Body.transformToByteArray());
    } catch (thrown) {
      if (statusOf(thrown) === 404) return undefined;
      throw thrown;
    }
  }

  private async list(prefix: string): Promise<readonly string[]> {
    const names: string[] = [];
    let from: string | undefined;
    const start = `${this.root}/${prefix}`;
    do {
      const page = await this.client.send(
        new this.sdk.ListObjectsV2Command({
          Bucket: this.bucket,
          Prefix: start,
          ...(from === undefined ? {} : { ContinuationToken: from }),
        }),
      );
      names.push(...(page.Contents ?? []).map(({ Key }) => (Key ?? '').slice(start.length)));
      from = page.NextContinuationToken;
    } while (from !== undefined);
    return names;
  }

  private async write(key: string, body: string | Buffer): Promise<void> {
    await this.client.send(
      new this.sdk.PutObjectCommand({ Bucket: this.bucket, Key: `${this.root}/${key}`, Body: body }),
    );
  }

  /** False when the object is there. `replaces`: the newest wins instead. */
  private async writeIfAbsent(key: string, text: string, replaces: boolean): Promise<boolean> {
    if (!replaces && (await this.read(key)) !== undefined) return false;
    try {
      await this.client.send(
        new this.sdk.PutObjectCommand({
          Bucket: this.bucket,
          Key: `${this.root}/${key}`,
          Body: Buffer.from(text),
          ...(replaces ? {} : { IfNoneMatch: '*' }),
        }),
      );
      return true;
    } catch (thrown) {
      if ([409, 412].includes(statusOf(thrown) ?? 0)) return false;
      throw thrown;
    }
  }
}

function statusOf(thrown: unknown): number | undefined {
  return (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
