import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { events, json, withGateway } from './test-gateway.js';
import { askGateway } from './test-provider.js';

const functionTool = { type: 'function', name: 'shell', parameters: { properties: { tools: {} } } };

describe('hosted tools that are declared inside the conversation', () => {
  it('are taken out of additional_tools items and of any list of tools below them', async () => {
    const { exchanges } = await withGateway(json({}), async (gateway, provider) => {
      await askGateway(gateway.socketPath, '/openai/v1/responses', {
        model: 'm',
        input: [
          { type: 'message', role: 'user', content: 'tools: [{"type":"web_search"}]' },
          { type: 'additional_tools', tools: [functionTool, { type: 'web_search' }] },
          { type: 'additional_tools', tools: [{ type: 'mcp', server_url: 'https://x' }] },
          {
            type: 'tool_search_output',
            tools: [{ type: 'namespace', tools: [functionTool, { type: 'code_interpreter' }] }],
          },
          { type: 'function_call_output', output: [{ tools: [{ type: 'mine' }] }] },
        ],
      });
      expect(JSON.parse(provider.received[0]!.body)).toEqual({
        model: 'm',
        input: [
          { type: 'message', role: 'user', content: 'tools: [{"type":"web_search"}]' },
          { type: 'additional_tools', tools: [functionTool] },
          { type: 'tool_search_output', tools: [{ type: 'namespace', tools: [functionTool] }] },
          { type: 'function_call_output', output: [{ tools: [{ type: 'mine' }] }] },
        ],
      });
      await askGateway(gateway.socketPath, '/anthropic/v1/messages', {
        model: 'm',
        messages: [
          { role: 'system', content: [{ type: 'tools', tools: [{ type: 'web_fetch_20250910' }] }] },
          { role: 'assistant', content: [{ type: 'tool_use', input: { tools: [{ type: 'data' }] } }] },
        ],
      });
      expect(JSON.parse(provider.received[1]!.body)).toEqual({
        model: 'm',
        messages: [
          { role: 'system', content: [{ type: 'tools', tools: [] }] },
          { role: 'assistant', content: [{ type: 'tool_use', input: { tools: [{ type: 'data' }] } }] },
        ],
      });
    });
    expect(exchanges.map(({ hostedToolsRemoved }) => hostedToolsRemoved)).toEqual([
      ['web_search', 'mcp', 'code_interpreter'],
      ['web_fetch_20250910'],
    ]);
  });

  it('leave a conversation without them as it was, byte for byte', async () => {
    const raw = Buffer.from(
      '{ "input": [ {"type":"additional_tools", "tools":[{"type":"function","name":"f"}] } ],  "model":"m" }',
    );
    await withGateway(json({}), async (gateway, provider) => {
      await askGateway(gateway.socketPath, '/openai/v1/responses', undefined, { raw });
      expect(provider.received[0]!.body).toBe(raw.toString());
    });
  });
});

type Case = readonly [path: string, answer: unknown, found: readonly string[]];

const documents: readonly Case[] = [
  ...[
    'web_search_call',
    'file_search_call',
    'code_interpreter_call',
    'computer_call',
    'image_generation_call',
    'mcp_call',
    'mcp_list_tools',
    'mcp_approval_request',
    'something_new_call',
  ].map((type): Case => ['/openai/v1/responses', { output: [{ type: 'reasoning' }, { type }] }, [type]]),
  [
    '/openai/v1/responses',
    {
      output: [
        { type: 'message', content: [{ type: 'output_text', text: 'web_search_call' }] },
        { type: 'function_call', name: 'web_search', arguments: '{"type":"web_search_call"}' },
        { type: 'local_shell_call' },
        { type: 'custom_tool_call' },
        { type: 'shell_call', environment: { type: 'local' } },
      ],
    },
    [],
  ],
  [
    '/openai/v1/responses',
    { output: [{ type: 'shell_call', environment: { type: 'container_reference' } }] },
    ['shell_call'],
  ],
  [
    '/openai/v1/responses',
    { output: [{ type: 'message', content: [{ annotations: [{ type: 'url_citation' }] }] }] },
    ['citation'],
  ],
  [
    '/openai/v1/chat/completions',
    { choices: [{ message: { annotations: [{ type: 'url_citation' }] } }] },
    ['citation'],
  ],
  ['/openai/v1/chat/completions', { choices: [{ message: {} }], citations: ['https://x'] }, ['citations']],
  [
    '/openai/v1/chat/completions',
    { choices: [{ message: { tool_calls: [{ type: 'function' }] } }], citations: [] },
    [],
  ],
  [
    '/anthropic/v1/messages',
    {
      content: [
        { type: 'server_tool_use', name: 'web_search' },
        { type: 'web_search_tool_result', content: [] },
        { type: 'mcp_tool_use' },
      ],
    },
    ['server_tool_use:web_search', 'web_search_tool_result', 'mcp_tool_use'],
  ],
  [
    '/anthropic/v1/messages',
    { content: [{ type: 'text', text: '' }], usage: { server_tool_use: { web_search_requests: 1 } } },
    ['web_search_requests'],
  ],
  [
    '/anthropic/v1/messages',
    {
      content: [
        { type: 'tool_use', name: 'web_search', input: { type: 'server_tool_use' } },
        { type: 'server_tool_use', name: 'tool_search_tool_regex' },
        { type: 'tool_search_tool_result' },
      ],
      usage: { server_tool_use: { web_search_requests: 0 } },
    },
    [],
  ],
];

const streams: readonly Case[] = [
  [
    '/openai/v1/responses',
    [
      { type: 'response.output_item.added', item: { type: 'web_search_call' } },
      { type: 'response.code_interpreter_call_code.delta', delta: 'x' },
      { type: 'response.mcp_call.in_progress' },
    ],
    ['web_search_call', 'code_interpreter_call', 'mcp_call'],
  ],
  [
    '/openai/v1/responses',
    [
      { type: 'response.output_text.delta', delta: 'a web_search_call' },
      { type: 'response.function_call_arguments.delta', delta: '{"type":"web_search_call"}' },
      { type: 'response.completed', response: { output: [{ type: 'function_call' }] } },
    ],
    [],
  ],
  [
    '/openai/v1/responses',
    [{ type: 'response.completed', response: { output: [{ type: 'image_generation_call' }] } }],
    ['image_generation_call'],
  ],
  [
    '/anthropic/v1/messages',
    [
      { type: 'message_start', message: { model: 'm', content: [] } },
      { type: 'content_block_start', content_block: { type: 'server_tool_use', name: 'web_fetch' } },
      { type: 'content_block_start', content_block: { type: 'web_fetch_tool_result' } },
    ],
    ['server_tool_use:web_fetch', 'web_fetch_tool_result'],
  ],
  [
    '/openai/v1/chat/completions',
    [{ choices: [{ delta: { annotations: [{ type: 'url_citation' }] } }] }],
    ['citation'],
  ],
];

describe('hosted tools that an answer shows as used', () => {
  it.each(documents)('%s: a document %j', async (path, answer, found) => {
    const { exchanges } = await withGateway(json(answer), async (gateway) => {
      await askGateway(gateway.socketPath, path, { model: 'm' });
      expect(gateway.summary().hostedToolCalls).toEqual(found);
    });
    expect(exchanges[0]!.hostedToolCalls).toEqual(found);
  });

  it.each(streams)('%s: a stream %j', async (path, answer, found) => {
    const list = (answer as readonly unknown[]).map((data) => ({ data }));
    const { exchanges } = await withGateway(events(list), async (gateway) => {
      await askGateway(gateway.socketPath, path, { model: 'm', stream: true });
    });
    expect(exchanges[0]!.hostedToolCalls).toEqual(found);
  });

  it('are told as possible when the answer comes in a coding that was not asked for', async () => {
    const { exchanges } = await withGateway(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync('{"output":[{"type":"web_search_call"}]}'));
      },
      async (gateway) => {
        await askGateway(gateway.socketPath, '/openai/v1/responses', { model: 'm' });
      },
    );
    expect(exchanges[0]!.hostedToolCalls).toEqual(['unread-answer']);
  });
});
