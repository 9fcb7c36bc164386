import { gzipSync } from 'node:zlib';

/** One way in which something of a patient can get into a trace. */
export interface PlantedLeak {
  readonly shape: string;
  /** What the agent's trace holds. */
  readonly event: unknown;
  /** None of these may be anywhere in the package, in its names neither. */
  readonly needles: readonly string[];
}

/** Where real values come from. */
export interface LeakMaterial {
  /** Another identifier of eight digits at every call. */
  readonly id: () => string;
  /** Another time, `YYYY-MM-DD HH:MM:SS`, at every call. */
  readonly time: () => string;
}

let items = 0;
const item = (fields: Readonly<Record<string, unknown>>): unknown => {
  items += 1;
  return { type: 'item.completed', item: { id: `item_${items}`, ...fields } };
};
const says = (text: string): unknown => item({ type: 'agent_message', text });
const thinks = (text: string): unknown => item({ type: 'reasoning', text });
const runs = (command: string, output = ''): unknown =>
  item({ type: 'command_execution', command, aggregated_output: output, exit_code: 0, status: 'completed' });

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Leaks that the rules must catch, each of another shape, each with identifiers or times of its own. */
export function plantedLeaks({ id, time }: LeakMaterial): readonly PlantedLeak[] {
  const leaks: PlantedLeak[] = [];
  const plant = (shape: string, needles: readonly string[], event: unknown): void => {
    leaks.push({ shape, needles, event });
  };
  const withId = (
    shape: string,
    event: (value: string) => unknown,
    ...more: ((value: string) => string)[]
  ): void => {
    const value = id();
    plant(shape, [value, ...more.map((make) => make(value))], event(value));
  };
  const withTime = (shape: string, write: (value: string) => string, event = says): void => {
    const written = write(time());
    plant(shape, [written], event(`It began on ${written} in the ward.`));
  };

  withId('output of a command', (value) =>
    runs('duckdb database.duckdb -c "from icustays"', `stay_id\n${value}\n`),
  );
  withId('a command', (value) =>
    runs(`duckdb database.duckdb -c "select * from icustays where stay_id = ${value}"`),
  );
  withId('a name of a file in a command', (value) => runs(`wc -l /work/patient-${value}.csv`));
  withId('a name of a changed file', (value) =>
    item({
      type: 'file_change',
      changes: [{ path: `/work/p${value}/notes.md`, kind: 'add' }],
      status: 'completed',
    }),
  );
  withId('a number in the arguments of a tool', (value) =>
    item({
      type: 'mcp_tool_call',
      server: 's',
      tool: 't',
      arguments: { patient: Number(value) },
      status: 'completed',
    }),
  );
  withId('a list in the arguments of a tool', (value) =>
    item({
      type: 'mcp_tool_call',
      server: 's',
      tool: 't',
      arguments: { stays: [1, Number(value)] },
      status: 'completed',
    }),
  );
  withId('a key of an object in the arguments of a tool', (value) =>
    item({ type: 'mcp_tool_call', server: 's', tool: 't', arguments: { [value]: 'x' }, status: 'completed' }),
  );
  withId('JSON in JSON', (value) =>
    says(JSON.stringify({ note: JSON.stringify({ row: JSON.stringify({ subject_id: value }) }) })),
  );
  withId('prose', (value) => says(`The patient ${value} has no weight.`));
  withId('a sentence of the reasoning', (value) => thinks(`Stay ${value}, then, is the odd one.`));
  withId('inside a word', (value) => says(`see row_${value}x`));
  withId('with commas', (value) => says(`It is ${commas(value)}.`), commas);
  withId(
    'with blanks',
    (value) => says(`It is ${spaced(value, ' ')}.`),
    (value) => spaced(value, ' '),
  );
  withId(
    'digit by digit',
    (value) => thinks(`I read ${[...value].join('-')} there.`),
    (value) => [...value].join('-'),
  );
  withId(
    'with an underscore, as programs write numbers',
    (value) => runs(`python3 -c "print(${spaced(value, '_')})"`),
    (value) => spaced(value, '_'),
  );
  withId('in full-width digits', (value) => says(`It is ${wide(value)}.`), wide);
  withId(
    'with invisible characters between',
    (value) => says(`It is ${[...value].join('\u200b')}.`),
    (value) => [...value].join('\u200b'),
  );
  withId('in scientific spelling', (value) => says(`Value ${scientific(value)} again.`), scientific);
  withId('in hexadecimal', (value) => says(`Value ${hexadecimal(value)} again.`), hexadecimal);
  withId(
    'base64',
    (value) => says(`Token: ${base64(`subject_id=${value}`)}`),
    (value) => base64(`subject_id=${value}`),
  );
  withId(
    'base64 of base64',
    (value) => says(base64(base64(`the subject is ${value} here`))),
    (value) => base64(base64(`the subject is ${value} here`)),
  );
  withId('compressed and base64', (value) => says(zipped(value)), zipped);
  withId(
    'hexadecimal text',
    (value) => says(hexText(`stay ${value}`)),
    (value) => hexText(`stay ${value}`),
  );
  withId('percent encoding', (value) => runs(`echo ${percent(value)}`), percent);
  withId('escapes of JavaScript', (value) => runs(`node -p '"${escapes(value)}"'`), escapes);
  withId('entities of HTML', (value) => says(entities(value)), entities);
  withId('characters by their codes', (value) => runs(`select ${characters(value)}`), characters);
  withId('a notice of an error', (value) => ({ type: 'error', message: `no such stay ${value}` }));
  withId('an event of an unknown kind', (value) => ({ type: 'telemetry.sent', payload: { stay_id: value } }));
  withId('an item of an unknown kind', (value) => item({ type: 'screenshot', caption: `stay ${value}` }));
  withId('a line that is no JSON', (value) => `panic: at stay ${value}`);
  withId('the name of a model', (value) => ({ type: 'thread.started', model: `model-of-${value}` }));
  withTime('a time', (value) => value);
  withTime('a time of ISO 8601', (value) => `${value.replace(' ', 'T')}Z`);
  withTime('a date', (value) => value.slice(0, 10));
  withTime('a date with slashes', (value) => value.slice(0, 10).replaceAll('-', '/'));
  withTime('a date as Americans write it', american);
  withTime('a date with the name of its month', named);
  withTime('a compact date', (value) => value.slice(0, 10).replaceAll('-', ''));
  withTime(
    'a date as arguments of a function',
    (value) => `date(${value.slice(0, 10).split('-').map(Number).join(', ')})`,
    runs,
  );
  withTime('seconds since 1970', (value) => String(Date.parse(`${value.replace(' ', 'T')}Z`) / 1000));
  withTime('milliseconds since 1970', (value) => String(Date.parse(`${value.replace(' ', 'T')}Z`)));
  for (const { shape, needles, text } of tables(id, time)) plant(shape, needles, says(text));
  const heredoc = [0, 1, 2].map(() => `${id()},7,1.25`);
  plant(
    'CSV in a command',
    ['7,1.25'],
    runs(`cat > output.csv <<'END'\nstay_id,a,b\n${heredoc.join('\n')}\nEND`),
  );
  return leaks;
}

function tables(
  id: () => string,
  time: () => string,
): readonly { shape: string; needles: string[]; text: string }[] {
  const rows = [1, 2, 3].map((n) => ({ stay: id(), score: `${n}.0625`, at: time() }));
  const needles = (mark: string): string[] =>
    rows.flatMap(({ stay, score, at }) => [stay, `${mark}${score}`, at]);
  return [
    {
      shape: 'CSV in a message',
      needles: needles('11'),
      text: `Here:\nstay_id,sofa,charttime\n${rows.map(({ stay, score, at }) => `${stay},11${score},${at}`).join('\n')}\nDone.`,
    },
    {
      shape: 'a table of Markdown',
      needles: needles('12'),
      text: `| stay | score | time |\n| --- | --- | --- |\n${rows.map(({ stay, score, at }) => `| ${stay} | 12${score} | ${at} |`).join('\n')}`,
    },
    {
      shape: 'a table as DuckDB draws it',
      needles: needles('13'),
      text: `┌────┬────┐\n${rows.map(({ stay, score, at }) => `│ ${stay} │ 13${score} │ ${at} │`).join('\n')}\n└────┴────┘`,
    },
    {
      shape: 'a table separated by tabs, without identifiers',
      needles: ['14.0625', '14.1625', '14.2625'],
      text: 'sofa\tlactate\n14.0625\t1\n14.1625\t2\n14.2625\t3',
    },
    {
      shape: 'a table in columns of blanks',
      needles: ['15.0625', '15.1625'],
      text: `   stay  sofa   lactate  x\n0  7  15.0625  1.2\n1  8  15.1625  1.3\n2  9  15.2625  1.4`,
    },
    {
      shape: 'records of JSON',
      needles: ['16.0625', '16.1625'],
      text: `[{"sofa": 16.0625, "age": 61}, {"sofa": 16.1625, "age": 62}, {"sofa": 16.2625, "age": 63}]`,
    },
    {
      shape: 'a long list of values',
      needles: ['17.0625'],
      text: `The scores: ${Array.from({ length: 40 }, (_, n) => `17.${String(625 + n).padStart(4, '0')}`).join(', ')}`,
    },
    {
      shape: 'CSV inside a string of JSON',
      needles: ['18.0625', '18.1625'],
      text: JSON.stringify({ csv: 'a,b\n18.0625,1\n18.1625,2\n18.2625,3' }),
    },
  ];
}

const commas = (value: string): string => Number(value).toLocaleString('en-US');
const spaced = (value: string, mark: string): string => commas(value).replaceAll(',', mark);
const wide = (value: string): string =>
  value.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
const scientific = (value: string): string => `${value[0]}.${value.slice(1)}e7`;
const hexadecimal = (value: string): string => `0x${Number(value).toString(16)}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const zipped = (value: string): string =>
  gzipSync(Buffer.from(`stay ${value} and some more text`), { level: 9 }).toString('base64');
const hexText = (text: string): string => Buffer.from(text).toString('hex');
const percent = (value: string): string =>
  [...value].map((digit) => `%${digit.charCodeAt(0).toString(16)}`).join('');
const escapes = (value: string): string =>
  [...value].map((digit) => `\\u00${digit.charCodeAt(0).toString(16)}`).join('');
const entities = (value: string): string => [...value].map((digit) => `&#${digit.charCodeAt(0)};`).join('');
const characters = (value: string): string =>
  [...value].map((digit) => `chr(${digit.charCodeAt(0)})`).join(' || ');
const american = (value: string): string => `${value.slice(5, 7)}/${value.slice(8, 10)}/${value.slice(0, 4)}`;
const named = (value: string): string =>
  `${monthNames[Number(value.slice(5, 7)) - 1]} ${Number(value.slice(8, 10))}, ${value.slice(0, 4)}`;
