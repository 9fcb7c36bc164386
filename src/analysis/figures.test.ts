import { describe, expect, it } from 'vitest';
import { analyze } from './analyze.js';
import type { Figure } from './figures.js';
import { renderPng, renderSvg } from './render-figure.js';
import { armsOf, factsFor, rowWith } from './run-row.fixture.js';
import { runSetOf } from './run-set.js';

const tasks = ['mimic-sofa-24h', 'eicu-gcs', 'own <task> & "more"'];
const used = { tokens: { input: 900, cachedInput: 0, cacheWrite: 0, output: 100 }, cost: 0.5 };
const rows = [
  ...armsOf(
    Object.fromEntries(
      tasks.map((task, index) => [
        task,
        [
          [0.2, 0.3],
          [0.5 + index / 10, 0.6],
        ] as const,
      ]),
    ),
    used,
  ),
  ...armsOf({ 'mimic-sofa-24h': [[0.1], [0.4]] }, { ...used, schema: 'obfuscated' }),
  ...armsOf({ 'mimic-sofa-24h': [[0.1], [0.4]] }, { ...used, campaign: 'other' }),
  rowWith({ task: 'mimic-sofa-24h', condition: 'with-skill-decoy', reward: null }),
];
const analysed = () =>
  analyze(
    runSetOf(
      rows,
      factsFor(tasks, (name) => ({
        family: name.includes('sofa') ? 'sofa' : name.includes('gcs') ? 'gcs' : 'own',
      })),
    ),
    { resamples: 50 },
  );
const names = [
  'figure02-skill-delta-forest',
  'figure02-skill-delta-heatmap',
  'schema-slopes-campaign',
  'reward-heatmap-campaign',
  'reward-heatmap-other',
  'reward-against-tokens',
  'reward-against-cost',
  'reward-against-seconds',
  'score-distributions',
  'arm-means',
];

describe('figures', () => {
  it('are all there', () => {
    const { figures, omitted } = analysed();
    expect(Object.keys(figures)).toEqual(names);
    expect(Object.keys(omitted)).toContain('schema-slopes-other');
  });

  it.each(names)('%s is drawn as SVG and PNG, labels included', async (name) => {
    const svg = await renderSvg(analysed().figures[name]!);
    expect(svg).toMatch(/^<svg[\s\S]*<\/svg>$/);
    const png = renderPng(svg, 1);
    expect([...png.slice(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
    // Without a font the texts would vanish and the picture would be the same as one without any.
    const withoutText = renderPng(svg.replace(/<text[\s\S]*?<\/text>/g, ''), 1);
    expect(png.length).toBeGreaterThan(withoutText.length * 1.1);
  });

  it('group tasks clinically and escape whatever their names hold', async () => {
    const svg = await renderSvg(analysed().figures['figure02-skill-delta-forest']!);
    const places = ['sofa-24h [severity]', 'gcs [neuro]', 'own &lt;task&gt; &amp; '].map((label) =>
      svg.indexOf(label),
    );
    expect(places.every((place) => place > 0)).toBe(true);
    expect([...places].sort((a, b) => a - b)).toEqual(places);
  });

  it('are the same bytes every time', async () => {
    const figure = () => analysed().figures['figure02-skill-delta-forest']!;
    const [first, second] = [await renderSvg(figure()), await renderSvg(figure())];
    // Compared as a boolean: a difference would print both.
    expect(first === second).toBe(true);
    expect(Buffer.compare(renderPng(first, 1), renderPng(second, 1))).toBe(0);
  });

  it('number their clip paths and gradients from 1, however many were drawn before', async () => {
    const gradient = {
      mark: { type: 'point', clip: true },
      data: { values: [{ x: 1 }, { x: 3 }] },
      encoding: {
        x: { field: 'x', type: 'quantitative' },
        color: { field: 'x', type: 'quantitative' },
      },
    } as Figure;
    await renderSvg(gradient);
    const svg = await renderSvg(gradient);
    // Each is named where it is defined and where it is used.
    for (const [name, count] of [
      ['clip1', 1],
      ['gradient_2', 1],
    ] as const) {
      expect(svg.split(`id="${name}"`).length - 1).toBe(count);
      expect(svg).toContain(`url(#${name})`);
    }
    expect(svg.match(/id="(clip|gradient_)\d+"/g)).toHaveLength(2);
  });

  it('a specification that cannot be drawn is an error, not an empty picture', async () => {
    const broken = { mark: 'nothing', data: { values: [] }, encoding: {} } as unknown as Figure;
    await expect(renderSvg(broken)).rejects.toMatchObject({
      code: 'FIGURE_INVALID',
      message: expect.stringMatching(/^A figure could not be drawn: ./),
      remedy: 'Report this with the Vega-Lite specification.',
      party: 'internal',
      cause: expect.any(Error),
    });
  });
});
