import { describe, expect, it } from 'vitest';
import { describeLocalModel } from './local-models.js';
import { startTestProvider } from './test-provider.js';

interface Asked {
  readonly model: string | undefined;
  readonly key: string | undefined;
}

/** A server that answers these paths with these documents, and every other path with 404. */
async function describedBy(answers: Readonly<Record<string, unknown>>, model: string, suffix = '/v1') {
  await using server = await startTestProvider((response, { url, headers, body }) => {
    const given = answers[url];
    const { model: asked } = body === '' ? {} : JSON.parse(body);
    const document =
      typeof given === 'function' ? given({ model: asked, key: headers.authorization }) : given;
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(typeof document === 'string' ? document : JSON.stringify(document ?? {}));
  });
  return await describeLocalModel({ baseUrl: server.origin + suffix, apiKey: 'local-key' }, model);
}

/** Shapes of the answers as the servers' own documentation gives them. */
const OLLAMA = {
  '/api/show': ({ model }: Asked) =>
    model === 'qwen3'
      ? {
          parameters: 'num_ctx                        32768\nstop                           "<|im_end|>"',
          details: { family: 'qwen3', parameter_size: '4.0B', quantization_level: 'Q4_K_M' },
          model_info: { 'qwen3.context_length': 262144 },
        }
      : undefined,
  '/api/tags': {
    models: [
      { name: 'other:latest', digest: 'aaaa' },
      { name: 'qwen3:latest', digest: 'e55aed6fe643' },
    ],
  },
  '/api/version': { version: '0.12.3' },
};

describe('a local model', () => {
  it('of Ollama is known by the digest of its weights, and by the context that it was loaded with', async () => {
    const running = {
      '/api/ps': { models: [{ name: 'qwen3:latest', digest: 'e55aed6fe643', context_length: 4096 }] },
    };
    const expected = {
      server: 'ollama',
      serverVersion: '0.12.3',
      model: 'qwen3',
      digest: 'e55aed6fe643',
      quantisation: 'Q4_K_M',
      parameters: '4.0B',
    };
    expect(await describedBy({ ...OLLAMA, ...running }, 'qwen3')).toEqual({
      ...expected,
      contextLength: 4096,
    });
    // Not loaded yet: what its file asks for.
    expect(await describedBy(OLLAMA, 'qwen3', '/v1/')).toEqual({ ...expected, contextLength: 32768 });
  });

  it('of llama.cpp is known by its file, without the folder', async () => {
    const answers = {
      '/props': {
        default_generation_settings: { n_ctx: 16384 },
        model_path: '/home/a.person/models/Qwen3-4B-Instruct-Q4_K_M.gguf',
        build_info: 'b6000-abcdef',
      },
      '/v1/models': { data: [{ id: 'x', owned_by: 'llamacpp', meta: { n_params: 4_022_468_096 } }] },
    };
    const described = await describedBy(answers, 'x');
    expect(described).toEqual({
      server: 'llama.cpp',
      serverVersion: 'b6000-abcdef',
      model: 'Qwen3-4B-Instruct-Q4_K_M.gguf',
      digest: null,
      quantisation: 'Q4_K_M',
      parameters: '4.0B',
      contextLength: 16384,
    });
    expect(JSON.stringify(described)).not.toContain('a.person');
  });

  it('of vLLM is known by its repository and its length', async () => {
    const served = { id: 'served', root: 'Qwen/Qwen3-4B', owned_by: 'vllm', max_model_len: 40960 };
    const answers = {
      // It asks for a key.
      '/v1/models': ({ key }: Asked) => (key === 'Bearer local-key' ? { data: [served] } : undefined),
      '/version': { version: '0.11.0' },
    };
    expect(await describedBy(answers, 'served')).toMatchObject({
      server: 'vllm',
      serverVersion: '0.11.0',
      model: 'Qwen/Qwen3-4B',
      contextLength: 40960,
    });
  });

  it('of another server is told as far as it tells, and of a silent or broken one not at all', async () => {
    expect(await describedBy({ '/v1/models': { data: [{ id: 'm', owned_by: 'me' }] } }, 'm')).toMatchObject({
      server: 'other',
      model: 'm',
      contextLength: null,
    });
    expect(await describedBy({ '/v1/models': { data: [{ id: 'n' }] } }, 'm')).toBe(null);
    expect(
      await describedBy({ '/api/show': 'no json', '/props': '[]', '/v1/models': '{"data":7}' }, 'm'),
    ).toBe(null);
    expect(await describeLocalModel({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: '' }, 'm')).toBe(null);
  });
});
