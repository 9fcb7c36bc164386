import type { PlantedSkill } from './gateway-types.js';

/** CLIs shorten long descriptions; the beginning is enough to know one by. */
const DESCRIPTION_PROBE_CHARACTERS = 160;

const collapsed = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Adds every string of a JSON value to a list; skill texts stand in strings, whatever the protocol. */
function collectStrings(value: unknown, into: string[]): void {
  if (typeof value === 'string') into.push(value);
  else if (Array.isArray(value)) for (const inner of value) collectStrings(inner, into);
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) collectStrings(inner, into);
}

/** Which skills a request shows to the model. */
export interface SkillsSeen {
  /** Names whose description occurs: the model knows that the skill is there. */
  readonly offered: readonly string[];
  /** Names whose body occurs: the model has read it. */
  readonly opened: readonly string[];
}

/** A search for the planted skills; white space is not compared, since CLIs wrap and indent. */
export function skillSearch(skills: readonly PlantedSkill[]): (body: unknown) => SkillsSeen {
  const probes = skills.map(({ name, description, bodyProbe }) => ({
    name,
    description: collapsed(description).slice(0, DESCRIPTION_PROBE_CHARACTERS),
    body: collapsed(bodyProbe),
  }));
  if (probes.length === 0) return () => ({ offered: [], opened: [] });
  return (body) => {
    const strings: string[] = [];
    collectStrings(body, strings);
    const text = collapsed(strings.join('\n'));
    const named = (probe: 'description' | 'body'): string[] =>
      probes.filter((skill) => skill[probe] !== '' && text.includes(skill[probe])).map(({ name }) => name);
    return { offered: named('description'), opened: named('body') };
  };
}
