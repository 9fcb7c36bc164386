// The agent `basic`: a model, a shell, and nothing else. Runs inside the sandbox; reads its instruction from standard
// input, its settings from M4BENCH_BASIC (JSON), and prints one JSON object per event.
//
//   {"type":"start","agent":"m4bench-basic","model":…,"at":…}
//   {"type":"reply","at":…,"startedAt":…,"model":…,"text":…,"reasoning":…,"calls":[{"id","command"}],"usage":{…}}
//   {"type":"result","id":…,"startedAt":…,"at":…,"exitCode":…,"output":…}
//   {"type":"error","message":…}
//   {"type":"end","at":…,"ending":"completed"|"failed","reason":…}
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { jsonSchema, streamText, tool } from 'ai';

const MAX_REPLIES = 300;
/** Tries again after a rate limit, an overload or a lost connection, with growing waits. */
const MAX_RETRIES = 6;
const DEFAULT_TIMEOUT_SECONDS = 600;
/** Characters of a command's output that the model sees: the beginning and the end. */
const MAX_OUTPUT = 30_000;

globalThis.AI_SDK_LOG_WARNINGS = false;

const SYSTEM = [
  'You solve a data task on your own, in the current folder, with a shell.',
  'Each command is run by bash in the current folder and in a shell of its own; there is no network.',
  'Nobody can answer questions: decide, do the whole task, check the result, and then say in one sentence that you are done.',
  'A reply without a command ends your work.',
].join('\n');

const bash = tool({
  description: `Run a bash command and return its output (standard output and error together, at most ${MAX_OUTPUT} characters) and its exit status.`,
  inputSchema: jsonSchema({
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command line.' },
      timeout_seconds: {
        type: 'integer',
        description: `The command is ended after this time; default ${DEFAULT_TIMEOUT_SECONDS}.`,
      },
    },
    required: ['command'],
    additionalProperties: false,
  }),
});

const emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const now = () => new Date().toISOString();
const messageOf = (thrown) => (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, 2_000);

/** The model behind the gateway, by the API that its provider speaks, and how effort is asked of it. */
function modelOf({ api, baseUrl, key, model, effort }) {
  switch (api) {
    case 'openai-responses':
      return {
        model: createOpenAI({ baseURL: baseUrl, apiKey: key }).responses(model),
        // Nothing is kept at the provider; reasoning travels along, encrypted.
        options: {
          openai: {
            store: false,
            include: ['reasoning.encrypted_content'],
            ...(effort && { reasoningEffort: effort }),
          },
        },
      };
    case 'anthropic-messages':
      return {
        model: createAnthropic({ baseURL: baseUrl, apiKey: key })(model),
        options: { anthropic: effort ? { effort } : {} },
      };
    case 'gemini':
      return {
        model: createGoogleGenerativeAI({ baseURL: baseUrl, apiKey: key })(model),
        options: { google: effort ? { thinkingConfig: { thinkingLevel: effort } } : {} },
      };
    default:
      return {
        model: createOpenAICompatible({ name: 'local', baseURL: baseUrl, apiKey: key, includeUsage: true })(
          model,
        ),
        options: { local: effort ? { reasoningEffort: effort } : {} },
      };
  }
}

/** The skills of a folder, as their own front matter presents them; the model reads the rest with the shell. */
async function skillsIn(folder) {
  const names = await readdir(folder).catch(() => []);
  const offers = [];
  for (const name of names.sort()) {
    const path = join(folder, name, 'SKILL.md');
    const content = await readFile(path, 'utf8').catch(() => '');
    const front = /^---\r?\n([\s\S]*?)\r?\n---(\r?\n|$)/.exec(content)?.[1];
    if (front !== undefined) offers.push(`${path}\n${front}`);
  }
  if (offers.length === 0) return '';
  return ['', 'Skills, which you may read when they fit the task:', ...offers].join('\n\n');
}

/** Runs one command; never throws. */
function runCommand({ command, timeout_seconds: seconds }) {
  return new Promise((resolve) => {
    let head = '';
    let tail = '';
    let length = 0;
    let endedBy = '';
    const take = (chunk) => {
      length += chunk.length;
      const room = MAX_OUTPUT / 2 - head.length;
      if (room > 0) head += chunk.slice(0, room);
      tail = (tail + chunk.slice(Math.max(0, room))).slice(-MAX_OUTPUT / 2);
    };
    const child = spawn('/bin/bash', ['-c', String(command)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const limit = Number.isInteger(seconds) && seconds > 0 ? seconds : DEFAULT_TIMEOUT_SECONDS;
    const timer = setTimeout(() => {
      endedBy = `\n[ended after ${limit} seconds]`;
      end();
    }, limit * 1000);
    const finish = (exitCode) => {
      clearTimeout(timer);
      const left = length - head.length - tail.length;
      resolve({
        exitCode,
        output: head + (left > 0 ? `\n[${left} characters left out]\n` : '') + tail + endedBy,
      });
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take);
    child.on('error', (thrown) => {
      take(messageOf(thrown));
      finish(126);
    });
    // A process that the command left behind may hold its output open; it does not hold up the agent.
    child.on('exit', (exitCode, signal) => {
      setTimeout(() => finish(exitCode ?? (signal === null ? 1 : 128)), 200);
    });
  });
}

/** One reply of the model, whole. */
async function ask(settings, system, messages) {
  const { model, options } = modelOf(settings);
  const startedAt = now();
  let failure;
  const reply = streamText({
    model,
    system,
    messages,
    tools: { bash },
    maxRetries: MAX_RETRIES,
    providerOptions: options,
    onError: ({ error }) => {
      failure = error;
    },
  });
  await reply.consumeStream();
  if (failure !== undefined) throw failure;
  const [response, calls, usage] = await Promise.all([reply.response, reply.toolCalls, reply.totalUsage]);
  emit({
    type: 'reply',
    startedAt,
    at: now(),
    model: response.modelId,
    text: await reply.text,
    reasoning: (await reply.reasoningText) ?? '',
    calls: calls.map(({ toolCallId, input }) => ({ id: toolCallId, command: input?.command ?? '' })),
    usage: {
      input: usage.inputTokens ?? 0,
      cachedInput: usage.inputTokenDetails?.cacheReadTokens ?? 0,
      cacheWrite: usage.inputTokenDetails?.cacheWriteTokens ?? 0,
      output: usage.outputTokens ?? 0,
      reasoning: usage.outputTokenDetails?.reasoningTokens ?? 0,
    },
  });
  return { messages: response.messages, calls };
}

/** Answers one call. A call that the tool cannot take is answered too, so that the model can correct itself. */
async function answer({ toolCallId, toolName, input, invalid, error }) {
  const startedAt = now();
  const ran =
    invalid || typeof input?.command !== 'string'
      ? { exitCode: null, output: `not a valid call: ${messageOf(error ?? 'the command is missing')}` }
      : await runCommand(input);
  emit({ type: 'result', id: toolCallId, startedAt, at: now(), ...ran });
  const status = ran.exitCode === null ? '' : `\n[exit status ${ran.exitCode}]`;
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: ran.output + status } };
}

async function main() {
  const settings = JSON.parse(process.env.M4BENCH_BASIC ?? '{}');
  const messages = [{ role: 'user', content: await text(process.stdin) }];
  const system = SYSTEM + (await skillsIn(settings.skillFolder));
  emit({ type: 'start', agent: 'm4bench-basic', model: settings.model, at: now() });
  for (let replies = 0; replies < MAX_REPLIES; replies += 1) {
    const reply = await ask(settings, system, messages);
    messages.push(...reply.messages);
    if (reply.calls.length === 0)
      return emit({ type: 'end', at: now(), ending: 'completed', reason: 'done' });
    const results = [];
    for (const call of reply.calls) results.push(await answer(call));
    // The SDK has answered calls of unknown tools itself.
    const open = results.filter(({ toolCallId }) => !isAnswered(reply.messages, toolCallId));
    if (open.length > 0) messages.push({ role: 'tool', content: open });
  }
  emit({ type: 'end', at: now(), ending: 'failed', reason: `no end after ${MAX_REPLIES} replies` });
  process.exitCode = 1;
}

function isAnswered(messages, toolCallId) {
  return messages.some(
    ({ role, content }) => role === 'tool' && content.some((part) => part.toolCallId === toolCallId),
  );
}

main().catch((thrown) => {
  emit({ type: 'error', message: messageOf(thrown) });
  emit({ type: 'end', at: now(), ending: 'failed', reason: 'error' });
  process.exitCode = 1;
});
