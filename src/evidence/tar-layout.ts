import { pack } from 'tar-stream';

const BLOCK = 512;

/** Everything of an entry but its name and size is fixed, so that the bytes of a package follow from its content. */
export async function tarHeader(path: string, bytes: number): Promise<Buffer> {
  const archive = pack();
  const chunks: Buffer[] = [];
  archive.on('data', (chunk: unknown) => chunks.push(chunk as Buffer));
  archive.on('error', () => {});
  const entry = archive.entry({
    name: path,
    size: bytes,
    type: 'file',
    mode: 0o644,
    uid: 0,
    gid: 0,
    mtime: new Date(0),
  });
  entry.on('error', () => {});
  await new Promise((done) => setImmediate(done));
  archive.destroy();
  return Buffer.concat(chunks);
}

/** Zeros between the end of a body and the next header. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);
}

/** The two empty blocks that end an archive. */
export const tarEnd = Buffer.alloc(2 * BLOCK);

/** What a header block says of itself, for messages; nothing is done with it. */
export function describeHeader(block: Buffer): string {
  const text = (from: number, length: number): string =>
    block.toString('latin1', from, from + length).replace(/\0.*$/s, '');
  const kinds: Readonly<Record<string, string>> = {
    '0': 'a file',
    '': 'a file',
    '1': 'a hard link',
    '2': 'a symbolic link',
    '3': 'a device',
    '4': 'a device',
    '5': 'a folder',
    '6': 'a pipe',
  };
  const kind = kinds[text(156, 1)] ?? 'an entry of another kind';
  const prefix = text(345, 155);
  return `${kind} named ${JSON.stringify(prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`)}`;
}

/** Size field of a header block; undefined when it is none. */
export function sizeIn(block: Buffer): number | undefined {
  const field = block.toString('latin1', 124, 136).replace(/[\0 ].*$/s, '');
  return /^[0-7]{1,11}$/.test(field) ? Number.parseInt(field, 8) : undefined;
}
