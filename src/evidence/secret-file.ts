import { randomBytes } from 'node:crypto';
import { M4BenchError } from '../support/errors.js';
import { readTextIfPresent, writeFileAtomic } from '../support/files.js';

/** The salt in a file, made at random (mode 0600) when there is none. Throws `EVIDENCE_SALT`. */
export async function saltFrom(path: string): Promise<Buffer> {
  const present = await readTextIfPresent(path);
  if (present === undefined) {
    const made = randomBytes(32).toString('hex');
    await writeFileAtomic(path, `${made}\n`, { mode: 0o600, exclusive: true });
    return Buffer.from(made);
  }
  const salt = Buffer.from(present.trim(), 'utf8');
  if (salt.length >= 16 && salt.length <= 64) return salt;
  throw new M4BenchError(
    'EVIDENCE_SALT',
    `${path} holds ${salt.length} bytes; a salt has 16 to 64.`,
    'Name another file; it is made when it is not there.',
  );
}

/** One term a line; blank lines and `#` comments are left out. */
export async function termsFrom(path: string): Promise<readonly string[]> {
  const text = await readTextIfPresent(path);
  if (text === undefined) {
    throw new M4BenchError('TERMS_MISSING', `There is no file ${path}.`, 'Name a file with one term a line.');
  }
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
