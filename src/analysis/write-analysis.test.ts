import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Analysis } from './analyze.js';
import type { Figure } from './figures.js';
import { toCsv, toJson, toLatex, toMarkdown } from './tables.js';
import { analysisDocument, analysisMarkdown, writeAnalysisFiles } from './write-analysis.js';

const table = { title: 'Effects', columns: ['a'], rows: [{ a: Number.NaN }] };
const figure = {
  mark: 'point',
  data: { values: [{ x: 1 }] },
  encoding: { x: { field: 'x', type: 'quantitative' } },
} as Figure;
const analysis: Analysis = {
  tables: { effects: table, runs: { columns: ['runId'], rows: [] } },
  figures: { dots: figure },
  omitted: { power: 'needs two tasks' },
  dataHash: 'abc',
  counts: { runs: 5, unjudged: 1, unpublishable: 2, dropped: 3 },
  settings: { resamples: 20_000, rng: 'modern' },
};

describe('an analysis as documents', () => {
  it('as JSON: tables with null for what is missing, and all that it was made of', () => {
    expect(analysisDocument(analysis)).toEqual({
      tables: { effects: toJson(table), runs: toJson(analysis.tables.runs!) },
      figures: { dots: figure },
      omitted: { power: 'needs two tasks' },
      dataHash: 'abc',
      counts: analysis.counts,
      settings: analysis.settings,
    });
  });

  it('as Markdown: what a reader must know first, then tables but that of the runs, then what is missing', () => {
    expect(analysisMarkdown(analysis, 'My\nanalysis', ['Not\r\nverified.', 'Second.'])).toBe(
      [
        '# My analysis',
        '',
        '> Not verified.',
        '',
        '> Second.',
        '',
        '20,000 resamples, modern random stream. Rows: sha256 abc.',
        '',
        '5 runs, of which 1 unjudged (in no mean). 2 runs may not be published; 3 were left out.',
        '',
        '## effects',
        '',
        '**Effects**',
        '',
        '| a |',
        '| ---: |',
        '| NA |',
        '',
        '## Not available',
        '',
        '- power: needs two tasks',
        '',
      ].join('\n'),
    );
    expect(analysisMarkdown(analysis, 'T').split('\n').slice(0, 3)).toEqual([
      '# T',
      '',
      '20,000 resamples, modern random stream. Rows: sha256 abc.',
    ]);
  });
});

describe('an analysis as files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4bench-write-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  const ofTables = ['effects', 'runs'].flatMap((name) =>
    ['md', 'csv', 'tex', 'json'].map((format) => `tables/${name}.${format}`),
  );

  it('each table in four formats; figures as specification alone where no drawing is wanted', async () => {
    const written = await writeAnalysisFiles(folder, analysis, {
      title: 'T',
      notices: ['N.'],
      figures: false,
    });
    expect(written).toEqual([...ofTables, 'figures/dots.vl.json', 'report.md', 'analysis.json']);
    expect(await read('tables/effects.md')).toBe(toMarkdown(table));
    expect(await read('tables/effects.csv')).toBe(toCsv(table));
    expect(await read('tables/effects.tex')).toBe(toLatex(table));
    expect(await read('tables/effects.json')).toBe(`${JSON.stringify(toJson(table), null, 2)}\n`);
    expect(await read('figures/dots.vl.json')).toBe(`${JSON.stringify(figure, null, 2)}\n`);
    expect(await read('report.md')).toBe(analysisMarkdown(analysis, 'T', ['N.']));
    expect(JSON.parse(await read('analysis.json'))).toEqual(
      JSON.parse(JSON.stringify(analysisDocument(analysis))),
    );
  });

  it('figures drawn, at twice their size unless told otherwise', async () => {
    /** Pixels across, from the header of the file. */
    const widthOf = async (): Promise<number> =>
      (await readFile(join(folder, 'figures/dots.png'))).readUInt32BE(16);
    const written = await writeAnalysisFiles(folder, { ...analysis, tables: {} }, { title: 'T' });
    expect(written).toEqual([
      'figures/dots.vl.json',
      'figures/dots.svg',
      'figures/dots.png',
      'report.md',
      'analysis.json',
    ]);
    const svg = await read('figures/dots.svg');
    const width = Number(/width="(\d+)"/.exec(svg)![1]);
    expect(await widthOf()).toBe(2 * width);
    await writeAnalysisFiles(folder, { ...analysis, tables: {} }, { title: 'T', pngScale: 1 });
    expect(await widthOf()).toBe(width);
  });
});
