import { join } from 'node:path';
import type { DuckSession } from '../../duck/session.js';
import { literal } from '../../duck/sql.js';
import type { Skill, Task } from '../task.js';
import { collapsed, type Finding, type ForbiddenText, forbiddenTexts, lineAt } from './finding.js';

/** Sections every skill has; a skill of several modes has `Available tables` besides. */
export const skillSections = [
  'Use in the benchmark',
  'When to use',
  'Definition',
  'Data sources',
  'Windows',
  'Missing data',
  'Units',
  'Traps',
  'Output',
] as const;

/** The only section in which the text for raw tasks may differ from that for standard tasks. */
const tableSection = 'Available tables';

const notice = [
  'The concept tables that a task configuration names as targets are removed from the database or unavailable in it.',
  'expect neither a precomputed target table nor a ready-made SQL script',
];

/** The paragraph that every skill has under "Use in the benchmark". */
export const skillNotice = `${notice[0]} Treat this text as procedural guidance: derive the output from source or intermediate tables, and ${notice[1]}.`;

/** Marks a passage that its author still has to write. */
export const toBeWritten = 'TO BE WRITTEN';

const forbidden: readonly ForbiddenText[] = [
  { rule: 'skill-sql', pattern: /```sql/i, message: 'a skill holds no SQL; give the rule in words.' },
  {
    rule: 'skill-derived-query',
    pattern: /\b(?:from|join)\s+mimiciv_derived\.\w+/i,
    message: 'a skill queries no derived table.',
  },
  {
    rule: 'skill-precomputed',
    pattern: /^##\s+pre-?computed tables?\b|\bscripts\/|\bfull SQL query\b|BigQuery users already have/im,
    message: 'a skill points to no precomputed table, script or query.',
  },
  {
    rule: 'skill-schema-name',
    pattern: /\bmain\.[A-Za-z_]\w*/,
    message: 'relations are given with their canonical schema.',
  },
  {
    rule: 'skill-unfinished',
    pattern: new RegExp(toBeWritten),
    message: 'the passage is not written yet.',
  },
];

/** Words a shipped skill may have; the published ones have 400 to 1,350. */
const shippedWords = { least: 400, most: 1400 } as const;
/** A user's own skill is compared with nothing: it may be short. */
const ownWords = { least: 1, most: shippedWords.most } as const;

const skillFile = (skill: Skill): string => join(skill.folder, 'SKILL.md');

/** Text of each `##` section of a skill, by its heading; what stands before the first is `(introduction)`. */
export function sectionsOf(body: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  let heading = '(introduction)';
  for (const line of body.split('\n')) {
    if (line.startsWith('## ')) heading = line.slice(3).trim();
    sections.set(heading, `${sections.get(heading) ?? ''}${line}\n`);
  }
  return sections;
}

/** Rules on the text of one skill alone. Fenced blocks are tried in DuckDB's parser: what parses is a query. */
export async function skillTextFindings(
  session: DuckSession,
  skill: Skill,
  isShipped: boolean,
): Promise<readonly Finding[]> {
  const wordRange = isShipped ? shippedWords : ownWords;
  const file = skillFile(skill);
  const findings: Finding[] = [...forbiddenTexts(skill.text, file, forbidden)];
  const flat = collapsed(skill.body);
  if (!notice.every((sentence) => flat.includes(sentence))) {
    findings.push({
      file,
      line: 1,
      rule: 'skill-notice',
      message: 'the benchmark-use notice is missing or changed; copy it from another skill.',
    });
  }
  const sections = sectionsOf(skill.body);
  for (const section of skillSections.filter((name) => !sections.has(name))) {
    findings.push({ file, line: 1, rule: 'skill-section', message: `the section "${section}" is missing.` });
  }
  const words = flat.split(' ').length;
  if (words < wordRange.least || words > wordRange.most) {
    findings.push({
      file,
      line: 1,
      rule: 'skill-length',
      message: `${words} words; keep to ${wordRange.least} to ${wordRange.most}.`,
    });
  }
  for (const match of skill.text.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)) {
    const block = match[1] ?? '';
    if (await isQuery(session, block)) {
      findings.push({
        file,
        line: lineAt(skill.text, match.index),
        rule: 'skill-query',
        message: 'the fenced block is a query that runs; give the formula in words or as an expression.',
      });
    }
  }
  return findings;
}

async function isQuery(session: DuckSession, text: string): Promise<boolean> {
  const { tree } = await session.row(`select json_serialize_sql(${literal(text)}) as tree`);
  const parsed = JSON.parse(String(tree)) as { error: boolean; statements?: readonly unknown[] };
  return !parsed.error && (parsed.statements?.length ?? 0) > 0;
}

/**
 * Relations that a task's database does not have, in the texts of its own skills: schema-qualified or in
 * back-ticks. Plain words such as SOFA or age are of course allowed.
 */
export function removedRelationFindings(task: Task, concepts: readonly string[]): readonly Finding[] {
  const isRaw = task.mode === 'raw' && task.database === 'mimic-iv';
  const absent = [
    ...task.removesPublished,
    ...(isRaw ? concepts.map((table) => `mimiciv_derived.${table}`) : []),
  ];
  return task.skills.flatMap((skill) =>
    [...new Set(absent)].flatMap((relation) => {
      const bare = relation.slice(relation.indexOf('.') + 1);
      const position = [skill.text.indexOf(relation), skill.text.indexOf(`\`${bare}\``)].find(
        (at) => at >= 0,
      );
      if (position === undefined) return [];
      return [
        {
          file: skillFile(skill),
          line: lineAt(skill.text, position),
          rule: 'skill-removed-relation',
          message: `${relation} is removed from the database of ${task.name}; describe it in words.`,
        },
      ];
    }),
  );
}

/** Texts for standard and raw tasks of one skill may differ in the section on available tables only. */
export function variantFindings(library: readonly Skill[]): readonly Finding[] {
  return library
    .filter((skill) => skill.variant === 'raw')
    .flatMap((raw) => {
      const standard = library.find((skill) => skill.name === raw.name && skill.variant === 'standard');
      if (standard === undefined) return [];
      const rawSections = sectionsOf(raw.body);
      const standardSections = sectionsOf(standard.body);
      const headings = new Set([...rawSections.keys(), ...standardSections.keys()]);
      headings.delete(tableSection);
      const differing = [...headings].filter((name) => rawSections.get(name) !== standardSections.get(name));
      if (raw.description !== standard.description) differing.unshift('front matter');
      return differing.map((name) => ({
        file: skillFile(raw),
        line: 1,
        rule: 'skill-variant',
        message: `"${name}" differs from the text for standard tasks; only "${tableSection}" may.`,
      }));
    });
}
