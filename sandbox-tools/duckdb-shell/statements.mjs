// Cuts shell input into SQL statements and dot commands. Knows just enough of SQL's lexical rules to tell a
// semicolon that ends a statement from one inside a string, a quoted name or a comment.

/** A reader that is fed lines and yields `{ sql }` and `{ dot }` items; `finish` yields what is left. */
export function statementReader() {
  let text = '';
  // Position up to which `text` was scanned, and what encloses it.
  let at = 0;
  let inside = { kind: 'sql' };

  const take = (end) => {
    const sql = text.slice(0, end);
    text = text.slice(end);
    at = 0;
    inside = { kind: 'sql' };
    return sql;
  };

  function* scan() {
    while (at < text.length) {
      if (inside.kind !== 'sql') {
        const closed = closing(text, at, inside);
        if (closed === undefined) return;
        at = closed.at;
        if (closed.isClosed) inside = { kind: 'sql' };
        continue;
      }
      if (text[at] === ';') {
        const sql = take(at + 1);
        if (!isBlank(sql.slice(0, -1))) yield { sql };
        continue;
      }
      const opened = opening(text, at);
      if (opened === undefined) at += 1;
      else {
        at = opened.at;
        inside = opened.inside;
      }
    }
  }

  return {
    *feed(line) {
      if (inside.kind === 'sql' && isBlank(text) && line.startsWith('.')) {
        text = '';
        at = 0;
        yield { dot: line };
        return;
      }
      text += `${line}\n`;
      yield* scan();
    },
    *finish() {
      const sql = text;
      text = '';
      if (!isBlank(sql)) yield { sql };
    },
  };
}

/** All statements of one argument or file. */
export function* statementsOf(text) {
  const reader = statementReader();
  for (const line of text.split(/\r?\n/)) yield* reader.feed(line);
  yield* reader.finish();
}

/** Whether there is nothing but white space and comments. */
export function isBlank(text) {
  let at = 0;
  while (at < text.length) {
    if (/\s|;/.test(text[at])) at += 1;
    else if (text.startsWith('--', at)) {
      const end = text.indexOf('\n', at);
      if (end === -1) return true;
      at = end + 1;
    } else if (text.startsWith('/*', at)) {
      const closed = closing(text, at + 2, { kind: 'block', depth: 1 });
      if (closed === undefined || !closed.isClosed) return false;
      at = closed.at;
    } else return false;
  }
  return true;
}

/** What begins at a position: a string, a quoted name, a comment, a dollar-quoted string. */
function opening(text, at) {
  const character = text[at];
  if (character === "'") {
    const before = text[at - 1];
    const hasEscapes = (before === 'e' || before === 'E') && !/[A-Za-z0-9_]/.test(text[at - 2] ?? '');
    return { at: at + 1, inside: { kind: 'quoted', quote: "'", hasEscapes } };
  }
  if (character === '"') return { at: at + 1, inside: { kind: 'quoted', quote: '"', hasEscapes: false } };
  if (text.startsWith('--', at)) return { at: at + 2, inside: { kind: 'line' } };
  if (text.startsWith('/*', at)) return { at: at + 2, inside: { kind: 'block', depth: 1 } };
  if (character === '$' && !/[A-Za-z0-9_]/.test(text[at - 1] ?? '')) {
    const tag = /^\$([A-Za-z_][A-Za-z0-9_]*)?\$/.exec(text.slice(at, at + 80))?.[0];
    if (tag !== undefined) return { at: at + tag.length, inside: { kind: 'dollar', tag } };
  }
  return undefined;
}

/** Where the enclosing thing ends, or how far it was followed; undefined when the text ends first. */
function closing(text, from, inside) {
  if (inside.kind === 'line') {
    const end = text.indexOf('\n', from);
    return end === -1 ? undefined : { at: end + 1, isClosed: true };
  }
  if (inside.kind === 'dollar') {
    const end = text.indexOf(inside.tag, from);
    return end === -1 ? undefined : { at: end + inside.tag.length, isClosed: true };
  }
  let at = from;
  if (inside.kind === 'block') {
    let depth = inside.depth;
    for (; at < text.length; at += 1) {
      if (text.startsWith('/*', at)) {
        depth += 1;
        at += 1;
      } else if (text.startsWith('*/', at)) {
        depth -= 1;
        at += 1;
        if (depth === 0) return { at: at + 1, isClosed: true };
      }
    }
    return undefined;
  }
  for (; at < text.length; at += 1) {
    if (inside.hasEscapes && text[at] === '\\') at += 1;
    else if (text[at] === inside.quote) {
      if (text[at + 1] === inside.quote) at += 1;
      else return { at: at + 1, isClosed: true };
    }
  }
  return undefined;
}
