// Command line of the `duckdb` shell. One and two dashes mean the same, as in the original.

/** A wrong use of the shell; shown without a stack. */
export class UsageError extends Error {}

export const MODES = [
  'box',
  'column',
  'csv',
  'duckbox',
  'json',
  'jsonlines',
  'line',
  'list',
  'markdown',
  'table',
  'tabs',
];

export const HELP = `usage: duckdb [OPTIONS] [FILE] [SQL]
FILE is a DuckDB database, created if it is not there; ":memory:" or none for one in memory.
  -c COMMAND        run COMMAND (SQL or a dot command) and exit; may be repeated
  -cmd COMMAND      run COMMAND before reading standard input
  -f FILE           read and run FILE and exit
  -init FILE        read and run FILE first
  -readonly         open the database read-only
  -${MODES.join(', -')}
                    output mode (default duckbox)
  -header, -noheader  column names on or off
  -separator TEXT   between the columns of csv and list
  -nullvalue TEXT   what NULL is shown as
  -newline TEXT     after each row of csv and list
  -bail             stop after an error
  -echo             print each statement before it runs
  -version          version of the engine
Dot commands: .help lists them. This is a small shell over the DuckDB engine; it installs no extensions.`;

/** Options that change nothing here. */
const IGNORED = new Set(['batch', 'interactive', 'no-stdin', 'no-init', 'unsigned', 'safe']);

/** Reads the arguments. */
export function readOptions(words) {
  const options = {
    file: ':memory:',
    commands: [],
    before: [],
    init: undefined,
    isReadOnly: false,
    isBailing: false,
    isEchoing: false,
    settings: {},
    asks: undefined,
  };
  const plain = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (!word.startsWith('-') || word === '-') {
      plain.push(word);
      continue;
    }
    const name = word.replace(/^--?/, '');
    const value = () => {
      at += 1;
      if (at >= words.length) throw new UsageError(`missing argument to ${word}`);
      return words[at];
    };
    readOption(options, name, word, value);
  }
  if (plain.length > 0) options.file = plain[0];
  options.commands.push(...plain.slice(1).map((text) => ({ text })));
  return options;
}

function readOption(options, name, word, value) {
  if (MODES.includes(name)) options.settings.mode = name;
  else if (name === 'c' || name === 's') options.commands.push({ text: value() });
  else if (name === 'f' || name === 'file') options.commands.push({ file: value() });
  else if (name === 'cmd') options.before.push({ text: value() });
  else if (name === 'init') options.init = value();
  else if (name === 'readonly') options.isReadOnly = true;
  else if (name === 'bail') options.isBailing = true;
  else if (name === 'echo') options.isEchoing = true;
  else if (name === 'header') options.settings.hasHeader = true;
  else if (name === 'noheader') options.settings.hasHeader = false;
  else if (name === 'separator') options.settings.separator = unescaped(value());
  else if (name === 'nullvalue') options.settings.nullText = value();
  else if (name === 'newline') options.settings.newline = unescaped(value());
  else if (name === 'version') options.asks = 'version';
  else if (name === 'help' || name === 'h') options.asks = 'help';
  else if (!IGNORED.has(name))
    throw new UsageError(`unknown option: ${word}\nUse -help for a list of options.`);
}

const ESCAPES = { n: '\n', r: '\r', t: '\t', '\\': '\\', '"': '"', "'": "'" };

/** Text with \\n, \\t and the like replaced. */
export function unescaped(text) {
  return text.replace(/\\(.)/g, (whole, character) => ESCAPES[character] ?? whole);
}

/** Words of a dot command: blanks part them, quotes keep them together, double quotes allow escapes. */
export function wordsOf(line) {
  const words = [];
  for (const match of line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g))
    words.push(match[1] !== undefined ? unescaped(match[1]) : (match[2] ?? match[3]));
  return words;
}
