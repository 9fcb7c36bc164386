import { join } from 'node:path';
import type { DuckSession } from '../../duck/session.js';
import type { Task } from '../task.js';
import { type Finding, type ForbiddenText, forbiddenTexts, lineAt } from './finding.js';
import { queryPositions } from './query-text.js';
import { wholeWords } from './source-names.js';

const forbidden: readonly ForbiddenText[] = [
  { rule: 'spec-sql', pattern: /```sql/i, message: 'a specification holds no SQL.' },
  {
    rule: 'spec-query',
    pattern: /\b(?:from|join)\s+[A-Za-z_]\w*\.[A-Za-z_]\w*/i,
    message: 'a specification names no relation to query.',
  },
  {
    rule: 'spec-native-schema',
    pattern: /\bmimiciv_\w*|\beicu_crd\b/i,
    message: 'a specification names no schema.',
  },
  {
    rule: 'spec-reference-code',
    pattern: /\bMIT-LCP\b|\bmimic-code\b|\beicu-code\b/i,
    message: 'a specification does not point to reference code.',
  },
  {
    rule: 'spec-item-id',
    pattern: /\bitemid\b|(?<![\d.,])\d{5,}(?![\d.,]*\d)/i,
    message: 'a specification gives no item ids; name the measurement.',
  },
];

/** Where the operational specification of a task lies. */
export function operationalSpecFile(task: Task): string {
  return join(task.instructionFile, '..', '..', 'operational-spec', `${task.name}.md`);
}

/** Rules of the operational specification of one task; a missing one is no finding. */
export async function operationalSpecFindings(
  session: DuckSession,
  task: Task,
  tableNames: readonly string[],
): Promise<readonly Finding[]> {
  const text = task.material.operationalSpec;
  if (text === undefined) return [];
  const file = operationalSpecFile(task);
  const missing = task.contract.requiredColumns.filter((column) => !text.includes(`\`${column}\``));
  return [
    ...forbiddenTexts(text, file, [
      ...forbidden,
      {
        rule: 'spec-table-name',
        pattern: wholeWords(tableNames.filter((name) => !task.contract.requiredColumns.includes(name))),
        message: 'a specification names no table.',
      },
    ]),
    ...(await queryPositions(session, text, new Set(tableNames))).map((position) => ({
      file,
      line: lineAt(text, position),
      rule: 'spec-query',
      message: 'a specification holds no query.',
    })),
    ...missing.map((column) => ({
      file,
      line: 1,
      rule: 'spec-columns',
      message: `the required column ${column} is not named.`,
    })),
  ];
}
