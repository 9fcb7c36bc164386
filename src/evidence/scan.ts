import { join } from 'node:path';
import { recordText } from '../audit/record-files.js';
import type { PackageEntry } from './package-manifest.js';
import { type Json, walkRecord } from './record-sanitiser.js';
import { readablePart } from './stage.js';
import type { Register } from './text-context.js';
import type { TextSanitiser } from './text-sanitiser.js';

/** Something in a package that must not be there. The text itself is not told. */
export interface Leak {
  readonly path: string;
  readonly rule: string;
}

/** Files that are made of the records and of nothing else, and are compared with them. */
const DERIVED = /^tables\//;

/**
 * Looks through the files of a package, their names included, with the rules that a package must not offend. With a
 * sanitiser that gathers, nothing is found and everything that must be looked up is asked for.
 */
export async function scanPackage(
  folder: string,
  entries: readonly PackageEntry[],
  sanitiser: TextSanitiser,
  runIds: ReadonlySet<string>,
): Promise<readonly Leak[]> {
  const leaks: Leak[] = [];
  for (const { path } of entries) {
    const add = (rules: readonly string[]): void => {
      for (const rule of new Set(rules)) leaks.push({ path, rule });
    };
    for (const part of path.split('/'))
      add(sanitiser.forbiddenIn(runIds.has(part) ? readablePart(part) : part, 'prose'));
    if (DERIVED.test(path)) continue;
    const text = await recordText(join(folder, path));
    if (text === undefined) leaks.push({ path, rule: 'unreadable' });
    else add(rulesIn(path, text, sanitiser, runIds));
  }
  return leaks;
}

function rulesIn(
  path: string,
  text: string,
  sanitiser: TextSanitiser,
  runIds: ReadonlySet<string>,
): readonly string[] {
  if (path.endsWith('.json')) return rulesInRecord(text, sanitiser, runIds, path === 'campaign.json');
  if (path.endsWith('.jsonl'))
    return text.split('\n').flatMap((line) => (line === '' ? [] : rulesInRecord(line, sanitiser, runIds)));
  // Rows of a private package are looked through for what identifies; that they are a table is known.
  if (path.endsWith('/output.csv'))
    return sanitiser
      .forbiddenIn(text, 'reviewed')
      .filter((rule) => rule === 'identifiers' || rule === 'dates');
  return sanitiser.forbiddenIn(text, isReviewed(path) ? 'reviewed' : 'prose');
}

/** Texts of the benchmark itself. */
function isReviewed(path: string): boolean {
  return path === 'README.md' || /\/attempts\/\d+\/(?:instruction\.md$|context\/)/.test(path);
}

function rulesInRecord(
  text: string,
  sanitiser: TextSanitiser,
  runIds: ReadonlySet<string>,
  isReviewedRecord = false,
): readonly string[] {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return ['unreadable'];
  }
  const rules: string[] = [];
  const look = (part: string, register: Register): string => {
    const segments = part.startsWith('runs/') ? part.split('/') : [part];
    for (const segment of segments)
      rules.push(
        ...sanitiser.forbiddenIn(
          runIds.has(segment) ? readablePart(segment) : segment,
          isReviewedRecord ? 'reviewed' : register,
        ),
      );
    return part;
  };
  const names = sanitiser.context.databases.flatMap((database) => database.names);
  walkRecord(value, {
    text: look,
    identifier: (number) => {
      rules.push('named-identifiers');
      return number;
    },
    identifierNames: new Set(names),
  });
  return rules;
}
