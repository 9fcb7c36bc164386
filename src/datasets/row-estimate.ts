import { open } from 'node:fs/promises';
import { constants, gunzipSync } from 'node:zlib';
import type { SourceFile } from './release-folder.js';

const sampleBytes = 1 << 20;

/** About how many rows a CSV file has, from the length of the lines in its first megabyte; undefined for Parquet. */
export async function estimatedRows(source: SourceFile): Promise<number | undefined> {
  if (source.form === '.parquet' || source.bytes === 0) return undefined;
  const handle = await open(source.path);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0);
    const sample = buffer.subarray(0, bytesRead);
    const text = source.form === '.csv.gz' ? inflateStart(sample) : sample;
    if (text === undefined) return undefined;
    let lines = 0;
    for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) lines += 1;
    return Math.max(0, Math.round((lines * source.bytes) / bytesRead) - 1);
  } finally {
    await handle.close();
  }
}

/** What can be decompressed of the start of a gzip file; undefined when it is none. */
function inflateStart(sample: Buffer): Buffer | undefined {
  try {
    return gunzipSync(sample, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return undefined;
  }
}
