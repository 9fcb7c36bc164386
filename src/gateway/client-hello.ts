/** What the first bytes of a connection are. */
export type ClientHello =
  /** More bytes are needed. */
  | 'incomplete'
  /** No TLS client says this. */
  | 'no-tls'
  /** The server that the client asks for, in lower case; null when it names none. */
  | { readonly serverName: string | null };

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME_EXTENSION = 0;
const MAX_HELLO_BYTES = 64 * 1024;

/** Reads the server name of a TLS ClientHello (RFC 8446, section 4.1.2; RFC 6066, section 3). */
export function readClientHello(bytes: Buffer): ClientHello {
  const handshake: Buffer[] = [];
  let length = 0;
  for (let at = 0; ; ) {
    if (at + 5 > bytes.length) return 'incomplete';
    const recordBytes = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== HANDSHAKE_RECORD || bytes[at + 1] !== 3 || recordBytes === 0) return 'no-tls';
    handshake.push(bytes.subarray(at + 5, at + 5 + recordBytes));
    length += recordBytes;
    at += 5 + recordBytes;
    const hello = Buffer.concat(handshake);
    if (hello.length > 0 && hello[0] !== CLIENT_HELLO) return 'no-tls';
    if (hello.length >= 4) {
      const needed = 4 + hello.readUIntBE(1, 3);
      if (needed > MAX_HELLO_BYTES) return 'no-tls';
      if (hello.length >= needed) return { serverName: serverNameIn(hello.subarray(4, needed)) };
    }
    if (hello.length < length) return 'incomplete';
  }
}

function serverNameIn(hello: Buffer): string | null {
  try {
    let at = 34;
    at += 1 + hello.readUInt8(at);
    at += 2 + hello.readUInt16BE(at);
    at += 1 + hello.readUInt8(at);
    const end = at + 2 + hello.readUInt16BE(at);
    at += 2;
    while (at + 4 <= end) {
      const type = hello.readUInt16BE(at);
      const bytes = hello.readUInt16BE(at + 2);
      // A list with one entry: length, kind 0 (a host name), length, the name.
      if (type === SERVER_NAME_EXTENSION && hello.readUInt8(at + 6) === 0)
        return hello.toString('latin1', at + 9, at + 9 + hello.readUInt16BE(at + 7)).toLowerCase();
      at += 4 + bytes;
    }
  } catch {
    // Cut short: it names none.
  }
  return null;
}
