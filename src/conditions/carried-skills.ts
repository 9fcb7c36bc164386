import { translateReferenceText, translateSkill } from '../schemas/carried-text.js';
import type { SchemaDictionary } from '../schemas/dictionary.js';
import { SqlTranslator, type TranslatorOptions } from '../schemas/sql-translator.js';
import { M4BenchError } from '../support/errors.js';
import { parseSkill } from '../tasks/skill.js';
import type { Task } from '../tasks/task.js';
import type { PlacedSkill } from './placed-skills.js';
import type { PresentedNames } from './presented-names.js';

/** The note before a query that could not be carried. */
const nativeQueryNote =
  '-- This query names the source database; the schema dictionary in the instruction tells where to look here.';

/**
 * A placed skill as a transformed schema gives it: names of tables and columns by their codes where the protocol
 * carries them, changed item ids and wording always. The raw-SQL control was carried as a query before.
 *
 * Throws `SKILL_NOT_CARRIED` when a perturbation makes a text ambiguous.
 */
export function skillInSchema(skill: PlacedSkill, presented: PresentedNames): PlacedSkill {
  const { text } = translateSkill({
    text: skill.text,
    dictionary: presented.dictionary,
    relations: presented.relations,
    carriesNames: presented.carriesSkills,
    values: presented.values,
    ambiguousNumbers: presented.ambiguousNumbers,
  });
  if (text === skill.text) return skill;
  if (skill.body === skill.text) return { ...skill, text, body: text };
  const { frontMatter, body } = parseSkill(text, `skill ${skill.name}`);
  return { ...skill, description: frontMatter.description, text, body };
}

/**
 * The reference query of a task for the raw-SQL control in a transformed schema. Where no one-to-one path exists it
 * stays in native names and says so, unless values were changed: then it would point at the wrong items.
 */
export async function referenceTextInSchema(
  task: Pick<Task, 'name' | 'material'>,
  dictionary: SchemaDictionary,
  options: TranslatorOptions,
): Promise<string | undefined> {
  const sql = task.material.referenceSql;
  if (sql === undefined) return undefined;
  await using translator = await SqlTranslator.open(options);
  try {
    return await translateReferenceText(translator, sql, dictionary, `raw SQL of ${task.name}`);
  } catch (thrown) {
    const isUntranslatable = thrown instanceof M4BenchError && thrown.code === 'SQL_NOT_TRANSLATABLE';
    if (!isUntranslatable || dictionary.perturb.length > 0) throw thrown;
    return `${nativeQueryNote}\n${sql}`;
  }
}
