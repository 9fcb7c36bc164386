import { M4BenchError } from '../support/errors.js';
import type { Provider } from './gateway-types.js';

type Environment = Readonly<Record<string, string | undefined>>;

function checkedUrl(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '')
    return value;
  throw new M4BenchError(
    'PROVIDER_URL_INVALID',
    `${name} is ${JSON.stringify(value)}, which is not an http or https address.`,
    `Set ${name} to something like https://host/v1.`,
  );
}

/**
 * The providers that a user's environment names:
 * - `openai` from OPENAI_API_KEY (and OPENAI_BASE_URL, with or without a final `/v1`);
 * - `anthropic` from ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL);
 * - `gemini` from GEMINI_API_KEY or GOOGLE_API_KEY (and GOOGLE_GEMINI_BASE_URL);
 * - `local` from M4BENCH_LOCAL_BASE_URL (Ollama, llama.cpp, vLLM and other servers that speak the OpenAI APIs;
 *   M4BENCH_LOCAL_API_KEY where they ask for one).
 */
export function providersFromEnvironment(environment: Environment): readonly Provider[] {
  const providers: Provider[] = [];
  const given = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const openaiKey = given('OPENAI_API_KEY');
  if (openaiKey !== undefined) {
    providers.push({
      name: 'openai',
      baseUrl: checkedUrl('OPENAI_BASE_URL', given('OPENAI_BASE_URL') ?? 'https://api.openai.com/v1'),
      apiKey: openaiKey,
      keyHeader: 'authorization-bearer',
      protocols: ['openai-responses', 'openai-chat'],
    });
  }
  const anthropicKey = given('ANTHROPIC_API_KEY');
  if (anthropicKey !== undefined) {
    providers.push({
      name: 'anthropic',
      baseUrl: checkedUrl('ANTHROPIC_BASE_URL', given('ANTHROPIC_BASE_URL') ?? 'https://api.anthropic.com'),
      apiKey: anthropicKey,
      keyHeader: 'x-api-key',
      protocols: ['anthropic-messages'],
    });
  }
  const geminiKey = given('GEMINI_API_KEY') ?? given('GOOGLE_API_KEY');
  if (geminiKey !== undefined) {
    providers.push({
      name: 'gemini',
      baseUrl: checkedUrl(
        'GOOGLE_GEMINI_BASE_URL',
        given('GOOGLE_GEMINI_BASE_URL') ?? 'https://generativelanguage.googleapis.com',
      ),
      apiKey: geminiKey,
      keyHeader: 'x-goog-api-key',
      protocols: ['gemini'],
    });
  }
  const localUrl = given('M4BENCH_LOCAL_BASE_URL');
  if (localUrl !== undefined) {
    providers.push({
      name: 'local',
      baseUrl: checkedUrl('M4BENCH_LOCAL_BASE_URL', localUrl),
      apiKey: given('M4BENCH_LOCAL_API_KEY') ?? '',
      keyHeader: 'authorization-bearer',
      protocols: ['openai-responses', 'openai-chat', 'anthropic-messages'],
    });
  }
  return providers;
}
