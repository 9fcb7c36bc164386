import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

/** A refusal that is answered with this status. */
export interface BodyRefusal {
  readonly status: number;
  readonly refusal: string;
}

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(zlib.gunzip) as Decoder,
  'x-gzip': promisify(zlib.gunzip) as Decoder,
  deflate: promisify(zlib.inflate) as Decoder,
  br: promisify(zlib.brotliDecompress) as Decoder,
};

/** zstd came to Node with 22.15; earlier ones refuse it. */
function decoderOf(encoding: string): Decoder | undefined {
  const found = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (found !== undefined || encoding !== 'zstd') return found;
  const zstd = (zlib as unknown as Readonly<Record<string, unknown>>).zstdDecompress;
  return typeof zstd === 'function'
    ? (promisify(zstd as (...words: unknown[]) => void) as unknown as Decoder)
    : undefined;
}

/** Reads a request's body to its end, within a limit; the rest of a larger one is not kept. */
async function readLimited(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** The body of a request, decoded, or why it is refused. The limit holds before and after decoding. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ readonly body: Buffer; readonly wireBytes: number } | BodyRefusal> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const decode = encoding === 'identity' || encoding === '' ? undefined : decoderOf(encoding);
  if (encoding !== 'identity' && encoding !== '' && decode === undefined) {
    return {
      status: 415,
      refusal: `content encoding ${encoding.slice(0, 40)} cannot be read here; send the request uncompressed`,
    };
  }
  const wire = await readLimited(request, maxBytes);
  if (wire === undefined) return { status: 413, refusal: `request larger than ${maxBytes} bytes` };
  if (decode === undefined) return { body: wire, wireBytes: wire.length };
  try {
    return { body: await decode(wire, { maxOutputLength: maxBytes }), wireBytes: wire.length };
  } catch (thrown) {
    const isTooLarge = thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge
      ? { status: 413, refusal: `request larger than ${maxBytes} bytes when decoded` }
      : { status: 400, refusal: `request body is not valid ${encoding}` };
  }
}
