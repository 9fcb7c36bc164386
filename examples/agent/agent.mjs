// An agent in thirty lines: asks a model once for a query, and runs what it answers. It runs inside the sandbox.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const model = process.argv.find((word) => word.startsWith('--model='))?.slice('--model='.length);
const instruction = readFileSync(0, 'utf8');
const tables = execFileSync(
  'duckdb',
  [
    '-readonly',
    'database.duckdb',
    "select table_schema || '.' || table_name as name from information_schema.tables",
  ],
  { encoding: 'utf8' },
);

const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
  body: JSON.stringify({
    model,
    messages: [
      { role: 'system', content: `Answer with one DuckDB SELECT in a block \`\`\`sql. Tables:\n${tables}` },
      { role: 'user', content: instruction },
    ],
  }),
});
if (!response.ok) throw new Error(`The model service answered ${response.status}: ${await response.text()}`);
const { choices } = await response.json();
const answer = choices[0].message.content;
console.log(answer);
const query = /```sql\n([\s\S]*?)```/.exec(answer)?.[1] ?? answer;
execFileSync(
  'duckdb',
  ['-readonly', 'database.duckdb', `copy (${query.trim().replace(/;$/, '')}) to 'output.csv' (header)`],
  {
    stdio: 'inherit',
  },
);
