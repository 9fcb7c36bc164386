import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/support/home.js';

/** The floors of ARCHITECTURE.md; a module imports only from floors below its own. */
const floors: Readonly<Record<string, number>> = {
  support: 0,
  duck: 0,
  datasets: 1,
  concepts: 1,
  references: 1,
  schemas: 1,
  tasks: 1,
  skills: 1,
  agents: 2,
  sandboxes: 2,
  gateway: 2,
  conditions: 2,
  evaluation: 2,
  runs: 3,
  audit: 3,
  campaigns: 4,
  analysis: 5,
  evidence: 5,
  export: 5,
  cli: 6,
  viewer: 6,
};

/**
 * Inside two floors there is an order too: the engine stands on the foundations, and data is built in steps. What
 * an agent is given and how it is run (floor 2) share only the small interface files, as types.
 */
const orderOnFloor: readonly string[] = [
  'support',
  'duck',
  'datasets',
  'concepts',
  'references',
  'tasks',
  'skills',
  'schemas',
  // The audit judges what runs wrote; runs know of it only the shape of its gates.
  'runs',
  'audit',
  // A package repeats tables of the analysis.
  'analysis',
  'evidence',
  // The command line opens the pages.
  'viewer',
  'cli',
];

function isBelow(other: string, own: string): boolean {
  const [lower, upper] = [orderOnFloor.indexOf(other), orderOnFloor.indexOf(own)];
  return floors[other]! < floors[own]! || (floors[other] === floors[own] && lower >= 0 && lower < upper);
}

interface Import {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly isTypeOnly: boolean;
}

const source = join(packageRoot(), 'src');

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(source, file), 'utf8');
  const found: Import[] = [];
  for (const match of text.matchAll(/^(?:import|export)\s+(type\s)?([^;]*?)from '(\.[^']+)';/gms)) {
    const target = relative(source, resolve(source, dirname(file), match[3]!));
    const names = (match[2] ?? '').replace(/[{}]/g, '').split(',');
    const isTypeOnly =
      match[1] !== undefined || names.every((name) => name.trim() === '' || name.trim().startsWith('type '));
    found.push({ file, from: file.split('/')[0]!, to: target.split('/')[0]!, isTypeOnly });
  }
  return found;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file) && file.includes('/'),
);

describe('the floors of the architecture', () => {
  test('every module of src/ has a floor', () => {
    const modules = new Set(files.map((file) => file.split('/')[0]!));
    expect([...modules].filter((name) => floors[name] === undefined)).toEqual([]);
  });

  test('a module imports only from floors below it', () => {
    const wrong = files.flatMap(importsOf).filter(({ from, to, isTypeOnly }) => {
      if (floors[from] === undefined || floors[to] === undefined || from === to) return false;
      if (isBelow(to, from) || (isTypeOnly && floors[to] === floors[from])) return false;
      return true;
    });
    expect(wrong.map(({ file, to }) => `${file} imports ${to}/`)).toEqual([]);
  });
});
