import { Transform } from 'node:stream';

type Json = Readonly<Record<string, unknown>>;

const MAX_HELD_BYTES = 8 * 1024 * 1024;

/**
 * Chat Completions streams count tokens only when asked to. Returns the request with the question put in, or
 * undefined when it is there already or the answer is no stream.
 */
export function withUsageAsked(body: Json): Json | undefined {
  if (body.stream !== true) return undefined;
  const given = body.stream_options;
  const options = typeof given === 'object' && given !== null ? (given as Json) : {};
  if (options.include_usage === true) return undefined;
  return { ...body, stream_options: { ...options, include_usage: true } };
}

/** Whether an event is the one that is sent for the counts alone. */
function isUsageEvent(event: string): boolean {
  if (!event.includes('"usage"')) return false;
  const data = event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
  try {
    const { choices, usage } = JSON.parse(data) as Json;
    return Array.isArray(choices) && choices.length === 0 && typeof usage === 'object' && usage !== null;
  } catch {
    return false;
  }
}

/** Takes the counts-only event out again for a client that did not ask for it. Other events pass as they are. */
export function usageEventRemover(): Transform {
  let held: Buffer = Buffer.alloc(0);
  const boundaryEnd = (): number => {
    const short = held.indexOf('\n\n');
    const long = held.indexOf('\r\n\r\n');
    if (short === -1 && long === -1) return -1;
    return short !== -1 && (long === -1 || short < long) ? short + 2 : long + 4;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held = Buffer.concat([held, chunk]);
      for (let end = boundaryEnd(); end !== -1; end = boundaryEnd()) {
        const event = held.subarray(0, end);
        held = held.subarray(end);
        if (!isUsageEvent(event.toString('utf8'))) this.push(event);
      }
      if (held.length > MAX_HELD_BYTES) {
        this.push(held);
        held = Buffer.alloc(0);
      }
      done();
    },
    flush(done) {
      if (held.length > 0) this.push(held);
      done();
    },
  });
}
