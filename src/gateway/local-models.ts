import { z } from 'zod';
import type { Provider } from './gateway-types.js';

/** What a server on the user's own machines says about the model that it runs; null where it says nothing. */
export const localModelSchema = z.object({
  server: z.enum(['ollama', 'llama.cpp', 'vllm', 'other']),
  /** Version or build of the server. */
  serverVersion: z.string().nullable(),
  /** As the server names it. */
  model: z.string(),
  /** Hash of the weights; only Ollama tells one. */
  digest: z.string().nullable(),
  /** For example `Q4_K_M`. */
  quantisation: z.string().nullable(),
  /** For example `4.0B`. */
  parameters: z.string().nullable(),
  /** Tokens that the server keeps in view, which may be far fewer than the model could. */
  contextLength: z.number().nullable(),
});
export type LocalModel = z.infer<typeof localModelSchema>;

const TIMEOUT_MILLISECONDS = 5_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

type Json = Readonly<Record<string, unknown>>;

/** Asks a server at its root; undefined for anything but a JSON object. */
type Ask = (path: string, body?: unknown) => Promise<Json | undefined>;

/**
 * Asks a local server what it runs: Ollama (`/api/show`, `/api/tags`, `/api/ps`), llama.cpp (`/props`), vLLM and others
 * (`/v1/models`). Never throws: a server that does not tell leaves nulls, and one that does not answer gives null.
 */
export async function describeLocalModel(
  provider: Pick<Provider, 'baseUrl' | 'apiKey'>,
  model: string,
): Promise<LocalModel | null> {
  const ask = askerOf(provider);
  return (await fromOllama(ask, model)) ?? (await fromLlamaCpp(ask, model)) ?? (await fromList(ask, model));
}

function askerOf({ baseUrl, apiKey }: Pick<Provider, 'baseUrl' | 'apiKey'>): Ask {
  const root = baseUrl.replace(/\/+$/, '').replace(/\/v\d+$/, '');
  return async (path, body) => {
    try {
      const answer = await fetch(root + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
      });
      if (!answer.ok || Number(answer.headers.get('content-length') ?? 0) > MAX_ANSWER_BYTES)
        return undefined;
      return objectOf(await answer.json());
    } catch {
      return undefined;
    }
  };
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function objectsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(objectOf).filter((one) => one !== undefined) : [];
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, 200) : null;
const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;

/** Ollama takes a name without a tag for `latest`. */
const isSameName = (name: unknown, model: string): boolean => name === model || name === `${model}:latest`;

async function fromOllama(ask: Ask, model: string): Promise<LocalModel | null> {
  const shown = await ask('/api/show', { model });
  const details = objectOf(shown?.details);
  if (shown === undefined || details === undefined) return null;
  const named = async (path: string): Promise<Json | undefined> =>
    objectsOf((await ask(path))?.models).find(({ name }) => isSameName(name, model));
  const [running, stored, version] = await Promise.all([
    named('/api/ps'),
    named('/api/tags'),
    ask('/api/version'),
  ]);
  return {
    server: 'ollama',
    serverVersion: textOf(version?.version),
    model,
    digest: textOf(running?.digest) ?? textOf(stored?.digest),
    quantisation: textOf(details.quantization_level),
    parameters: textOf(details.parameter_size),
    // What it was loaded with, else what its file asks for; its default is far below what the model could.
    contextLength: numberOf(running?.context_length) ?? contextIn(shown.parameters),
  };
}

/** `num_ctx` among the parameters of a model file, one a line. */
function contextIn(parameters: unknown): number | null {
  const match = typeof parameters === 'string' ? /^num_ctx\s+(\d+)$/m.exec(parameters) : null;
  return match === null ? null : Number(match[1]);
}

async function fromLlamaCpp(ask: Ask, model: string): Promise<LocalModel | null> {
  const props = await ask('/props');
  const settings = objectOf(props?.default_generation_settings);
  if (props === undefined || settings === undefined) return null;
  const [listed] = objectsOf((await ask('/v1/models'))?.data);
  const path = textOf(props.model_path) ?? '';
  const parameters = numberOf(objectOf(listed?.meta)?.n_params);
  return {
    server: 'llama.cpp',
    serverVersion: textOf(props.build_info),
    // The file's name without its folder, which is the host's own affair.
    model: textOf(path.split(/[/\\]/).at(-1)) ?? model,
    digest: null,
    quantisation:
      /(?:^|[-._])((?:I?Q\d\w*|BF16|F16|F32|MXFP4))(?=[-._]|$)/i.exec(path)?.[1]?.toUpperCase() ?? null,
    parameters: parameters === null ? null : `${(parameters / 1e9).toFixed(1)}B`,
    contextLength: numberOf(settings.n_ctx),
  };
}

async function fromList(ask: Ask, model: string): Promise<LocalModel | null> {
  const listed = objectsOf((await ask('/v1/models'))?.data);
  const found = listed.find(({ id }) => id === model);
  if (found === undefined) return null;
  const isVllm = found.owned_by === 'vllm';
  const version = isVllm ? await ask('/version') : undefined;
  return {
    server: isVllm ? 'vllm' : 'other',
    serverVersion: textOf(version?.version),
    model: isVllm ? (textOf(found.root) ?? model) : model,
    digest: null,
    quantisation: null,
    parameters: null,
    contextLength: numberOf(found.max_model_len),
  };
}
