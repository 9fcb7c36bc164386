import { z } from 'zod';
import { M4BenchError } from '../support/errors.js';

/** Front matter of a skill, in the form all four agent CLIs read (Agent Skills). */
export const skillFrontMatter = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits, joined by single hyphens')
    .max(64, 'must not be longer than 64 characters'),
  description: z.string().min(1, 'must not be empty').max(1024, 'must not be longer than 1,024 characters'),
  license: z.string().min(1, 'must not be empty'),
  compatibility: z.string().min(1, 'must not be empty').max(500, 'must not be longer than 500 characters'),
  metadata: z.strictObject({
    version: z.string().regex(/^\d+\.\d+(\.\d+)?$/, 'must be a version such as "1.0"'),
    tier: z.enum(['validated', 'expert', 'community'], 'must be "validated", "expert" or "community"'),
    category: z.enum(['clinical', 'system'], 'must be "clinical" or "system"'),
    sources: z.string().min(1, 'must not be empty'),
  }),
});

export type SkillFrontMatter = z.infer<typeof skillFrontMatter>;

type Fields = Record<string, string | Record<string, string>>;

function invalid(file: string, line: number, message: string): M4BenchError {
  return new M4BenchError(
    'SKILL_INVALID',
    `${file}:${line}: ${message}.`,
    'Write front matter between two "---" lines: name, description, license, compatibility and an indented metadata map.',
  );
}

function scalar(text: string, file: string, line: number): string {
  if (text.startsWith('"')) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'string') return value;
    } catch {
      // reported below
    }
    throw invalid(file, line, 'the quoted value is not closed or holds an unknown escape');
  }
  if (/^[&*!|>%@`'[\]{},?#-]/.test(text) || text.includes(': ') || text.includes(' #')) {
    throw invalid(file, line, 'the value needs double quotes');
  }
  return text;
}

/**
 * Reads the front matter of a `SKILL.md`: the small part of YAML that every agent CLI understands alike (one
 * `key: value` per line, double quotes where needed, one level of indentation for a map of texts).
 *
 * Returns the unchecked fields and the body. Throws `SKILL_INVALID` with file and line.
 */
export function splitFrontMatter(
  text: string,
  file: string,
): { readonly fields: Fields; readonly body: string } {
  const lines = text.split('\n');
  if (lines[0] !== '---') throw invalid(file, 1, 'the first line must be "---"');
  const end = lines.indexOf('---', 1);
  if (end < 0) throw invalid(file, lines.length, 'the front matter has no closing "---" line');
  const fields: Fields = {};
  let map: Record<string, string> | undefined;
  for (const [index, content] of lines.slice(1, end).entries()) {
    const line = index + 2;
    if (content.trim() === '') continue;
    const match = /^( {2})?([A-Za-z_-]+):(?: (.*))?$/.exec(content.trimEnd());
    if (match === null) throw invalid(file, line, 'not a "key: value" line');
    const [, indent, key = '', raw] = match;
    const target: Record<string, unknown> | undefined = indent === undefined ? fields : map;
    if (target === undefined) throw invalid(file, line, 'an indented line needs a map above it');
    if (key in target) throw invalid(file, line, `the key ${key} occurs twice`);
    if (indent === undefined) map = undefined;
    if (raw === undefined || raw === '') {
      if (indent !== undefined) throw invalid(file, line, `the key ${key} has no value`);
      map = {};
      target[key] = map;
    } else {
      target[key] = scalar(raw, file, line);
    }
  }
  return { fields, body: lines.slice(end + 1).join('\n') };
}
