import { beforeAll, describe, expect, test } from 'vitest';
import { translateInstruction, translateSkill } from './carried-text.js';
import { type NativeCatalog, nativeCatalog } from './catalog.js';
import { buildDictionary, codedTable, type SchemaDictionary } from './dictionary.js';
import { presentationOf, type TransformedSchema } from './presentation.js';
import { presentedNames } from './presented-tables.js';

let catalog: NativeCatalog;
beforeAll(async () => {
  catalog = await nativeCatalog({ kind: 'mimic-iv', name: 'mimic-iv', tables: [] });
});

const dictionaryOf = (schema: TransformedSchema, isPublished = false): SchemaDictionary =>
  buildDictionary(
    catalog,
    presentationOf({
      schema,
      protocol: isPublished
        ? { schemaNames: 'sorted', merges: 'published' }
        : { schemaNames: 'seeded', merges: 'lossless' },
    }),
  );

function relationsOf(dictionary: SchemaDictionary, isKept: (name: string) => boolean = () => true) {
  return presentedNames(catalog, dictionary)
    .filter(isKept)
    .map((name) => codedTable(dictionary, name));
}

describe('an instruction', () => {
  test('loses the name of the dataset, as published', () => {
    const text =
      'You have a MIMIC-IV clinical database. A MIMIC-IV clinical table. Path mimic-iv/x, MIMIC-IV.';
    expect(translateInstruction(text, dictionaryOf('obfuscated', true))).toBe(
      'You have a clinical database. A clinical table. Path /x, .',
    );
  });

  test('has schemas and six tables replaced by sorted codes, as published', () => {
    const text = 'Read `chartevents` of mimiciv_icu, `d_items`, chartevents and `icustays`; write `stay_id`.';
    expect(translateInstruction(text, dictionaryOf('obfuscated', true))).toBe(
      'Read `t_002` of ds_3, `t_003`, chartevents and `icustays`; write `stay_id`.',
    );
  });

  test('keeps its output columns and loses every table name with seeded codes', () => {
    const dictionary = dictionaryOf('restructured');
    const text =
      'As the public concept of MIT-LCP mimic-code does, from `icustays` and mimiciv_hosp.labevents: `stay_id`, `sofa`, `age`.';
    const carried = translateInstruction(text, dictionary);
    const encounters = dictionary.mergedTables['mimiciv_hosp.encounters']!.split('.')[1];
    expect(carried).toBe(
      `As the public concept for this database does, from \`${encounters}\` and ${dictionary.mergedTables['mimiciv_icu.observations']}: \`stay_id\`, \`sofa\`, \`age\`.`,
    );
  });
});

const skill = `---
name: demo
description: Reads \`icustays\`.
---

# Demo

- Heart rate: \`chartevents\`, item 220045, column \`valuenum\`; list in \`mimiciv_icu.d_items\`.
- Rates: \`norepinephrine\`. Removed: \`sofa_24hours\`.

\`\`\`
ratio = \`po2\` / 51006
\`\`\`

| Item | Label |
| --- | --- |
| 220210 | Respiratory Rate |

## Output

\`stay_id\` and \`valuenum\`.
`;

describe('a skill', () => {
  test('has tables and columns in code spans replaced, in the obfuscated schema', () => {
    const dictionary = dictionaryOf('obfuscated');
    const { text, untranslated } = translateSkill({
      text: skill,
      dictionary,
      relations: relationsOf(dictionary),
      carriesNames: true,
    });
    const [schema, items] = dictionary.tables['mimiciv_icu.d_items']!.split('.');
    expect(text).toContain(
      `- Heart rate: \`${dictionary.tables['mimiciv_icu.chartevents']!.split('.')[1]}\`, item 220045, column \`${dictionary.columns.valuenum}\`; list in \`${schema}.${items}\`.`,
    );
    expect(text).toContain('description: Reads `icustays`.');
    expect(text).toContain('ratio = `po2` / 51006');
    expect(text).toContain('`stay_id` and `valuenum`.');
    // A table and a column of vasoactive_agent: which one is meant cannot be known.
    expect(untranslated).toEqual(['norepinephrine']);
    expect(text).toContain('because they have no single counterpart here: `norepinephrine`.');
  });

  test('says which rows of a merged table are meant', () => {
    const dictionary = dictionaryOf('restructured');
    const { text } = translateSkill({
      text: skill,
      dictionary,
      relations: relationsOf(dictionary),
      carriesNames: true,
    });
    const merged = dictionary.mergedTables['mimiciv_icu.observations']!.split('.')[1];
    expect(text).toContain(`\`${merged}\` (rows with \`${dictionary.mergedColumns.source}\` = 'chart')`);
  });

  test('names nothing that the task does not have', () => {
    const dictionary = dictionaryOf('obfuscated');
    const relations = relationsOf(dictionary, (name) => !name.startsWith('mimiciv_derived.'));
    const { text, untranslated } = translateSkill({ text: skill, dictionary, relations, carriesNames: true });
    expect(text).toContain('Rates: `norepinephrine`. Removed: `sofa_24hours`.');
    expect(untranslated).toEqual([]);
  });

  test('stays as it is where the protocol leaves skills alone', () => {
    const dictionary = dictionaryOf('obfuscated', true);
    expect(
      translateSkill({ text: skill, dictionary, relations: relationsOf(dictionary), carriesNames: false })
        .text,
    ).toBe(skill);
  });

  test('has changed item ids and wording everywhere they stand', () => {
    const dictionary = dictionaryOf('obfuscated', true);
    const values = {
      numbers: new Map([
        [220045, 50912],
        [220210, 220045],
        [51006, 90003],
      ]),
      words: new Map([['mimiciv_icu.d_items.label', new Map([['Respiratory Rate', 'Breathing Frequency']])]]),
    };
    const { text } = translateSkill({ text: skill, dictionary, relations: [], carriesNames: false, values });
    expect(text).toContain('item 50912');
    expect(text).toContain('| 220045 | Breathing Frequency |');
    expect(text).toContain('/ 90003');
  });

  test('is refused when a number in it may be an item id or an ICD code', () => {
    const dictionary = dictionaryOf('obfuscated', true);
    const values = { numbers: new Map([[51006, 90003]]), words: new Map() };
    expect(() =>
      translateSkill({
        text: skill,
        dictionary,
        relations: [],
        carriesNames: false,
        values,
        ambiguousNumbers: new Set([51006]),
      }),
    ).toThrow(expect.objectContaining({ code: 'SKILL_NOT_CARRIED' }));
  });
});
