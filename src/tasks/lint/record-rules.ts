import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Skill, Task } from '../task.js';
import { familyContentHash } from './content-hash.js';
import type { FactsFile, FamilyRecords } from './family-records.js';
import { collapsed, type Finding } from './finding.js';
import { sectionsOf } from './skill-rules.js';

/** One family with what its rules need. */
export interface FamilyContent {
  readonly name: string;
  readonly folder: string;
  readonly tasks: readonly Task[];
  readonly skills: readonly Skill[];
  readonly records: FamilyRecords;
}

/** Files that every shipped family has; a user's own family may leave them out. */
const requiredFiles = ['facts.toml', 'conventions.toml', 'provenance.toml', 'notes.md'];

/** A family without its records cannot be reviewed. */
export function missingRecordFindings(family: FamilyContent): readonly Finding[] {
  return requiredFiles
    .filter((name) => !existsSync(join(family.folder, name)))
    .map((name) => ({
      file: join(family.folder, name),
      line: 1,
      rule: 'family-record',
      message: `the family ${family.name} has no ${name}.`,
    }));
}

/** Every fact stands where `facts.toml` says, in each text it names, and every skill has facts. */
export function factFindings(family: FamilyContent): readonly Finding[] {
  const { facts } = family.records;
  if (facts === undefined) return [];
  const file = join(family.folder, 'facts.toml');
  const findings: Finding[] = [];
  for (const fact of facts.facts) {
    const texts = family.skills.filter(
      (skill) => skill.name === fact.skill && (fact.variants?.includes(skill.variant) ?? true),
    );
    if (texts.length < (fact.variants?.length ?? 1)) {
      findings.push({
        file,
        line: 1,
        rule: 'fact-skill',
        message: `fact ${fact.id}: ${fact.skill} has no such text.`,
      });
    }
    for (const skill of texts) {
      const sections = sectionsOf(skill.body);
      for (const { section, quote } of fact.places) {
        if (collapsed(sections.get(section) ?? '').includes(collapsed(quote))) continue;
        findings.push({
          file: join(skill.folder, 'SKILL.md'),
          line: 1,
          rule: 'fact-missing',
          message: `fact ${fact.id}: "${quote}" does not stand in section "${section}".`,
        });
      }
    }
  }
  for (const skill of family.skills.filter(({ name }) => !facts.facts.some((fact) => fact.skill === name))) {
    findings.push({ file, line: 1, rule: 'fact-skill', message: `the skill ${skill.name} has no facts.` });
  }
  return findings;
}

/** Provenance names the tasks of the family, known reviewers and assets, and no stale review. */
export async function provenanceFindings(
  family: FamilyContent,
  reviewers: ReadonlySet<string>,
  assets: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  const { provenance } = family.records;
  if (provenance === undefined) return [];
  const file = join(family.folder, 'provenance.toml');
  const finding = (rule: string, message: string): Finding => ({ file, line: 1, rule, message });
  const findings: Finding[] = [];
  const names = family.tasks.map((task) => task.name);
  if (collapsed(provenance.applies_to.join(' ')) !== names.join(' ')) {
    findings.push(
      finding('provenance-tasks', `applies_to must be the tasks of the family: ${names.join(', ')}.`),
    );
  }
  for (const { by } of [...provenance.reviews, ...(provenance.published?.reviews ?? [])]) {
    if (!reviewers.has(by))
      findings.push(finding('provenance-reviewer', `the reviewer ${by} is not in reviewers.toml.`));
  }
  for (const { asset } of provenance.sources) {
    if (!assets.has(asset))
      findings.push(finding('provenance-asset', `the asset ${asset} is not in assets.toml.`));
  }
  const hash = await familyContentHash(family.folder, family.tasks, family.skills);
  const current = provenance.reviews.filter((review) => review.content_sha256 === hash);
  for (const review of provenance.reviews.filter((each) => !current.includes(each))) {
    findings.push(
      finding(
        'review-stale',
        `the review by ${review.by} of ${review.date} saw other content; review again (content hash now ${hash}).`,
      ),
    );
  }
  const isReviewed = current.some((review) => review.scope.includes('clinical-accuracy'));
  if ((provenance.text_status === 'reviewed by a clinician') !== isReviewed) {
    findings.push(
      finding(
        'provenance-status',
        `text_status is "${provenance.text_status}", but a current review of clinical accuracy is ${isReviewed ? 'recorded' : 'missing'}.`,
      ),
    );
  }
  return findings;
}

/** A skill text that is called validated needs a current clinical review of its family. */
export async function tierFindings(family: FamilyContent): Promise<readonly Finding[]> {
  const hash = await familyContentHash(family.folder, family.tasks, family.skills);
  const isReviewed = (family.records.provenance?.reviews ?? []).some(
    (review) => review.content_sha256 === hash && review.scope.includes('clinical-accuracy'),
  );
  return family.skills
    .filter((skill) => !isReviewed && /^ {2}tier: validated$/m.test(skill.text))
    .map((skill) => ({
      file: join(skill.folder, 'SKILL.md'),
      line: 1,
      rule: 'skill-tier',
      message: 'the tier "validated" needs a current clinical review; use "community" until then.',
    }));
}

/** Quotes of the facts of a skill, for the comparison with a decoy. */
export function quotesOf(facts: FactsFile | undefined, skill: string): readonly string[] {
  return (facts?.facts ?? [])
    .filter((fact) => fact.skill === skill)
    .flatMap((fact) => fact.places.map(({ quote }) => quote));
}
