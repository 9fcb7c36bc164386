import type { ServerResponse } from 'node:http';
import type { ModelRequest, Turn } from './scenario.js';

/** One model API; the files beside this one implement it. */
export interface ModelProtocol {
  readonly name: 'openai-responses' | 'openai-chat' | 'anthropic-messages' | 'gemini';
  /** Whether a request path is one of the protocol. */
  matches(path: string): boolean;
  /** Reads what the scenario needs. Throws when the body is not of the protocol. */
  readRequest(body: unknown, path: string): ModelRequest;
  /** Writes a whole reply and ends the response. */
  writeReply(response: ServerResponse, request: ModelRequest, turn: Extract<Turn, { kind: 'reply' }>): void;
  /** The events of a reply that breaks off after its first event. */
  firstBytes(request: ModelRequest): string;
  /** What an error looks like; the wait is in the header `retry-after` too. */
  errorBody(status: number, retryAfterSeconds?: number): unknown;
}

/** One server-sent event; `event` is left out where the protocol has data lines only. */
export function serverSentEvent(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/** Ends a response with a stream of server-sent events. */
export function endWithEvents(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.end(events.join(''));
}

/** Ends a response with one JSON document. */
export function endWithJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Shell tools of known clients: the tool's name and how it takes a command. */
const SHELL_TOOLS: readonly {
  readonly name: string;
  readonly argumentsFor: (command: string) => object;
}[] = [
  { name: 'exec_command', argumentsFor: (command) => ({ cmd: command, yield_time_ms: 30_000 }) },
  { name: 'shell_command', argumentsFor: (command) => ({ command, timeout_ms: 600_000 }) },
  { name: 'shell', argumentsFor: (command) => ({ command: ['bash', '-lc', command] }) },
  { name: 'Bash', argumentsFor: (command) => ({ command, description: 'Run a command' }) },
  { name: 'bash', argumentsFor: (command) => ({ command, description: 'Run a command' }) },
  { name: 'run_shell_command', argumentsFor: (command) => ({ command }) },
];

export interface ShellCall {
  readonly tool: string;
  readonly arguments: object;
}

/** A command, or (`session`) a look at one that still runs. */
export interface CommandCall {
  readonly command: string;
  readonly session: number | undefined;
}

/** The call of the client's own shell tool that runs a command. Throws when it declared none that is known. */
export function shellCallFor(tools: readonly string[], call: CommandCall): ShellCall {
  if (call.session !== undefined && tools.includes('write_stdin')) {
    return {
      tool: 'write_stdin',
      arguments: { session_id: call.session, chars: '', yield_time_ms: 30_000 },
    };
  }
  const known = SHELL_TOOLS.find((tool) => tools.includes(tool.name));
  if (known === undefined) throw new Error(`No known shell tool among: ${tools.join(', ') || 'none'}`);
  return { tool: known.name, arguments: known.argumentsFor(call.command) };
}

/** The same for clients whose only tool is `exec`, a script that calls the shell tool (Codex's code mode). */
export function shellScriptFor(call: CommandCall): string {
  return [
    '// @exec: {"yield_time_ms": 600000}',
    `let result = await tools.exec_command({ cmd: ${JSON.stringify(call.command)}, yield_time_ms: 30000 });`,
    'let output = result.output;',
    'while (result.session_id !== undefined) {',
    "  result = await tools.write_stdin({ session_id: result.session_id, chars: '', yield_time_ms: 30000 });",
    '  output += result.output;',
    '}',
    'text(output);',
  ].join('\n');
}
