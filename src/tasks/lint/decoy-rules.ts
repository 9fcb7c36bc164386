import type { Skill, Task } from '../task.js';
import { collapsed, type Finding } from './finding.js';
import { type FamilyContent, quotesOf } from './record-rules.js';

/** Quotes shorter than this are too common to tell one text from another. */
const tellingQuote = 12;

/**
 * The target relations of a family, without the intermediates that raw tasks list too: what its standard tasks remove,
 * and in a family without one the relations called after it.
 */
function targetRelations(family: FamilyContent): readonly string[] {
  const standard = family.tasks.filter((task) => task.mode === 'standard');
  if (standard.length > 0) return [...new Set(standard.flatMap((task) => task.removesPublished))];
  const listed = family.tasks.flatMap((task) => task.removesPublished);
  return [...new Set(listed)].filter((relation) => relation.includes(family.name));
}

/** A target relation, or the name of an own skill, as a decoy would point to it. */
function mentionedTarget(family: FamilyContent, task: Task, decoy: Skill): string | undefined {
  const names = [
    ...targetRelations(family).flatMap((relation) => [
      relation,
      `\`${relation.slice(relation.indexOf('.') + 1)}\``,
    ]),
    ...task.skills.map((skill) => `\`${skill.name}\``),
  ];
  return names.find((name) => decoy.text.includes(name));
}

/**
 * A decoy is a real skill of another family that does not give the task away: never the task's own skill, never a
 * text that points to the target, never one that states every fact of one of the task's skills, and in the far mapping
 * none of its facts.
 */
export function decoyFindings(
  families: readonly FamilyContent[],
  decoyFile: (mapping: 'published' | 'far') => string,
): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { family, task } of families.flatMap((each) =>
    each.tasks.map((task) => ({ family: each, task })),
  )) {
    for (const mapping of ['published', 'far'] as const) {
      const decoy = task.material.decoys[mapping];
      if (decoy === undefined) continue;
      const add = (rule: string, message: string): void => {
        findings.push({ file: decoyFile(mapping), line: 1, rule, message: `${task.name}: ${message}` });
      };
      if (decoy.family === task.family || task.skills.some((skill) => skill.name === decoy.name)) {
        add('decoy-own', `${decoy.name} is a skill of the task itself; choose another family.`);
        continue;
      }
      const target = mentionedTarget(family, task, decoy);
      if (target !== undefined) add('decoy-target', `${decoy.name} names ${target}; choose another skill.`);
      const text = collapsed(decoy.body);
      for (const skill of task.skills) {
        const facts = families.find((family) => family.name === skill.family)?.records.facts;
        const quotes = quotesOf(facts, skill.name);
        const shared = quotes.filter((quote) => text.includes(collapsed(quote)));
        if (quotes.length > 0 && shared.length === quotes.length) {
          add('decoy-superset', `${decoy.name} states every fact of ${skill.name}; choose another skill.`);
        } else if (mapping === 'far') {
          const telling = shared.find((quote) => quote.length >= tellingQuote);
          if (telling !== undefined) {
            add(
              'decoy-far',
              `${decoy.name} states "${telling}" as ${skill.name} does; choose a more distant skill.`,
            );
          }
        }
      }
    }
  }
  return findings;
}
