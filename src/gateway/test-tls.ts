import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate authority of a test and a server certificate that it signed. */
export interface TestCertificates {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** Makes certificates for these host names with `openssl`; undefined, with a message, where that is missing. */
export function testCertificates(hosts: readonly string[]): TestCertificates | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'm4bench-certificates-'));
  const path = (name: string): string => join(folder, name);
  const openssl = (...words: readonly string[]): void => {
    execFileSync('openssl', words, { stdio: 'ignore' });
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    writeFileSync(path('san'), `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}\n`);
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      path('ca.key'),
      '-out',
      path('ca'),
      '-days',
      '2',
      '-subj',
      '/CN=m4bench test',
    );
    openssl('req', ...newKey, '-keyout', path('key'), '-out', path('request'), '-subj', `/CN=${hosts[0]}`);
    openssl(
      'x509',
      '-req',
      '-in',
      path('request'),
      '-CA',
      path('ca'),
      '-CAkey',
      path('ca.key'),
      '-CAcreateserial',
      '-out',
      path('certificate'),
      '-days',
      '2',
      '-extfile',
      path('san'),
    );
    const text = (name: string): string => readFileSync(path(name), 'utf8');
    return { authority: text('ca'), certificate: text('certificate'), key: text('key') };
  } catch (thrown) {
    console.warn(`Skipped: no certificates can be made with openssl (${String(thrown).slice(0, 120)})`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
