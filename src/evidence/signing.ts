import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { M4BenchError, messageOf } from '../support/errors.js';
import { writeFileAtomic } from '../support/files.js';
import { canonicalJson } from '../support/hashing.js';

/** Beside the journal of a campaign, and in its packages. */
export const journalSignatureName = 'journal.signature.json';

/** What is signed: canonical JSON of these fields, UTF-8. */
const statementSchema = z.strictObject({
  purpose: z.enum(['m4bench campaign journal', 'm4bench evidence package']),
  campaign: z.string(),
  planHash: z.string().nullable(),
  /** Head of the journal, or SHA-256 of the archive before compression. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Lines of the journal, or entries of the package. */
  count: z.number().int().nonnegative(),
});
export type Statement = z.infer<typeof statementSchema>;

export const signatureSchema = z.strictObject({
  schemaVersion: z.literal(1),
  algorithm: z.literal('Ed25519'),
  statement: statementSchema,
  /** PEM (SPKI). */
  publicKey: z.string(),
  /** Base64. */
  signature: z.string(),
});
export type Signature = z.infer<typeof signatureSchema>;

/** Makes a key pair: PKCS 8 PEM at `path` (mode 0600, never overwritten) and SPKI PEM at `path.pub`. */
export async function makeKeyPair(path: string): Promise<{ readonly publicKeyPath: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeFileAtomic(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
    exclusive: true,
  });
  const publicKeyPath = `${path}.pub`;
  await writeFileAtomic(publicKeyPath, publicKey.export({ type: 'spki', format: 'pem' }), {
    exclusive: true,
  });
  return { publicKeyPath };
}

/** Throws `KEY_INVALID` unless the file holds an Ed25519 key. */
export async function readPrivateKey(path: string): Promise<KeyObject> {
  return keyIn(path, (text) => createPrivateKey(text));
}

/** Throws `KEY_INVALID` unless the file holds an Ed25519 key. */
export async function readPublicKey(path: string): Promise<KeyObject> {
  return keyIn(path, (text) => createPublicKey(text));
}

async function keyIn(path: string, parse: (text: string) => KeyObject): Promise<KeyObject> {
  try {
    const key = parse(await readFile(path, 'utf8'));
    if (key.asymmetricKeyType === 'ed25519') return key;
    throw new Error(`it is a key of type ${key.asymmetricKeyType}`);
  } catch (thrown) {
    throw new M4BenchError(
      'KEY_INVALID',
      `${path} is no Ed25519 key in PEM form: ${messageOf(thrown)}.`,
      'Make one with m4bench evidence key FILE.',
      { cause: thrown },
    );
  }
}

/** Signs a statement. */
export function signStatement(statement: Statement, key: KeyObject): Signature {
  return {
    schemaVersion: 1,
    algorithm: 'Ed25519',
    statement,
    publicKey: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
    signature: sign(null, Buffer.from(canonicalJson(statement)), key).toString('base64'),
  };
}

/** Why a signature does not hold, or undefined when it does. `expected` is the key that it must be of, where known. */
export function signatureProblem(signature: Signature, expected?: KeyObject): string | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey(signature.publicKey);
  } catch {
    return 'its public key cannot be read';
  }
  if (key.asymmetricKeyType !== 'ed25519') return 'its key is not of type Ed25519';
  const der = (one: KeyObject): string => one.export({ type: 'spki', format: 'der' }).toString('hex');
  if (expected !== undefined && der(expected) !== der(key)) return 'it was made with another key';
  const message = Buffer.from(canonicalJson(signature.statement));
  return verify(null, message, key, Buffer.from(signature.signature, 'base64'))
    ? undefined
    : 'it does not fit what it signs';
}
