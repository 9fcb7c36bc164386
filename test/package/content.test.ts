import { describe, expect, test } from 'vitest';
import { benchmarkVersion } from '../../src/version.js';
import { differences, presentContent, recordedVersions } from './content.js';

describe('the content of the benchmark', () => {
  test('is the one recorded for this version: whoever changes it raises the version, or records it before a release', async () => {
    const recorded = (await recordedVersions())[benchmarkVersion];
    expect(recorded, `record version ${benchmarkVersion} with \`npm run record:content\``).toBeDefined();
    // Released: raise the version in package.json. Not yet: `npm run record:content`, and say so in CHANGELOG.md.
    expect(differences(recorded!, await presentContent())).toEqual([]);
  });

  test('differences are named', () => {
    const content = { tasks: { a: '1', b: '2' }, references: {}, concepts: 'x', protocols: { p: '1' } };
    expect(differences(content, content)).toEqual([]);
    expect(
      differences(content, { ...content, tasks: { a: '1', b: '3', c: '4' }, concepts: 'y', protocols: {} }),
    ).toEqual(['tasks b', 'protocols p', 'concepts', 'tasks c']);
  });
});
