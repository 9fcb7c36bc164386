import type { Protocol } from './gateway-types.js';

type Json = Readonly<Record<string, unknown>>;

/** Stands for an answer that was passed on without being understood: too large, or in a coding not asked for. */
export const UNREAD_ANSWER = 'unread-answer';

/** Calls of the Responses API that the client carries out; any other `…_call` or `mcp_…` item is the provider's. */
const LOCAL_CALLS = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'apply_patch_call',
  'tool_search_call',
  'shell_call',
]);

/** Blocks of the Messages API that only tools of the provider produce. */
const HOSTED_BLOCK = /^(server_tool_use|mcp_tool_use|container_upload|.+_tool_result)$/;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 100) : 'unknown';
}

/** Sources that an answer cites; nothing but a search by the provider adds them. */
function citations(part: Json): readonly string[] {
  return objectsIn(part.annotations).some(({ type }) => type === 'url_citation' || type === 'file_citation')
    ? ['citation']
    : [];
}

function responsesItem(item: Json): readonly string[] {
  const type = nameOf(item.type);
  if (type === 'message') return objectsIn(item.content).flatMap(citations);
  if (type.startsWith('mcp_')) return [type];
  if (!type.endsWith('_call')) return [];
  // The shell runs here unless the answer names a container of the provider.
  const isRemoteShell =
    type === 'shell_call' && isObject(item.environment) && item.environment.type !== 'local';
  const isRemoteSearch = type === 'tool_search_call' && item.execution === 'server';
  return LOCAL_CALLS.has(type) && !isRemoteShell && !isRemoteSearch ? [] : [type];
}

/** `response.web_search_call.searching` and the like: progress of a hosted call. */
function responsesEvent(type: unknown): readonly string[] {
  const match = typeof type === 'string' ? /^response\.([a-z_]+)\.[a-z_.]+$/.exec(type) : null;
  const subject = match?.[1]?.replace(/_arguments$|_code$|_input$/, '');
  return subject === undefined ? [] : responsesItem({ type: subject });
}

function responsesCalls(value: Json): readonly string[] {
  const response = isObject(value.response) ? value.response : value;
  return [
    ...responsesEvent(value.type),
    ...(isObject(value.item) ? responsesItem(value.item) : []),
    ...(isObject(value.part) ? citations(value.part) : []),
    ...(isObject(value.annotation) ? citations({ annotations: [value.annotation] }) : []),
    ...objectsIn(response.output).flatMap(responsesItem),
  ];
}

function chatCalls(value: Json): readonly string[] {
  const found: string[] = [];
  for (const choice of objectsIn(value.choices)) {
    for (const message of [choice.message, choice.delta].filter(isObject)) {
      found.push(...citations(message));
      for (const { type } of objectsIn(message.tool_calls))
        if (type !== undefined && type !== 'function' && type !== 'custom') found.push(nameOf(type));
      if (objectsIn(message.executed_tools).length > 0) found.push('executed_tools');
    }
  }
  for (const field of ['citations', 'search_results'])
    if (Array.isArray(value[field]) && (value[field] as readonly unknown[]).length > 0) found.push(field);
  return found;
}

function messagesBlock(block: Json): readonly string[] {
  const type = nameOf(block.type);
  // Tool search runs at the provider, but only over the tools of the request itself.
  if (type === 'tool_search_tool_result') return [];
  if (type === 'server_tool_use') {
    const name = nameOf(block.name);
    return name.startsWith('tool_search_tool_') ? [] : [`${type}:${name}`];
  }
  if (HOSTED_BLOCK.test(type)) return [type];
  const isCited = objectsIn(block.citations).some(({ type: kind }) => kind === 'web_search_result_location');
  return isCited ? ['citation'] : [];
}

function messagesCalls(value: Json): readonly string[] {
  const message = isObject(value.message) ? value.message : value;
  const usage = isObject(value.usage) ? value.usage : isObject(message.usage) ? message.usage : {};
  const used = isObject(usage.server_tool_use) ? Object.entries(usage.server_tool_use) : [];
  return [
    ...(isObject(value.content_block) ? messagesBlock(value.content_block) : []),
    ...objectsIn(message.content).flatMap(messagesBlock),
    ...used.filter(([, count]) => typeof count === 'number' && count > 0).map(([name]) => name.slice(0, 100)),
  ];
}

/** Parts of a Gemini answer that only tools of the provider produce. */
const HOSTED_PARTS = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'];

function geminiCalls(value: Json): readonly string[] {
  return objectsIn(value.candidates).flatMap((candidate) => {
    const parts = isObject(candidate.content) ? objectsIn(candidate.content.parts) : [];
    return [
      ...['groundingMetadata', 'urlContextMetadata'].filter((name) => {
        const metadata = candidate[name];
        return isObject(metadata) && Object.keys(metadata).length > 0;
      }),
      ...HOSTED_PARTS.filter((name) => parts.some((part) => part[name] !== undefined)),
    ];
  });
}

/**
 * Hosted tools that one object of an answer (the document, or one event of a stream) shows as used. Looks at the
 * places where the protocol puts them, never at text: a model may write about web search.
 */
export function hostedCallsIn(value: unknown, protocol: Protocol): readonly string[] {
  if (!isObject(value)) return [];
  switch (protocol) {
    case 'openai-responses':
      return responsesCalls(value);
    case 'openai-chat':
      return chatCalls(value);
    case 'anthropic-messages':
      return messagesCalls(value);
    case 'gemini':
      return geminiCalls(value);
  }
}
