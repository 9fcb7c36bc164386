import type { CleanRequest } from './hosted-tools.js';

type Json = Readonly<Record<string, unknown>>;

/** The one kind of tool that runs in the client; every other member of a tool is the provider's. */
const FUNCTIONS = ['functionDeclarations', 'function_declarations'];

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A request of the Gemini API without hosted tools (`googleSearch`, `codeExecution`, `urlContext` and every other
 * member of a tool that declares no functions). Refused is what the provider would fetch by itself: a stored cache,
 * which may hold tools, and files by address. The body given is not changed.
 */
export function cleanGeminiRequest(body: Json): CleanRequest {
  if (body.cachedContent ?? body.cached_content)
    return {
      body: { ...body },
      removed: ['cached-content'],
      refusal: 'stored content may bring hosted tools',
    };
  if (holdsFileAddress(body.contents) || holdsFileAddress(body.systemInstruction ?? body.system_instruction))
    return {
      body: { ...body },
      removed: ['file-data'],
      refusal: 'the provider would fetch a file by its address',
    };
  if (!Array.isArray(body.tools)) return { body: { ...body }, removed: [] };
  const removed: string[] = [];
  const tools = body.tools.filter(isObject).flatMap((tool) => {
    const kept: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(tool)) {
      if (FUNCTIONS.includes(name)) kept[name] = value;
      else removed.push(name.slice(0, 100));
    }
    return Object.keys(kept).length === 0 ? [] : [kept];
  });
  if (removed.length === 0) return { body: { ...body }, removed };
  const { tools: _tools, toolConfig, tool_config: snakeConfig, ...rest } = body;
  if (tools.length === 0) return { body: rest, removed };
  return {
    body: {
      ...rest,
      tools,
      ...(toolConfig === undefined ? {} : { toolConfig }),
      ...(snakeConfig === undefined ? {} : { tool_config: snakeConfig }),
    },
    removed,
  };
}

/** Whether a part of a content, or of several, names a file by its address. */
function holdsFileAddress(contents: unknown): boolean {
  const list = Array.isArray(contents) ? contents : [contents];
  return list.filter(isObject).some(({ parts }) => {
    const all = Array.isArray(parts) ? parts : [parts];
    return all.filter(isObject).some((part) => {
      const response = part.functionResponse ?? part.function_response;
      // A function's answer may hold parts of its own.
      const inner = isObject(response) ? holdsFileAddress({ parts: response.parts }) : false;
      return inner || isObject(part.fileData) || isObject(part.file_data);
    });
  });
}
