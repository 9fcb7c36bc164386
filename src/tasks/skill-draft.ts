import { skillNotice, skillSections, toBeWritten } from './lint/skill-rules.js';

interface DraftOf {
  readonly name: string;
  readonly title: string;
  readonly citation: string;
}

const prompts: Readonly<Record<string, string>> = {
  'When to use': 'the questions and cohorts that the definition is for',
  Definition: 'the definition with thresholds and formulas, in words',
  'Data sources':
    'which records hold the inputs, with item ids and units, and which look alike and are not meant',
  Windows: 'the time windows, and whether their ends belong to them',
  'Missing data': 'what a missing input means, and which rows are in the output nevertheless',
  Units: 'the units of inputs and outputs, and conversions',
  Traps: 'what a careful reader gets wrong at first',
  Output: 'one line per column: what it holds',
};

/** A skill with all sections and nothing in them but the notice: a skeleton to be written by who knows. */
export function draftSkill({ name, title, citation }: DraftOf): string {
  const sections = skillSections.map((section) => {
    const prompt = prompts[section];
    return `## ${section}\n\n${prompt === undefined ? skillNotice : `${toBeWritten}: ${prompt}.`}\n`;
  });
  return `---
name: ${name}
description: "${toBeWritten}: in one or two sentences what it computes and when to use it."
license: MIT
compatibility: "${toBeWritten}: the database it is written for."
metadata:
  version: "0.1"
  tier: community
  category: clinical
  sources: ${JSON.stringify(citation)}
---

# ${title}

${sections.join('\n')}`;
}
