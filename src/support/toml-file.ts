import { readFile } from 'node:fs/promises';
import { parse, TomlError } from 'smol-toml';
import type { z } from 'zod';
import { suggestionFor } from './closest-name.js';
import { M4BenchError, messageOf, reasonOf } from './errors.js';

/** Text of a content file. Throws `<code>` when it is missing or unreadable. */
export async function readContentFile(file: string, code: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    throw new M4BenchError(
      code,
      `Cannot read ${what} ${file}: ${reasonOf(thrown)}.`,
      'Add the file, or correct the name that points to it.',
      { cause: thrown },
    );
  }
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('');
}

/**
 * Reads one TOML file and checks it against a schema.
 *
 * Throws an error with the given code that names the file, the line (syntax) or the field (content), and the
 * nearest known field for a misspelled one.
 */
export async function readTomlFile<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  code: string,
  what: string,
): Promise<z.infer<Schema>> {
  const text = await readContentFile(file, code, what);
  let table: unknown;
  try {
    table = parse(text);
  } catch (thrown) {
    const place = thrown instanceof TomlError ? `:${thrown.line}:${thrown.column}` : '';
    const reason = messageOf(thrown)
      .replace(/^Invalid TOML document: /, '')
      .split(/\s{2,}|\d+:\s/)[0];
    throw new M4BenchError(
      code,
      `${file}${place}: not valid TOML: ${reason?.trim()}.`,
      'Fix the syntax at that place.',
      { cause: thrown },
    );
  }
  const checked = schema.safeParse(table);
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  if (issue === undefined) throw new M4BenchError(code, `${file}: not a valid ${what}.`, 'Correct the file.');
  if (issue.code === 'unrecognized_keys') {
    const unknown = issue.keys[0] ?? '';
    const known = knownFields(schema, issue.path);
    throw new M4BenchError(
      code,
      `${file}: field ${fieldOf([...issue.path, unknown])} is not known here.`,
      `${suggestionFor(unknown, known)}${known.length > 0 ? `Known fields are ${known.join(', ')}.` : 'Remove it.'}`,
    );
  }
  throw new M4BenchError(
    code,
    `${file}: field ${fieldOf(issue.path) || '(whole file)'}: ${issue.message}.`,
    `Correct that field of the ${what}.`,
  );
}

/** Field names of the object at a path of a schema, for suggestions; empty when the path leads elsewhere. */
function knownFields(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let inner: unknown = schema;
  for (const part of path) {
    inner = shapeOf(inner)?.[String(part)];
    if (inner === undefined) return [];
  }
  return Object.keys(shapeOf(inner) ?? {});
}

function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  let current = schema;
  while (current !== null && typeof current === 'object') {
    if ('shape' in current && current.shape !== null && typeof current.shape === 'object') {
      return current.shape as Record<string, unknown>;
    }
    if (!('unwrap' in current) || typeof current.unwrap !== 'function') return undefined;
    current = (current.unwrap as () => unknown)();
  }
  return undefined;
}
