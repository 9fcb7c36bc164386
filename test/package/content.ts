import { join } from 'node:path';
import { z } from 'zod';
import { loadConcepts } from '../../src/concepts/concept.js';
import { contextPackage } from '../../src/conditions/context-package.js';
import { loadReferenceQueries } from '../../src/references/reference.js';
import { readJson, writeJsonAtomic } from '../../src/support/files.js';
import { hashOf, sha256 } from '../../src/support/hashing.js';
import { benchmarkFolder } from '../../src/support/home.js';
import { loadTasks } from '../../src/tasks/load-tasks.js';
import { loadProtocol, protocolNames } from '../../src/tasks/protocol.js';
import { withoutHeader } from '../../src/tasks/reference-sql.js';

/**
 * What a version of the benchmark asks and compares with, as hashes: for every task everything an agent is given in
 * any condition and protocol (native schema), its contract and its removals; every reference and concept query
 * without the comment block; every protocol without its reasons. `benchmark/versions.json` records them per version.
 */
export const content = z.object({
  /** False until the version was published: an unreleased version may be recorded again. */
  released: z.boolean(),
  tasks: z.record(z.string(), z.string()),
  references: z.record(z.string(), z.string()),
  concepts: z.string(),
  protocols: z.record(z.string(), z.string()),
});
export type Content = z.infer<typeof content>;

const versions = z.record(z.string(), content);
export const versionsFile = join(benchmarkFolder(), 'versions.json');

export async function recordedVersions(): Promise<z.infer<typeof versions>> {
  return versions.parse(await readJson(versionsFile));
}

/** The content as it is now. */
export async function presentContent(): Promise<Omit<Content, 'released'>> {
  const short = (value: unknown): string => hashOf(value).slice(0, 16);
  const protocols = await Promise.all((await protocolNames()).map((name) => loadProtocol(name)));
  const tasks = await loadTasks();
  const queries = [...(await loadReferenceQueries('mimic-iv')), ...(await loadReferenceQueries('eicu'))];
  const concepts = await loadConcepts();
  return {
    tasks: Object.fromEntries(
      tasks.map((task) => [
        task.name,
        short({
          contract: task.contract,
          removes: task.removesPublished,
          reference: task.reference,
          given: protocols.map((protocol) =>
            task.conditions.map(
              (condition) =>
                contextPackage({ task, condition, protocol, skillFolder: '.skills', schema: 'native' }).hash,
            ),
          ),
        }),
      ]),
    ),
    references: Object.fromEntries(
      queries.map(({ key, database, sql }) => [
        `${database}/${key}`,
        sha256(withoutHeader(sql.text)).slice(0, 16),
      ]),
    ),
    concepts: short(concepts.map(({ table, sql }) => [table, withoutHeader(sql.text)])),
    protocols: Object.fromEntries(
      protocols.map(({ reasons: _reasons, title: _title, ...switches }) => [switches.name, short(switches)]),
    ),
  };
}

/** Names of what differs between two contents, for example `tasks mimic-meld-24h`. */
export function differences(a: Omit<Content, 'released'>, b: Omit<Content, 'released'>): readonly string[] {
  const flat = (of: Omit<Content, 'released'>): Map<string, string> =>
    new Map([
      ...(['tasks', 'references', 'protocols'] as const).flatMap((part) =>
        Object.entries(of[part]).map(([name, hash]) => [`${part} ${name}`, hash] as const),
      ),
      ['concepts', of.concepts],
    ]);
  const [left, right] = [flat(a), flat(b)];
  return [...new Set([...left.keys(), ...right.keys()])].filter((name) => left.get(name) !== right.get(name));
}

/** Records the present content under a version. Refuses to change a released one. */
export async function recordContent(version: string): Promise<readonly string[]> {
  const all = await recordedVersions();
  const present = await presentContent();
  const changed = all[version] === undefined ? ['new version'] : differences(all[version], present);
  if (all[version]?.released === true && changed.length > 0)
    throw new Error(
      `Version ${version} was released with other content (${changed.join(', ')}): raise the version in package.json first.`,
    );
  await writeJsonAtomic(versionsFile, {
    ...all,
    [version]: { released: false, ...all[version], ...present },
  });
  return changed;
}
