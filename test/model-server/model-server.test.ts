import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { ModelServer, type ModelServerOptions } from './model-server.js';

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
});

async function start(scenarios: ModelServerOptions['scenarios']): Promise<ModelServer> {
  const server = await ModelServer.start({ scenarios });
  servers.push(server);
  return server;
}

async function post(
  server: ModelServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(server.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Data of server-sent events; `[DONE]` is left out. */
function eventsIn(stream: string): Record<string, unknown>[] {
  return stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
}

const SHELL_THEN_END = [{ shell: 'ls' }, { message: 'Done.' }];
const question = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Do it.' }] };
const execTool = { type: 'function', name: 'exec_command' };
const responses = (input: unknown[], more: object = {}): object => ({
  model: 'm',
  stream: true,
  tools: [execTool],
  input,
  ...more,
});
const output = (callId: string, answer = 'listing'): object => ({
  type: 'function_call_output',
  call_id: callId,
  output: answer,
});

/** The call of the first reply. */
function callIn(stream: string): Record<string, unknown> {
  const done = eventsIn(stream).find((event) => event.type === 'response.output_item.done');
  return done?.item as Record<string, unknown>;
}

describe('Responses API', () => {
  test('calls the shell tool that the client declared, then ends, with usage in the last event', async () => {
    const server = await start({ m: SHELL_THEN_END });
    const first = await post(server, '/v1/responses', responses([question]));
    expect(eventsIn(first.text).map((event) => event.type)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ]);
    const call = callIn(first.text);
    expect(call).toMatchObject({ type: 'function_call', name: 'exec_command' });
    expect(JSON.parse(String(call.arguments))).toMatchObject({ cmd: 'ls' });
    const second = await post(server, '/v1/responses', responses([question, output(String(call.call_id))]));
    expect(second.text).toContain('Done.');
    expect(eventsIn(second.text).at(-1)).toMatchObject({
      response: { usage: { input_tokens: 1100, output_tokens: 51, total_tokens: 1151 } },
    });
    expect(server.statedUsage('m')).toEqual({ input: 2100, cachedInput: 10, output: 101, reasoning: 11 });
  });

  test.each([
    ['shell', { type: 'function', name: 'shell' }, 'function_call', '"bash","-lc","ls"'],
    ['local_shell', { type: 'local_shell' }, 'local_shell_call', '"bash","-lc","ls"'],
    [
      'exec',
      { type: 'namespace', name: 'f', tools: [{ type: 'custom', name: 'exec' }] },
      'custom_tool_call',
      'ls',
    ],
  ])('knows the form of the tool %s', async (_name, tool, type, command) => {
    const server = await start({ m: SHELL_THEN_END });
    const declared = responses([{ type: 'additional_tools', tools: [tool] }, question], { tools: undefined });
    const call = callIn((await post(server, '/v1/responses', declared)).text);
    expect(call.type).toBe(type);
    expect(JSON.stringify(call).replaceAll('\\', '')).toContain(command);
  });

  test('looks again at a command that still runs', async () => {
    const server = await start({ m: SHELL_THEN_END });
    const tools = [execTool, { type: 'function', name: 'write_stdin' }];
    const running = output('call_step0x0', 'Process running with session ID 417');
    const reply = await post(server, '/v1/responses', responses([question, running], { tools }));
    const call = callIn(reply.text);
    expect(call).toMatchObject({ name: 'write_stdin', call_id: 'call_step0x1' });
    expect(JSON.parse(String(call.arguments))).toMatchObject({ session_id: 417 });
  });

  test('answers in one document when no stream is asked for', async () => {
    const server = await start({ m: [{ message: 'Done.' }] });
    const reply = await post(server, '/v1/responses', responses([question], { stream: false }));
    expect(JSON.parse(reply.text)).toMatchObject({
      status: 'completed',
      output: [{ type: 'message', content: [{ text: 'Done.' }] }],
      usage: { input_tokens: 1000 },
    });
  });
});

describe('Gemini API', () => {
  const generate = (contents: unknown[]): object => ({
    contents: [{ role: 'user', parts: [{ text: 'Do it.' }] }, ...contents],
    tools: [
      { functionDeclarations: [{ name: 'run_shell_command' }], googleSearch: {} },
      { codeExecution: {} },
    ],
  });
  const path = (method: string): string => `/gemini/v1beta/models/m:${method}`;

  test('takes the model from the path, calls the shell tool, then ends', async () => {
    const server = await start({ m: SHELL_THEN_END });
    const first = JSON.parse((await post(server, path('generateContent'), generate([]))).text);
    const call = first.candidates[0].content.parts[0];
    expect(call).toMatchObject({ functionCall: { name: 'run_shell_command', args: { command: 'ls' } } });
    const { id } = call.functionCall as { id: string };
    const answer = (named: object): object => ({
      role: 'user',
      parts: [{ functionResponse: { name: 'run_shell_command', response: { output: 'x' }, ...named } }],
    });
    const said = { role: 'model', parts: [{ ...call, functionCall: { name: 'run_shell_command' } }] };
    // A client may return the id, or the signature of the call only.
    for (const contents of [[answer({ id })], [said, answer({})]]) {
      const second = await post(server, path('generateContent'), generate(contents));
      expect(second.text).toContain('Done.');
    }
    expect([...server.toolsOf('m')]).toEqual(['run_shell_command', 'codeExecution']);
  });

  test('streams with usage that leaves the thoughts out of the answer', async () => {
    const server = await start({ m: [{ message: 'Done.' }] });
    const reply = await post(server, `${path('streamGenerateContent')}?alt=sse`, generate([]));
    expect(eventsIn(reply.text)).toMatchObject([
      {
        candidates: [{ content: { parts: [{ text: 'Done.' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 45, thoughtsTokenCount: 5 },
        modelVersion: 'm',
      },
    ]);
  });

  test('fails as the real one does, with the wait in the body', async () => {
    const server = await start({ m: [{ fail: 429, retryAfterSeconds: 3 }] });
    const reply = await post(server, path('generateContent'), generate([]));
    expect(reply.status).toBe(429);
    expect(JSON.parse(reply.text)).toMatchObject({
      error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '3s' }] },
    });
  });
});

describe('Chat Completions API', () => {
  const chat = (messages: unknown[], stream = false): object => ({
    model: 'm',
    stream,
    messages: [{ role: 'user', content: 'Do it.' }, ...messages],
    tools: [{ type: 'function', function: { name: 'bash' } }],
  });

  test('plays the same scenario, as document and as stream', async () => {
    const server = await start({ m: SHELL_THEN_END });
    const first = JSON.parse((await post(server, '/v1/chat/completions', chat([]))).text);
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'bash' } }] },
    });
    const answered = [
      { role: 'tool', tool_call_id: first.choices[0].message.tool_calls[0].id, content: 'x' },
    ];
    const second = await post(server, '/v1/chat/completions', chat(answered, true));
    const chunks = eventsIn(second.text);
    expect(chunks[0]).toMatchObject({ choices: [{ delta: { content: 'Done.' } }] });
    expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 1100, completion_tokens: 51 } });
    expect(second.text.trimEnd()).toMatch(/data: \[DONE\]$/);
  });
});

describe('Messages API', () => {
  test('plays the same scenario and counts cached tokens beside the others', async () => {
    const server = await start({ m: SHELL_THEN_END });
    const ask = (messages: unknown[], stream: boolean): object => ({
      model: 'm',
      max_tokens: 100,
      stream,
      messages: [{ role: 'user', content: 'Do it.' }, ...messages],
      tools: [{ name: 'Bash', input_schema: {} }],
    });
    const first = await post(server, '/v1/messages', ask([], true));
    const events = eventsIn(first.text);
    expect(events.map((event) => event.type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    const call = events[1]?.content_block as { id: string; name: string };
    expect(call.name).toBe('Bash');
    const answered = [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'x' }] },
    ];
    const second = await post(server, '/v1/messages', ask(answered, false));
    expect(JSON.parse(second.text)).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'Done.' }],
      usage: { input_tokens: 1090, cache_read_input_tokens: 10, output_tokens: 51 },
    });
  });
});

describe('scenarios', () => {
  test('failures are played once for each conversation, and their requests are on record', async () => {
    const server = await start({
      m: [{ fail: 429, retryAfterSeconds: 7 }, { fail: 503 }, { message: 'Done.' }],
    });
    const ask = (key: string): ReturnType<typeof post> =>
      post(server, '/v1/responses', responses([question], { prompt_cache_key: key }));
    const limited = await ask('a');
    expect(limited.status).toBe(429);
    expect(limited.headers.get('retry-after')).toBe('7');
    expect((await ask('b')).status).toBe(429);
    expect((await ask('a')).status).toBe(503);
    expect((await ask('a')).text).toContain('Done.');
    expect(server.exchangesOf('m').map(({ status, step }) => [status, step])).toEqual([
      [429, 0],
      [429, 0],
      [503, 1],
      [200, 2],
    ]);
  });

  test('a delay comes before the next answer', async () => {
    const server = await start({ m: [{ delaySeconds: 0.3 }, { message: 'Done.' }] });
    const began = performance.now();
    await post(server, '/v1/responses', responses([question]));
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
  });

  test('a broken connection ends in the middle of the stream, and the next try goes on', async () => {
    const server = await start({ m: [{ disconnect: true }, { message: 'Done.' }] });
    await expect(post(server, '/v1/responses', responses([question]))).rejects.toThrow();
    expect((await post(server, '/v1/responses', responses([question]))).text).toContain('Done.');
  });

  test('is named by header or key when the model names none, and ends when it has no more steps', async () => {
    const server = await start({ other: [] });
    const named = await post(server, '/v1/responses', responses([question]), { 'x-scenario': 'other' });
    const keyed = await post(server, '/v1/responses', responses([question]), {
      authorization: 'Bearer other',
    });
    for (const reply of [named, keyed]) expect(reply.text).toContain('The scenario is over.');
    expect((await post(server, '/v1/responses', responses([question]))).status).toBe(404);
  });

  test('may say their usage, and a malformed one is refused at the start', async () => {
    const server = await start({ m: [{ message: 'x', usage: { input: 7, output: 3 } }] });
    await post(server, '/v1/responses', responses([question]));
    expect(server.statedUsage('m')).toEqual({ input: 7, cachedInput: 0, output: 3, reasoning: 0 });
    await expect(start({ m: [{ fail: 200 }] })).rejects.toThrow();
  });

  test('a body that is no request, or one without a shell tool, is refused and on record', async () => {
    const server = await start({ m: SHELL_THEN_END });
    expect((await post(server, '/v1/responses', { model: 'm' })).status).toBe(400);
    expect((await post(server, '/v1/responses', responses([question], { tools: [] }))).status).toBe(400);
    expect((await post(server, '/v1/files', {})).status).toBe(404);
    expect(server.exchanges.map((exchange) => exchange.status)).toEqual([400, 400, 404]);
  });
});

test('listens on a Unix socket', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'm4s-'));
  try {
    const socketPath = join(folder, 's');
    await using _server = await ModelServer.start({ scenarios: { m: [{ message: 'Done.' }] }, socketPath });
    const reply = await new Promise<string>((resolve, reject) => {
      const request = httpRequest({ socketPath, path: '/v1/responses', method: 'POST' }, (response) =>
        resolve(text(response)),
      );
      request.on('error', reject);
      request.end(JSON.stringify(responses([question])));
    });
    expect(reply).toContain('Done.');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
