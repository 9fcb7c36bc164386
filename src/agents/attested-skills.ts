import type { PlantedSkill } from '../gateway/gateway-types.js';
import type { Transcript } from './transcript.js';

const collapsed = (text: string): string => text.replace(/\s+/g, ' ').trim();

/**
 * Which planted skills the agent's own trace shows as offered and opened: for runs whose requests the gateway cannot
 * read. It is the agent's word (`attested`), and an upper bound at that: what stands in a result was shown to the
 * model unless the CLI shortened it. Offered are skills that the CLI lists, and those that were opened.
 */
export function attestedSkills(
  transcript: Transcript,
  skills: readonly PlantedSkill[],
): { readonly offered: readonly string[]; readonly opened: readonly string[] } {
  const results = collapsed(
    transcript.turns
      .flatMap((turn) => turn.calls)
      .map(({ output }) => output ?? '')
      .join('\n'),
  );
  const opened = skills.filter(({ bodyProbe }) => {
    const probe = collapsed(bodyProbe);
    return probe !== '' && results.includes(probe);
  });
  const offered = skills.filter((skill) => transcript.skills.includes(skill.name) || opened.includes(skill));
  return { offered: offered.map(({ name }) => name), opened: opened.map(({ name }) => name) };
}
