import type { Protocol, Provider } from './gateway-types.js';

/** Where a request goes, or why it goes nowhere. */
export type Route =
  | {
      readonly provider: Provider;
      readonly protocol: Protocol;
      readonly url: URL;
      /** True where an answer is generated and tokens are spent. */
      readonly isGeneration: boolean;
      /** The model that the path names, where the protocol puts it there. */
      readonly model: string | null;
    }
  | { readonly provider: Provider | null; readonly refusal: string; readonly status: number };

interface AllowedPath {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly protocols: readonly Protocol[];
  readonly isGeneration: boolean;
}

const ALLOWED_PATHS: readonly AllowedPath[] = [
  { method: 'POST', path: /^\/v1\/responses$/, protocols: ['openai-responses'], isGeneration: true },
  { method: 'POST', path: /^\/v1\/chat\/completions$/, protocols: ['openai-chat'], isGeneration: true },
  { method: 'POST', path: /^\/v1\/messages$/, protocols: ['anthropic-messages'], isGeneration: true },
  {
    method: 'POST',
    path: /^\/v1\/messages\/count_tokens$/,
    protocols: ['anthropic-messages'],
    isGeneration: false,
  },
  {
    method: 'GET',
    path: /^\/v1\/models(\/[A-Za-z0-9._:~@-]+)?$/,
    protocols: ['openai-responses', 'openai-chat', 'anthropic-messages'],
    isGeneration: false,
  },
  {
    method: 'POST',
    path: /^\/v1beta\/models\/([A-Za-z0-9._~@-]+):(generateContent|streamGenerateContent)$/,
    protocols: ['gemini'],
    isGeneration: true,
  },
  {
    method: 'POST',
    path: /^\/v1beta\/models\/([A-Za-z0-9._~@-]+):countTokens$/,
    protocols: ['gemini'],
    isGeneration: false,
  },
  {
    method: 'GET',
    path: /^\/v1beta\/models(\/[A-Za-z0-9._~@-]+)?$/,
    protocols: ['gemini'],
    isGeneration: false,
  },
];

/** Query parameters that clients send and that change nothing of consequence. */
const ALLOWED_QUERY = new Set(['beta', 'limit', 'after_id', 'before_id', 'client_version', 'alt']);

/**
 * The address of a path at a provider. A base that ends in a version (`https://host/v1`, as OPENAI_BASE_URL does)
 * takes the place of the path's own `/v1` or `/v1beta`.
 */
export function upstreamUrl(baseUrl: string, path: string): URL {
  const base = baseUrl.replace(/\/+$/, '');
  const rest = /\/v\d+[a-z0-9]*$/.test(new URL(base).pathname)
    ? path.replace(/^\/v1(beta)?(?=\/)/, '')
    : path;
  return new URL(base + rest);
}

/** Decides on method and target (`/<provider>/v1/…`) of a request; only listed paths pass. */
export function routeOf(method: string, target: string, providers: readonly Provider[]): Route {
  const [pathname, query] = splitTarget(target);
  const match = /^\/([^/]+)(\/.*)?$/.exec(pathname);
  const provider = providers.find(({ name }) => name === match?.[1]) ?? null;
  if (provider === null) return { provider, refusal: 'no such provider', status: 404 };
  const path = match![2] ?? '/';
  // Claude Code opens its connection ahead of time this way; nothing of it goes further.
  if (method === 'HEAD' && path === '/')
    return { provider, refusal: 'connection probe, answered here', status: 200 };
  const allowed = ALLOWED_PATHS.find((candidate) => candidate.method === method && candidate.path.test(path));
  if (allowed === undefined) return { provider, refusal: 'path not allowed', status: 403 };
  const protocol = allowed.protocols.find((candidate) => provider.protocols.includes(candidate));
  if (protocol === undefined)
    return { provider, refusal: 'protocol not offered by this provider', status: 403 };
  const url = upstreamUrl(provider.baseUrl, path);
  for (const [name, value] of new URLSearchParams(query))
    if (ALLOWED_QUERY.has(name)) url.searchParams.append(name, value);
  const model = protocol === 'gemini' ? (allowed.path.exec(path)?.[1] ?? null) : null;
  return { provider, protocol, url, isGeneration: allowed.isGeneration, model };
}

/** Path and query of a request target. */
export function splitTarget(target: string): readonly [string, string] {
  const at = target.indexOf('?');
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}
