import { expect, it } from 'vitest';
import { fixtureContent } from '../fixture-content.js';
import { loadTasks } from '../load-tasks.js';
import { decoyFindings } from './decoy-rules.js';
import type { FamilyContent } from './record-rules.js';

/** The fixture, with one fact of the shock index that is stated by the given text. */
async function familiesWithFact(quote: string): Promise<readonly FamilyContent[]> {
  await using content = await fixtureContent();
  const tasks = await loadTasks({ contentFolder: content.folder });
  const facts = {
    facts: [{ id: 'only', statement: 's', skill: 'shock-index', places: [{ section: 'Definition', quote }] }],
  };
  return ['frailty', 'shock'].map((name) => ({
    name,
    folder: content.folder,
    tasks: tasks.filter((task) => task.family === name),
    skills: [],
    records: { facts: name === 'shock' ? facts : undefined, provenance: undefined },
  }));
}

it('a decoy that states every fact of the own skill is caught, whatever its layout', async () => {
  const families = await familiesWithFact('divide them\n by its length');
  expect(decoyFindings(families, (mapping) => `${mapping}.toml`)).toEqual([
    expect.objectContaining({ rule: 'decoy-superset', file: 'published.toml' }),
  ]);
});

it('a decoy that does not is none', async () => {
  const families = await familiesWithFact('divide heart rate');
  expect(decoyFindings(families, (mapping) => `${mapping}.toml`)).toEqual([]);
});
