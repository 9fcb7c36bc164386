/** Wait told to a client when the provider names none; long enough to matter, short against a run. */
const DEFAULT_WAIT_SECONDS = 5;
const MAX_WAIT_SECONDS = 300;

type Headers = Readonly<Record<string, string>>;

/** Seconds in `6m0s`, `1.5s`, `120ms`, a plain number, or a time of day to come; undefined for anything else. */
export function secondsUntil(text: string, nowMilliseconds: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (parts.length > 0 && parts.map(([all]) => all).join('') === text) {
    const unit = { ms: 0.001, s: 1, m: 60, h: 3600 };
    return parts.reduce((sum, [, count, name]) => sum + Number(count) * unit[name as keyof typeof unit], 0);
  }
  const at = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMilliseconds) / 1000);
}

/**
 * The headers of an answer with a `retry-after` where a rate limit (429) or an overload (503, 529) named none: as
 * long as the longest of the provider's own limits that are used up takes to reset (`x-ratelimit-reset-…`,
 * `anthropic-ratelimit-…-reset`), else five seconds. Without it CLIs retry at once and give up early.
 */
export function withRetryAfter(status: number, headers: Headers, nowMilliseconds = Date.now()): Headers {
  if (status !== 429 && status !== 503 && status !== 529) return headers;
  if (headers['retry-after'] !== undefined || headers['retry-after-ms'] !== undefined) return headers;
  const waits: number[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const match = /^(?:x-ratelimit-reset-(.+)|anthropic-ratelimit-(.+)-reset)$/.exec(name);
    if (match === null) continue;
    const remaining =
      match[1] === undefined
        ? headers[`anthropic-ratelimit-${match[2]}-remaining`]
        : headers[`x-ratelimit-remaining-${match[1]}`];
    const wait = secondsUntil(value, nowMilliseconds);
    if (remaining === '0' && wait !== undefined) waits.push(wait);
  }
  const wait = waits.length === 0 ? DEFAULT_WAIT_SECONDS : Math.min(MAX_WAIT_SECONDS, Math.max(...waits));
  return { ...headers, 'retry-after': String(Math.max(1, Math.ceil(wait))) };
}
