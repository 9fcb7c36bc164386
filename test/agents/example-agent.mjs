// A program of one's own for the example of docs/agents.md: asks a Chat Completions API, runs bash, nothing more.
import { spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';

const model = process.argv.find((word) => word.startsWith('--model='))?.slice('--model='.length);
const messages = [{ role: 'user', content: await text(process.stdin) }];
const parameters = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };

for (;;) {
  const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env.OPENAI_API_KEY}`,
    },
    body: JSON.stringify({
      model,
      messages,
      tools: [{ type: 'function', function: { name: 'bash', parameters } }],
      reasoning_effort: process.env.REASONING_EFFORT,
    }),
  });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { message } = (await response.json()).choices[0];
  messages.push(message);
  if (message.content) console.log(message.content);
  if (!message.tool_calls?.length) break;
  for (const call of message.tool_calls) {
    const { command } = JSON.parse(call.function.arguments);
    const { stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
    messages.push({ role: 'tool', tool_call_id: call.id, content: stdout + stderr });
  }
}
