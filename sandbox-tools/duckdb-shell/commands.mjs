// Dot commands of the `duckdb` shell.
import { MODES, UsageError, unescaped, wordsOf } from './options.mjs';

const HELP = `.databases              attached databases
.echo on|off            print statements before they run
.exit, .quit            leave
.headers on|off         column names
.help                   this list
.maxrows N              rows shown in duckbox mode
.mode MODE              ${MODES.join(', ')}
.nullvalue TEXT         what NULL is shown as
.once FILE              next result into FILE
.open FILE              another database
.output [FILE]          results into FILE, or back to standard output
.print TEXT             print TEXT
.read FILE              run FILE
.schema [PATTERN]       CREATE statements
.separator TEXT [ROW]   between columns (and rows) of csv and list
.show                   current settings
.tables [PATTERN]       names of tables and views
.timer on|off           print how long statements take
`;

const isOn = (word) => {
  if (word === undefined || /^(on|yes|true|1)$/i.test(word)) return true;
  if (/^(off|no|false|0)$/i.test(word)) return false;
  throw new UsageError(`expected on or off, got ${word}`);
};

const needed = (word, usage) => {
  if (word === undefined) throw new UsageError(`usage: ${usage}`);
  return word;
};

const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

const TABLES = (pattern) => `select schema_name as "schema", name from (
  select schema_name, table_name as name from duckdb_tables() where not internal
  union all
  select schema_name, view_name from duckdb_views() where not internal
) where name like ${quoted(pattern)} or schema_name || '.' || name like ${quoted(pattern)} order by all`;

const SCHEMA = (pattern) => `select sql from (
  select schema_name, table_name as name, sql from duckdb_tables() where not internal
  union all
  select schema_name, view_name, sql from duckdb_views() where not internal
) where name like ${quoted(pattern)} or schema_name || '.' || name like ${quoted(pattern)} order by schema_name, name`;

/** The commands by name; each gets the shell and the words after the name. */
const COMMANDS = {
  help: (shell) => shell.print(HELP),
  quit: (shell) => shell.leave(),
  exit: (shell, [code]) => shell.leave(code === undefined ? undefined : Number(code)),
  read: (shell, [file]) => shell.runFile(needed(file, '.read FILE')),
  print: (shell, words) => shell.print(`${words.join(' ')}\n`),
  mode: (shell, [mode]) => {
    if (!MODES.includes(needed(mode, '.mode MODE')))
      throw new UsageError(`mode should be one of: ${MODES.join(' ')}`);
    shell.settings.mode = mode;
    // A separator belongs to the mode it was set for.
    delete shell.settings.separator;
  },
  headers: (shell, [word]) => {
    shell.settings.hasHeader = isOn(word);
  },
  separator: (shell, [column, row]) => {
    shell.settings.separator = unescaped(needed(column, '.separator COLUMN [ROW]'));
    if (row !== undefined) shell.settings.newline = unescaped(row);
  },
  nullvalue: (shell, [text]) => {
    shell.settings.nullText = needed(text, '.nullvalue TEXT');
  },
  maxrows: (shell, [count]) => {
    const rows = Number(needed(count, '.maxrows N'));
    if (!Number.isInteger(rows) || rows < 0) throw new UsageError('usage: .maxrows N');
    shell.settings.maxRows = rows === 0 ? Number.MAX_SAFE_INTEGER : rows;
  },
  timer: (shell, [word]) => {
    shell.settings.hasTimer = isOn(word);
  },
  echo: (shell, [word]) => {
    shell.settings.isEchoing = isOn(word);
  },
  bail: (shell, [word]) => {
    shell.settings.isBailing = isOn(word);
  },
  output: (shell, [file]) => shell.sendOutput(file, false),
  once: (shell, [file]) => shell.sendOutput(needed(file, '.once FILE'), true),
  open: (shell, words) => shell.open(words.find((word) => !word.startsWith('-')) ?? ':memory:'),
  tables: async (shell, [pattern]) => {
    const rows = await shell.query(TABLES(pattern ?? '%'));
    await shell.print(
      rows.map(([schema, name]) => `${schema === 'main' ? '' : `${schema}.`}${name}\n`).join(''),
    );
  },
  schema: async (shell, [pattern]) => {
    const rows = await shell.query(SCHEMA(pattern ?? '%'));
    await shell.print(rows.map(([sql]) => `${sql}\n`).join(''));
  },
  databases: async (shell) => {
    const rows = await shell.query(
      `select database_name, coalesce(path, '') from duckdb_databases() where not internal order by 1`,
    );
    await shell.print(rows.map(([name, path]) => `${name}: ${path}\n`).join(''));
  },
  show: (shell) => {
    const { mode, hasHeader, nullText, separator, maxRows, hasTimer } = shell.settings;
    const shown = {
      headers: hasHeader === false ? 'off' : 'on',
      mode,
      nullvalue: JSON.stringify(nullText ?? ''),
      separator: JSON.stringify(separator ?? (mode === 'csv' ? ',' : '|')),
      maxrows: maxRows ?? 40,
      timer: hasTimer ? 'on' : 'off',
      filename: shell.file,
    };
    return shell.print(
      Object.entries(shown)
        .map(([name, value]) => `${name.padStart(12)}: ${value}\n`)
        .join(''),
    );
  },
};

const OTHER_NAMES = { header: 'headers', import: undefined, q: 'quit', null: 'nullvalue' };

/** Runs one dot command; an unambiguous beginning of a name will do. */
export async function runDotCommand(shell, line) {
  const [name, ...words] = wordsOf(line.slice(1));
  if (name === undefined) throw new UsageError('a dot command needs a name; .help lists them');
  const known = Object.keys(COMMANDS);
  const meant =
    OTHER_NAMES[name] ??
    (known.includes(name) ? name : onlyOne(known.filter((other) => other.startsWith(name))));
  if (meant === undefined) throw new UsageError(`unknown command: ".${name}"; .help lists them`);
  await COMMANDS[meant](shell, words);
}

const onlyOne = (names) => (names.length === 1 ? names[0] : undefined);
