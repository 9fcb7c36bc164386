import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { suggestionFor } from '../support/closest-name.js';
import { M4BenchError, reasonOf } from '../support/errors.js';
import { sha256 } from '../support/hashing.js';
import { traceFormatSchema } from './transcript.js';

const effortSchema = z.enum(['minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
const words = z.array(z.string().min(1)).min(1);

/** What may stand in braces in the command line and the environment. */
export const PLACEHOLDERS = ['instruction', 'model', 'effort', 'gateway', 'key', 'work'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

const fileSchema = z.strictObject({
  /** Appears in results; a name of its own. */
  name: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'is no name like "my-agent"'),
  /** Program and arguments inside the sandbox. */
  command: words,
  /** Run on the host for the version, such as `["my-agent", "--version"]`. */
  version: words.optional(),
  environment: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
  /** Host files and folders that the program needs, by the absolute place where they appear inside. */
  files: z.record(z.string().startsWith('/'), z.string().min(1)).default({}),
  skill_folder: z
    .string()
    .regex(/^(?!.*\.\.)[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/, 'is no folder like ".agents/skills"')
    .default('.skills'),
  /** How its standard output is read. */
  trace: traceFormatSchema.default('text'),
  /** Route of the gateway that `{gateway}` leads to, unless --provider names another; none for no model at all. */
  provider: z.string().optional(),
  /** Levels of effort that it takes. */
  efforts: z.array(effortSchema).default([]),
  /** The instruction comes on standard input; false where the command line holds it. */
  stdin: z.boolean().default(true),
});

/** An agent as a file describes it, checked. */
export type CommandFile = z.infer<typeof fileSchema> & {
  /** First characters of the hash of the file: another description is another version. */
  readonly fingerprint: string;
};

/** Reads the description of an agent. Throws `AGENT_FILE_INVALID` that names the file, the field and the remedy. */
export function readCommandFile(path: string, reservedNames: readonly string[]): CommandFile {
  const text = textOf(path);
  const checked = fileSchema.safeParse(tableIn(path, text));
  if (!checked.success) throw invalid(path, ...problemOf(checked.error));
  const file = checked.data;
  if (reservedNames.includes(file.name))
    throw invalid(path, `name: "${file.name}" is an agent already`, 'Choose another name.');
  for (const [place, value] of [
    ...file.command.map((word) => ['command', word] as const),
    ...Object.entries(file.environment).map(([name, word]) => [`environment.${name}`, word] as const),
  ])
    checkPlaceholders(path, place, value);
  // Absolute: sandboxes are started from other folders than the one that `path` is relative to.
  const folder = resolve(dirname(path));
  const files = Object.fromEntries(
    Object.entries(file.files).map(([target, source]) => [target, resolve(folder, source)]),
  );
  return { ...file, files, fingerprint: sha256(text).slice(0, 12) };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    throw invalid(path, `cannot be read: ${reasonOf(thrown)}`, 'Name an existing TOML file.');
  }
}

function tableIn(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (thrown) {
    const place = thrown instanceof TomlError ? ` in line ${thrown.line}` : '';
    throw invalid(path, `is not valid TOML${place}`, 'Fix the syntax at that place.');
  }
}

/** What is wrong and what to do, from the first problem that the schema found. */
function problemOf(error: z.ZodError): readonly [string, string] {
  const issue = error.issues[0]!;
  const known = Object.keys(fileSchema.shape);
  if (issue.code === 'unrecognized_keys') {
    const unknown = issue.keys[0]!;
    return [
      `field ${unknown} is not known`,
      `${suggestionFor(unknown, known)}Known fields: ${known.join(', ')}.`,
    ];
  }
  return [`field ${issue.path.join('.')}: ${issue.message}`, 'Correct that field.'];
}

const BRACED = /\{([^{}]*)\}/g;

function checkPlaceholders(path: string, place: string, value: string): void {
  for (const [, name] of value.matchAll(BRACED)) {
    if (/^[a-z_]+$/.test(name!) && !PLACEHOLDERS.some((known) => known === name)) {
      const known = PLACEHOLDERS.map((one) => `{${one}}`).join(', ');
      throw invalid(
        path,
        `${place}: {${name}} stands for nothing`,
        `${suggestionFor(name!, PLACEHOLDERS)}Known: ${known}.`,
      );
    }
  }
}

/**
 * A text with its placeholders filled in; undefined when one of them has no value, such as `{model}` when none is
 * asked for. Other braces stay as they are, as in JSON.
 */
export function filled(
  text: string,
  values: Readonly<Record<Placeholder, string | undefined>>,
): string | undefined {
  let isComplete = true;
  const result = text.replace(BRACED, (whole, name: string) => {
    const placeholder = PLACEHOLDERS.find((known) => known === name);
    if (placeholder === undefined) return whole;
    const value = values[placeholder];
    if (value === undefined) isComplete = false;
    return value ?? '';
  });
  return isComplete ? result : undefined;
}

function invalid(path: string, what: string, remedy: string): M4BenchError {
  return new M4BenchError('AGENT_FILE_INVALID', `The agent file ${path}: ${what}.`, remedy);
}
