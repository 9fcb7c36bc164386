// Output modes. A writer gets rows of text cells (null for NULL) one by one and writes as it goes; aligned modes look
// at a bounded number of rows first.

const ALIGN_ROWS = 10_000;
const MAX_CELL = 120;

const NUMERIC = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|REAL|DECIMAL.*|BIGNUM)$/;

/** Whether a type is shown right-aligned. */
export const isNumeric = (type) => NUMERIC.test(type);

/** Whether cells must come as JSON texts. */
export const wantsJson = (mode) => mode === 'json' || mode === 'jsonlines';

/** Writer for one result. `write` takes text and may return a promise; `settings` as of the shell. */
export function resultWriter(settings, columns, write) {
  switch (settings.mode) {
    case 'csv':
      return separatedWriter(settings, columns, write, csvCell);
    case 'tabs':
      return separatedWriter({ ...settings, separator: '\t' }, columns, write, tabCell);
    case 'list':
      return separatedWriter(settings, columns, write, (text) => text);
    case 'line':
      return lineWriter(settings, columns, write);
    case 'json':
      return jsonWriter(columns, write, { first: '[', between: ',\n', last: ']\n', empty: '[]\n' });
    case 'jsonlines':
      return jsonWriter(columns, write, { first: '', between: '\n', last: '\n', empty: '' });
    case 'duckbox':
      return duckboxWriter(settings, columns, write);
    default:
      return alignedWriter(settings, columns, write);
  }
}

/** A field of RFC 4180: quoted when it holds a quote, the separator or a line break; also when blank at an end. */
export function csvCell(text, separator) {
  const needsQuotes =
    text.includes('"') || text.includes(separator) || /[\r\n]/.test(text) || text !== text.trim();
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

const TAB_ESCAPES = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };
const tabCell = (text) => text.replace(/[\t\n\r\\]/g, (character) => TAB_ESCAPES[character]);

function separatedWriter(settings, columns, write, encode) {
  const separator = settings.separator ?? (settings.mode === 'csv' ? ',' : '|');
  const newline = settings.newline ?? '\n';
  const nullText = settings.nullText ?? '';
  const line = (cells) => cells.join(separator) + newline;
  return {
    begin: () =>
      settings.hasHeader === false
        ? undefined
        : write(line(columns.map(({ name }) => encode(name, separator)))),
    // NULL is an unquoted empty field, the empty string a quoted one: a reader can tell them apart.
    rows: (rows) =>
      write(
        rows
          .map((row) =>
            line(
              row.map((cell) =>
                cell === null
                  ? nullText
                  : cell === '' && settings.mode === 'csv'
                    ? '""'
                    : encode(cell, separator),
              ),
            ),
          )
          .join(''),
      ),
    end: () => undefined,
  };
}

function lineWriter(settings, columns, write) {
  const width = Math.max(...columns.map(({ name }) => widthOf(name)));
  const nullText = settings.nullText ?? '';
  let count = 0;
  return {
    begin: () => undefined,
    rows: (rows) =>
      write(
        rows
          .map((row) => {
            count += 1;
            const lines = row.map(
              (cell, at) => `${padStart(columns[at].name, width)} = ${cell ?? nullText}\n`,
            );
            return (count > 1 ? '\n' : '') + lines.join('');
          })
          .join(''),
      ),
    end: () => undefined,
  };
}

function jsonWriter(columns, write, { first, between, last, empty }) {
  const names = columns.map(({ name }) => JSON.stringify(name));
  let count = 0;
  return {
    begin: () => undefined,
    rows: (rows) =>
      write(
        rows
          .map((row) => {
            count += 1;
            const members = row.map((cell, at) => `${names[at]}:${cell ?? 'null'}`);
            return `${count === 1 ? first : between}{${members.join(',')}}`;
          })
          .join(''),
      ),
    end: () => write(count === 0 ? empty : last),
  };
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

/** Columns that a text takes on screen. */
export function widthOf(text) {
  let width = 0;
  for (const character of text) {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

const padEnd = (text, width) => text + ' '.repeat(Math.max(0, width - widthOf(text)));
const padStart = (text, width) => ' '.repeat(Math.max(0, width - widthOf(text))) + text;
const centred = (text, width) => {
  const room = Math.max(0, width - widthOf(text));
  return ' '.repeat(Math.floor(room / 2)) + text + ' '.repeat(Math.ceil(room / 2));
};

/** One line of a cell, not too long. */
function shortCell(text, limit = MAX_CELL) {
  const flat = text
    .replaceAll('\\', '\\')
    .replace(/\r?\n/g, '\\n')
    .replace(/\p{Cc}/gu, ' ');
  return flat.length <= limit ? flat : `${flat.slice(0, limit - 1)}…`;
}

const FRAMES = {
  box: { top: '┌─┬┐', middle: '├─┼┤', bottom: '└─┴┘', bar: '│' },
  table: { top: '+-++', middle: '+-++', bottom: '+-++', bar: '|' },
  markdown: { middle: '|-||', bar: '|' },
};

const rule = ([left, fill, cross, right], widths) =>
  `${left}${widths.map((width) => fill.repeat(width + 2)).join(cross)}${right}\n`;

/** `box`, `table`, `markdown`, `column`: all rows, aligned to the widest of the first ones. */
function alignedWriter(settings, columns, write) {
  const nullText = settings.nullText ?? '';
  const frame = FRAMES[settings.mode];
  const limit =
    settings.mode === 'markdown' || settings.mode === 'table' ? Number.POSITIVE_INFINITY : MAX_CELL;
  const cellText = (cell) => {
    const text = shortCell(cell ?? nullText, limit);
    return settings.mode === 'markdown' ? text.replaceAll('|', '\\|') : text;
  };
  let held = [];
  let widths;
  const line = (cells) =>
    frame === undefined
      ? `${cells.join('  ').trimEnd()}\n`
      : `${frame.bar} ${cells.join(` ${frame.bar} `)} ${frame.bar}\n`;
  const rowLine = (row) =>
    line(row.map((text, at) => (columns[at].isNumeric ? padStart : padEnd)(text, widths[at])));
  const open = () => {
    widths = columns.map(({ name }, at) =>
      held.reduce((width, row) => Math.max(width, widthOf(row[at])), Math.max(3, widthOf(name))),
    );
    let text = frame?.top === undefined ? '' : rule(frame.top, widths);
    if (settings.hasHeader !== false) {
      text += line(columns.map(({ name }, at) => padEnd(name, widths[at])));
      text += frame === undefined ? line(widths.map((width) => '-'.repeat(width))) : header(frame, widths);
    }
    text += held.map(rowLine).join('');
    held = [];
    return text;
  };
  const header = ({ middle }, at) =>
    settings.mode === 'markdown'
      ? `|${columns.map(({ isNumeric: right }, index) => (right ? `${'-'.repeat(at[index] + 1)}:` : '-'.repeat(at[index] + 2))).join('|')}|\n`
      : rule(middle, at);
  return {
    begin: () => undefined,
    rows(rows) {
      const texts = rows.map((row) => row.map(cellText));
      if (widths !== undefined) return write(texts.map(rowLine).join(''));
      held.push(...texts);
      return held.length >= ALIGN_ROWS ? write(open()) : undefined;
    },
    end() {
      const text = widths === undefined ? open() : '';
      return write(text + (frame?.bottom === undefined ? '' : rule(frame.bottom, widths)));
    },
  };
}

/** The default: first and last rows in a box with column types, and a count. */
function duckboxWriter(settings, columns, write) {
  const nullText = settings.nullText ?? 'NULL';
  const maxRows = settings.maxRows ?? 40;
  const headRows = Math.ceil(maxRows / 2);
  const head = [];
  let tail = [];
  let count = 0;
  const types = columns.map(({ type }) => shownType(type));

  const render = () => {
    const isCut = count > maxRows;
    const shown = isCut
      ? [...head.slice(0, headRows), null, ...tail.slice(-(maxRows - headRows))]
      : [...head, ...tail];
    const widths = columns.map(({ name }, at) =>
      shown.reduce(
        (width, row) => Math.max(width, row === null ? 1 : widthOf(row[at])),
        Math.max(widthOf(name), widthOf(types[at])),
      ),
    );
    const line = (cells) => `│ ${cells.join(' │ ')} │\n`;
    let text = rule(FRAMES.box.top, widths);
    text += line(columns.map(({ name }, at) => centred(name, widths[at])));
    text += line(types.map((type, at) => centred(type, widths[at])));
    text += rule(FRAMES.box.middle, widths);
    for (const row of shown) {
      if (row === null)
        for (let dot = 0; dot < 3; dot += 1) text += line(widths.map((width) => centred('·', width)));
      else text += line(row.map((cell, at) => (columns[at].isNumeric ? padStart : padEnd)(cell, widths[at])));
    }
    text += rule(FRAMES.box.bottom, widths);
    if (count > 10 || isCut || count === 0) {
      text += `  ${count} row${count === 1 ? '' : 's'}${isCut ? ` (${maxRows} shown)` : ''}  ${columns.length} column${columns.length === 1 ? '' : 's'}\n`;
    }
    return text;
  };
  return {
    begin: () => undefined,
    rows(rows) {
      for (const row of rows) {
        count += 1;
        const texts = row.map((cell) => shortCell(cell ?? nullText));
        if (head.length < headRows) head.push(texts);
        else tail.push(texts);
      }
      if (tail.length > maxRows * 4) tail = tail.slice(-maxRows);
    },
    end: () => write(render()),
  };
}

const TYPE_NAMES = {
  INTEGER: 'int32',
  BIGINT: 'int64',
  SMALLINT: 'int16',
  TINYINT: 'int8',
  HUGEINT: 'int128',
};
const shownType = (type) => TYPE_NAMES[type] ?? shortCell(type.toLowerCase(), 40);
