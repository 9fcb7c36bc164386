import { M4BenchError } from '../support/errors.js';

/** A PhysioNet account. Lives in memory only. */
export interface Login {
  readonly user: string;
  readonly password: string;
}

/** HTTP basic authentication, as PhysioNet takes it. */
export function basicAuthorization({ user, password }: Login): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** A password travels only to a host that proves who it is, or to this machine. */
export function refuseOpenTransport(base: URL): void {
  const isLoopback = ['127.0.0.1', 'localhost', '[::1]'].includes(base.hostname);
  if (base.protocol === 'https:' || isLoopback) return;
  throw new M4BenchError(
    'DOWNLOAD_UNSAFE',
    `${base.origin} is not reached over HTTPS, so a password would be readable on the way.`,
    'Use an https:// address.',
  );
}
