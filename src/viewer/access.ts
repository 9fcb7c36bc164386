import { randomBytes, timingSafeEqual } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { sha256 } from '../support/hashing.js';

/** Nothing from elsewhere, no inline script or style, no frames, no forms to elsewhere. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface AccessOptions {
  /** Values of the Host header that are answered: another name that resolves here is an attack (DNS rebinding). */
  readonly hosts: () => readonly string[];
  readonly token: string;
  readonly port: () => number;
}

const everyAddress = ['0.0.0.0', '::'];
const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/** An address as it stands in a URL. */
export const inAddress = (host: string): string => (host.includes(':') ? `[${host}]` : host).toLowerCase();

/** Names under which a viewer that listens on `host` is answered; all of this machine's for every address. */
export function servedNames(host: string): readonly string[] {
  if (!everyAddress.includes(host)) return [inAddress(host), ...loopback];
  const own = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  return [hostname(), ...own].map(inAddress).concat(loopback);
}

/** A token that nobody guesses. */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * Who may see the pages. They hold rows of patients, and on a shared machine the loopback address is open to every
 * user of it; so a token is asked for always. It comes once in the address and then as a cookie.
 */
export function guard(options: AccessOptions): MiddlewareHandler {
  return async (context, next) => {
    const { req } = context;
    if (!options.hosts().includes((req.header('host') ?? '').toLowerCase())) {
      return context.text('This address is not served here.\n', 421);
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') return context.text('Pages are only read.\n', 405);
    // Cookies know no ports: two viewers on one machine must not take one another's.
    const cookie = `m4bench-${options.port()}`;
    const given = req.query('token');
    if (given !== undefined && isSame(given, options.token)) {
      setCookie(context, cookie, options.token, { httpOnly: true, sameSite: 'Strict', path: '/' });
      const address = new URL(req.url);
      address.searchParams.delete('token');
      return context.redirect(`${address.pathname}${address.search}`, 303);
    }
    if (!isSame(getCookie(context, cookie) ?? '', options.token)) {
      return context.text('Open the address that m4bench view printed: it holds the token.\n', 403);
    }
    await next();
    return undefined;
  };
}

/** Headers of every answer, those of refusals too. */
export const safeHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers } = context.res;
  headers.set('content-security-policy', policy);
  headers.set('x-content-type-options', 'nosniff');
  headers.set('referrer-policy', 'no-referrer');
  headers.set('cross-origin-resource-policy', 'same-origin');
  headers.set('cross-origin-opener-policy', 'same-origin');
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
};

function isSame(given: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)));
}
