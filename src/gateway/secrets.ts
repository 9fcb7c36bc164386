import { Transform } from 'node:stream';

/** Shorter keys are dummies of local servers; replacing them would damage text. */
const MIN_SECRET_LENGTH = 8;

/** The keys worth hiding, each also as it appears inside JSON text. */
export function secretForms(keys: readonly string[]): readonly Buffer[] {
  const forms = new Set<string>();
  for (const key of keys) {
    if (key.length < MIN_SECRET_LENGTH) continue;
    forms.add(key);
    forms.add(JSON.stringify(key).slice(1, -1));
    forms.add(encodeURIComponent(key));
    forms.add(Buffer.from(key, 'utf8').toString('base64'));
  }
  return [...forms].map((form) => Buffer.from(form, 'utf8'));
}

/** Replaces every occurrence by asterisks, in place; lengths stay, so no framing changes. */
function blank(bytes: Buffer, secrets: readonly Buffer[]): void {
  for (const secret of secrets) {
    for (let at = bytes.indexOf(secret); at !== -1; at = bytes.indexOf(secret, at + secret.length))
      bytes.fill(0x2a, at, at + secret.length);
  }
}

/** Text without the secrets. */
export function redacted(text: string, secrets: readonly Buffer[]): string {
  const bytes = Buffer.from(text, 'utf8');
  blank(bytes, secrets);
  return bytes.toString('utf8');
}

/** Length of the longest end of `bytes` that a secret begins with; only that much must wait for what follows. */
function openEnd(bytes: Buffer, secrets: readonly Buffer[]): number {
  let longest = 0;
  for (const secret of secrets) {
    for (let length = Math.min(secret.length - 1, bytes.length); length > longest; length -= 1) {
      if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}

/** A stream that blanks secrets, also where they are cut by chunk borders, and delays nothing else. */
export function secretFilter(secrets: readonly Buffer[]): Transform {
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([held, chunk]);
      blank(bytes, secrets);
      const keep = openEnd(bytes, secrets);
      held = bytes.subarray(bytes.length - keep);
      const ready = bytes.subarray(0, bytes.length - keep);
      if (ready.length > 0) this.push(ready);
      done();
    },
    flush(done) {
      if (held.length > 0) this.push(held);
      done();
    },
  });
}
