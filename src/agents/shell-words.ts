/**
 * The script of a command line that only starts a shell with one (`/bin/bash -c 'ls -l'`), as some CLIs print it;
 * any other command line as it is.
 */
export function withoutShell(commandLine: string): string {
  const words = shellWords(commandLine);
  const [shell, option, script] = words ?? [];
  const isShell =
    words?.length === 3 && /^(\/(usr\/)?bin\/)?(ba|z)?sh$/.test(shell!) && /^-l?c$/.test(option!);
  return isShell ? script! : commandLine;
}

/** The words of a POSIX shell command line without expansions, or undefined when a quotation does not end. */
function shellWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) return undefined;
      word = (word ?? '') + text.slice(at + 1, end);
      at = end;
    } else if (character === '"') {
      const quoted = doubleQuoted(text, at + 1);
      if (quoted === undefined) return undefined;
      word = (word ?? '') + quoted.text;
      at = quoted.end;
    } else if (character === '\\') {
      at += 1;
      word = (word ?? '') + (text[at] ?? '');
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** Text up to the closing double quote; a backslash keeps its meaning before the four characters only. */
function doubleQuoted(
  text: string,
  start: number,
): { readonly text: string; readonly end: number } | undefined {
  let inner = '';
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '"') return { text: inner, end: at };
    const next = text[at + 1];
    if (character === '\\' && next !== undefined && '"\\$`'.includes(next)) {
      inner += next;
      at += 1;
    } else inner += character;
  }
  return undefined;
}
