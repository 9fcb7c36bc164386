// A model without a model: answers every chat completion with the query in a file, for trying an agent out.
//   node model.mjs ANSWER.sql COMMAND...
// COMMAND runs with M4BENCH_LOCAL_BASE_URL set to this server, which ends with it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [file, program, ...words] = process.argv.slice(2);
if (program === undefined) {
  console.error('usage: node model.mjs ANSWER.sql COMMAND...');
  process.exit(2);
}
const content = `\`\`\`sql\n${readFileSync(file, 'utf8')}\`\`\``;

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => {
    body += part;
  });
  request.on('end', () => {
    const model = /"model":"([^"]*)"/.exec(body)?.[1] ?? 'scripted';
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'scripted',
        object: 'chat.completion',
        created: Math.floor(Date.now() / 1000),
        model,
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        // About four characters a token, so that the run has something to count.
        usage: {
          prompt_tokens: Math.ceil(body.length / 4),
          completion_tokens: Math.ceil(content.length / 4),
          total_tokens: Math.ceil(body.length / 4) + Math.ceil(content.length / 4),
        },
      }),
    );
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const child = spawn(program, words, {
    stdio: 'inherit',
    env: { ...process.env, M4BENCH_LOCAL_BASE_URL: `http://127.0.0.1:${port}/v1` },
  });
  child.on('error', (error) => {
    console.error(`${program}: ${error.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
});
// Ctrl-C reaches the command too, which says when it has ended.
process.on('SIGINT', () => {});
