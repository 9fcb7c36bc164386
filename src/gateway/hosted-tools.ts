import type { Protocol } from './gateway-types.js';
import { cleanGeminiRequest } from './gemini-requests.js';

/** Protocols whose tools say what they are by a `type`. */
type TypedProtocol = Exclude<Protocol, 'gemini'>;

type Json = Record<string, unknown>;

/** A request without the tools that the provider would run itself, and the names of what was taken out. */
export interface CleanRequest {
  readonly body: Json;
  readonly removed: readonly string[];
  /** Set when the request cannot be made safe by removal. */
  readonly refusal?: string;
}

/**
 * Tools that run where the agent runs. Everything else in `tools` is hosted by the provider (web search, remote
 * connectors, code interpreters, file search), reaches the internet past the sandbox, and is taken out; an unknown
 * type counts as hosted.
 */
const LOCAL_TOOLS: Readonly<Record<TypedProtocol, readonly RegExp[]>> = {
  'openai-responses': [/^function$/, /^custom$/, /^local_shell$/, /^apply_patch$/, /^namespace$/],
  'openai-chat': [/^function$/, /^custom$/],
  // Tool search runs at the provider, but only over the tools of the request itself.
  'anthropic-messages': [
    /^custom$/,
    /^bash_\d+$/,
    /^text_editor_\d+$/,
    /^memory_\d+$/,
    /^tool_search_tool_(regex|bm25)_\d+$/,
  ],
};

/** Fields that switch on hosted abilities outside `tools`. */
const HOSTED_FIELDS: Readonly<Record<TypedProtocol, readonly string[]>> = {
  'openai-responses': ['plugins'],
  'openai-chat': ['web_search_options', 'plugins'],
  'anthropic-messages': ['mcp_servers', 'container'],
};

/** Parts of an answer that only hosted tools produce (`include` of the Responses API). */
const HOSTED_INCLUDES = /^(web_search_call|file_search_call|code_interpreter_call|computer_call|mcp_)/;

/** Models that search the web by themselves. */
const SEARCHING_MODEL = /(:online$|-search-(preview|api)|deep-research|^perplexity\/|^sonar)/;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeOf(tool: Json, protocol: TypedProtocol): string {
  if (typeof tool.type === 'string') return tool.type;
  // Client tools of the Messages API need no type.
  return protocol === 'anthropic-messages' && isObject(tool.input_schema) ? 'custom' : 'unknown';
}

function isLocal(tool: Json, protocol: TypedProtocol): boolean {
  const type = typeOf(tool, protocol);
  if (LOCAL_TOOLS[protocol].some((pattern) => pattern.test(type))) return true;
  // These two run where the request says: the shell here unless it names a container, tool search in the client.
  if (protocol !== 'openai-responses') return false;
  if (type === 'shell') return isObject(tool.environment) && tool.environment.type === 'local';
  return type === 'tool_search' && tool.execution === 'client';
}

function localTools(tools: readonly unknown[], protocol: TypedProtocol, removed: string[]): unknown[] {
  const kept: unknown[] = [];
  for (const tool of tools) {
    if (!isObject(tool)) continue;
    if (!isLocal(tool, protocol)) removed.push(typeOf(tool, protocol).slice(0, 100));
    else if (Array.isArray(tool.tools))
      kept.push({ ...tool, tools: localTools(tool.tools, protocol, removed) });
    else kept.push(tool);
  }
  return kept;
}

/** Fields whose content is data or a schema, where something called `tools` is no list of tools. */
const DATA_FIELDS = new Set(['parameters', 'input_schema', 'schema', 'arguments', 'metadata', 'output']);
const MAX_DEPTH = 12;

/**
 * Takes hosted tools out of lists of tools anywhere inside a value: items of type `additional_tools` of the
 * Responses API, answers of a tool search, tools bound to one message. Returns the value itself when nothing was
 * there. An item of type `additional_tools` that is left empty goes as well.
 */
function withoutNestedTools(value: unknown, protocol: TypedProtocol, removed: string[], depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const inner = value.map((one) => withoutNestedTools(one, protocol, removed, depth + 1));
    const kept = inner.filter((one, at) => one === value[at] || !isEmptied(one));
    return kept.length === value.length && kept.every((one, at) => one === value[at]) ? value : kept;
  }
  if (!isObject(value)) return value;
  let changed: Json | undefined;
  for (const [name, field] of Object.entries(value)) {
    // What a model handed to a tool of the client is data (`tool_use`).
    if (DATA_FIELDS.has(name) || (name === 'input' && value.type === 'tool_use')) continue;
    const before = removed.length;
    const isToolList = name === 'tools' && Array.isArray(field) && field.some(isObject);
    const clean = isToolList
      ? localTools(field, protocol, removed)
      : withoutNestedTools(field, protocol, removed, depth + 1);
    if (isToolList ? removed.length > before : clean !== field)
      changed = { ...(changed ?? value), [name]: clean };
  }
  return changed ?? value;
}

function isEmptied(item: unknown): boolean {
  return (
    isObject(item) && item.type === 'additional_tools' && Array.isArray(item.tools) && item.tools.length === 0
  );
}

/** Places outside `tools` that can bring tools along. */
const NESTED_FIELDS = ['input', 'messages', 'system', 'tool_choice'] as const;

/** Whether `tool_choice` still names something that is there. */
function choiceHolds(choice: unknown, kept: readonly unknown[], protocol: TypedProtocol): boolean {
  if (kept.length === 0) return false;
  if (!isObject(choice)) return true;
  const wanted = choice.name ?? (isObject(choice.function) ? choice.function.name : undefined);
  if (wanted === undefined) {
    const type = String(choice.type);
    return (
      ['auto', 'any', 'none', 'tool'].includes(type) ||
      kept.some((tool) => isObject(tool) && typeOf(tool, protocol) === type)
    );
  }
  return kept.some(
    (tool) =>
      isObject(tool) && (tool.name === wanted || (isObject(tool.function) && tool.function.name === wanted)),
  );
}

/** Takes hosted tools out of a request for a model. The body given is not changed. */
export function cleanRequest(body: Readonly<Json>, protocol: Protocol, model: string | null): CleanRequest {
  if (model !== null && SEARCHING_MODEL.test(model))
    return {
      body: { ...body },
      removed: ['searching-model'],
      refusal: `the model ${model} searches the web`,
    };
  return protocol === 'gemini' ? cleanGeminiRequest(body) : withoutHostedTools(body, protocol);
}

function withoutHostedTools(body: Readonly<Json>, protocol: TypedProtocol): CleanRequest {
  const removed: string[] = [];
  const clean: Json = { ...body };
  if (protocol === 'openai-responses' && isObject(body.prompt))
    return { body: clean, removed: ['stored-prompt'], refusal: 'a stored prompt may bring hosted tools' };
  for (const field of HOSTED_FIELDS[protocol]) {
    if (clean[field] === undefined || clean[field] === null) continue;
    removed.push(field);
    delete clean[field];
  }
  if (Array.isArray(body.include)) {
    clean.include = body.include.filter((part) => !(typeof part === 'string' && HOSTED_INCLUDES.test(part)));
  }
  for (const field of NESTED_FIELDS) {
    if (clean[field] === undefined) continue;
    const inner = withoutNestedTools(clean[field], protocol, removed);
    if (inner !== clean[field]) clean[field] = inner;
  }
  if (Array.isArray(body.tools)) {
    const before = removed.length;
    const kept = localTools(body.tools, protocol, removed);
    if (removed.length > before) {
      clean.tools = kept;
      if (kept.length === 0) {
        delete clean.tools;
        delete clean.parallel_tool_calls;
      }
      if (clean.tool_choice !== undefined && !choiceHolds(clean.tool_choice, kept, protocol))
        delete clean.tool_choice;
    }
  }
  return { body: clean, removed };
}

/** Beta switches of the Messages API that turn on hosted abilities. */
const HOSTED_BETAS = /^(mcp-client|code-execution|web-fetch|web-search|skills|files-api|computer-use)-/;

/** An `anthropic-beta` header without them. */
export function withoutHostedBetas(header: string): {
  readonly value: string;
  readonly removed: readonly string[];
} {
  const names = header.split(',').map((name) => name.trim());
  return {
    value: names.filter((name) => name !== '' && !HOSTED_BETAS.test(name)).join(','),
    removed: names.filter((name) => HOSTED_BETAS.test(name)),
  };
}
