import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CanaryReport } from '../runs/gates.js';
import type { InputMount, Sandbox } from '../sandboxes/sandbox.js';
import { sandboxOf } from '../sandboxes/sandboxes.js';
import { homeAt, packageRoot } from '../support/home.js';
import { armCanaries } from './canaries.js';

let folder: string;
let attemptFolder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'm4bench-canaries-'));
  for (const name of ['references', 'datasets', 'campaigns/c/runs/r/attempts/1', 'farm'])
    mkdirSync(join(folder, name), { recursive: true });
  // Open to everyone, so that nothing but the sandbox keeps the agent out.
  chmodSync(folder, 0o755);
  attemptFolder = join(folder, 'campaigns/c/runs/r/attempts/1');
  writeFileSync(join(folder, 'farm', 'stays.parquet'), 'rows');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = 'sk-planted-0123456789abcdef';

async function report(
  sandbox: Sandbox,
  inputs: readonly InputMount[] = [],
  environment: Readonly<Record<string, string>> = {},
  markers: string[] = [],
): Promise<CanaryReport> {
  const armed = await armCanaries(homeAt(folder), { attemptFolder, sandbox, inputs, secrets: [SECRET] });
  markers.push(...armed.markers);
  try {
    const prepared = await sandbox.prepare({
      inputs,
      workFiles: armed.workFiles,
      limits: {
        timeoutSeconds: 60,
        memoryBytes: 1e9,
        processes: 200,
        workBytes: 1e8,
        streamBytes: 1e6,
      },
    });
    const withEnvironment = {
      workPath: prepared.workPath,
      execute: (command: Parameters<typeof prepared.execute>[0]) =>
        prepared.execute({ ...command, environment: { ...command.environment, ...environment } }),
    };
    try {
      return await armed.probe({ ...prepared, ...withEnvironment } as typeof prepared);
    } finally {
      await prepared[Symbol.asyncDispose]();
    }
  } finally {
    await armed[Symbol.asyncDispose]();
  }
}

/** The planted files of a folder that hold one of these markers; other tests plant in the repository meanwhile. */
const leftIn = (place: string, markers: readonly string[]): readonly string[] =>
  readdirSync(place)
    .filter((name) => name.startsWith('.m4bench-canary-'))
    .filter((name) => {
      try {
        return markers.includes(readFileSync(join(place, name), 'utf8'));
      } catch {
        return false; // removed meanwhile by the test that planted it
      }
    });

const broken = (found: CanaryReport): readonly string[] =>
  [...found.checks, ...found.controls].filter(({ held }) => !held).map(({ name }) => name);

const bubblewrap = sandboxOf('bubblewrap');
const works = (await bubblewrap.probe()).available;
if (!works) console.warn('Skipped: bubblewrap does not work here');

describe.runIf(works)('canaries in bubblewrap', () => {
  it('hold, every control sees what is exposed on purpose, and nothing planted stays behind', async () => {
    const inputs = [{ source: join(folder, 'farm'), target: '/tmp/m4b/0123456789ab/data' }];
    const markers: string[] = [];
    const found = await report(bubblewrap, inputs, {}, markers);
    expect(markers.length).toBeGreaterThanOrEqual(5);
    expect(broken(found)).toEqual([]);
    expect(found.passed).toBe(true);
    expect(found.controls).toHaveLength(5);
    expect(found.checks.length).toBeGreaterThanOrEqual(19);
    expect(found.seconds).toBeLessThan(5);
    for (const place of [folder, attemptFolder, join(folder, 'references'), packageRoot()])
      expect(leftIn(place, markers)).toEqual([]);
  });

  it.each([
    ['the home folder under its own path', (): InputMount => ({ source: folder, target: folder })],
    ['the home folder under another name', (): InputMount => ({ source: folder, target: '/opt/elsewhere' })],
  ])('fail when %s is shown inside', async (_name, input) => {
    const names = broken(await report(bubblewrap, [input()]));
    expect(names).toContain('no planted marker is found by name');
    if (input().target === folder) {
      expect(names).toContain('the home folder cannot be read');
      expect(names).toContain('the folder of references cannot be read');
      expect(names).toContain("the run's own record cannot be read");
    }
  });

  it('fail when the repository is shown inside', async () => {
    const names = broken(await report(bubblewrap, [{ source: packageRoot(), target: '/opt/repository' }]));
    expect(names).toContain('no planted marker is found by name');
  });

  it('fail when a key is handed in', async () => {
    expect(broken(await report(bubblewrap, [], { ANY_NAME: SECRET }))).toEqual([
      'no key is in the environment',
    ]);
  });

  it('fail when the probe does not come to its end', async () => {
    const found = await report(bubblewrap, [], { NODE_OPTIONS: '--no-such-option' });
    expect(found.passed).toBe(false);
    expect(broken(found)).toEqual(['the probe came to its end']);
  });
});

describe('canaries without isolation', () => {
  it('fail on nearly everything', async () => {
    const inputs = [{ source: join(folder, 'farm'), target: join(folder, 'copy', 'data') }];
    const names = broken(await report(sandboxOf('process'), inputs));
    for (const name of [
      'the home folder cannot be read',
      'the repository cannot be read',
      'no port of the host is reached',
      'no abstract socket of the host is reached',
      'the orchestrator is not among the processes',
      'no mount but scratch space is writable',
    ])
      expect(names).toContain(name);
  });
});
