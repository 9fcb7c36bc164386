import { basename } from 'node:path';
import type { DuckSession } from '../../duck/session.js';
import type { Task } from '../task.js';
import { type Finding, type ForbiddenText, forbiddenTexts, lineAt } from './finding.js';
import { queryPositions } from './query-text.js';
import { wholeWords } from './source-names.js';

const sparse: readonly ForbiddenText[] = [
  {
    rule: 'instruction-native-schema',
    pattern: /\bmimiciv_\w*/i,
    message: 'an instruction names no schema; name the clinical concept.',
  },
  {
    rule: 'instruction-item-id',
    pattern: /\bitemid\b|(?<![\d.,])\d{5,}(?![\d.,]*\d)/i,
    message: 'an instruction gives no item ids; leave them to the skill.',
  },
  {
    rule: 'instruction-sql',
    pattern: /^```/m,
    message: 'an instruction holds no fenced block; say in words what is wanted.',
  },
  {
    rule: 'instruction-code',
    pattern: /\b[A-TV-Z]\d{2}(?:\.?\d{1,2})?\b|\bV\d{2}\.\d\b|(?<![\d.,])\d{3}\.\d{2}(?!\d)/,
    message: 'an instruction gives no diagnosis codes; name the condition.',
  },
  {
    rule: 'instruction-base-table-claim',
    pattern:
      /only (?:the )?base tables|no (?:pre-?computed|precomputed) derived tables|forced? (?:you )?to (?:work|derive[^.]*) from (?:the )?base tables/i,
    message: 'the removal is defined by schema; say that derived shortcut tables were removed.',
  },
];

const rawNotice = 'Derived shortcut tables';

/** Sparsity rules of one instruction, and its agreement with the contract. */
export async function instructionFindings(
  session: DuckSession,
  task: Task,
  tableNames: readonly string[],
): Promise<readonly Finding[]> {
  const file = task.instructionFile;
  const text = task.instruction;
  const findings: Finding[] = [
    ...forbiddenTexts(text, file, [
      ...sparse,
      {
        rule: 'instruction-table-name',
        pattern: wholeWords(tableNames.filter((name) => !task.contract.requiredColumns.includes(name))),
        message: 'an instruction names no table; leave the navigation to the agent.',
      },
    ]),
    ...(await queryPositions(session, text, new Set(tableNames))).map((position) => ({
      file,
      line: lineAt(text, position),
      rule: 'instruction-sql',
      message: 'an instruction holds no query; say in words what is wanted.',
    })),
  ];
  const listed = task.contract.requiredColumns.map((column) => `\`${column}\``).join(', ');
  if (!text.includes(listed)) {
    findings.push({
      file,
      line: 1,
      rule: 'instruction-columns',
      message: 'the column list differs from required_columns of the contract; copy it in its order.',
    });
  }
  const needsNotice = task.mode === 'raw' && task.database === 'mimic-iv';
  if (text.includes(rawNotice) !== needsNotice) {
    findings.push({
      file,
      line: 1,
      rule: 'instruction-raw-notice',
      message: needsNotice
        ? `${basename(file)} is a raw task: say that derived shortcut tables were removed.`
        : 'only raw tasks on MIMIC-IV say that derived shortcut tables were removed.',
    });
  }
  return findings;
}
