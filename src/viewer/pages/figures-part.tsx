import { renderToString } from 'preact-render-to-string';
import type { Analysis } from '../../analysis/analyze.js';
import { Chart } from '../components/bits.js';

/** Figures that belong on the first page, in this order; the rest stands with the tables. */
const onOverview = [/^figure02-skill-delta-forest/, /^reward-heatmap/];

/** Place of a figure on the first page; negative when it has none. */
const placeOf = (name: string): number => onOverview.findIndex((pattern) => pattern.test(name));

/** What each figure shows, for those who cannot see it. */
const descriptions: readonly (readonly [RegExp, string])[] = [
  [
    /^figure02-skill-delta-forest/,
    'One line per task: reward with the skill minus reward without it, with an interval from the trials where there are several. Right of the dashed line the skill helped. The same numbers are in the table task-deltas.',
  ],
  [
    /^figure02-skill-delta-heatmap/,
    'The same differences as signed numbers, tasks down and campaigns across. The same numbers are in the table task-deltas.',
  ],
  [
    /^reward-heatmap/,
    'Mean reward of every task (down) under every condition and model (across), from 0 to 1. The same numbers are in the table cells.',
  ],
  [
    /^schema-slopes/,
    'Mean reward under the native, obfuscated and restructured schema, a thin line per task and a thick one for the mean.',
  ],
  [
    /^reward-against/,
    'A dot per cell: mean reward against what its runs used on average, on a logarithmic axis. The same numbers are in the tables cells and cost.',
  ],
  [
    /^score-distributions/,
    'How the rewards of single runs are spread between 0 and 1, by condition and model.',
  ],
  [/^arm-means/, 'Mean reward over tasks of each condition and model, with an interval over tasks.'],
];

/** A figure of the analysis, drawn. */
export interface DrawnFigure {
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

/** Draws figures of an analysis as SVG, without a browser; all, or those of the first page. */
export async function drawFigures(
  figures: Analysis['figures'],
  of: 'all' | 'overview' = 'all',
): Promise<readonly DrawnFigure[]> {
  const wanted = Object.entries(figures).filter(([name]) => of === 'all' || placeOf(name) >= 0);
  if (wanted.length === 0) return [];
  // Loaded only when something is drawn: it takes longer to load than most pages to make.
  const { renderSvg } = await import('../../analysis/render-figure.js');
  const drawn: DrawnFigure[] = [];
  for (const [name, figure] of wanted) {
    const title = typeof figure.title === 'string' ? figure.title : name;
    drawn.push({ name, title, svg: await renderSvg(figure) });
  }
  return drawn;
}

/** Charts of the first page, or all others. */
export function Figures({
  drawn,
  of,
}: {
  readonly drawn: readonly DrawnFigure[];
  readonly of: 'overview' | 'rest';
}) {
  const chosen = drawn
    .filter(({ name }) => placeOf(name) >= 0 === (of === 'overview'))
    .sort((a, b) => placeOf(a.name) - placeOf(b.name));
  return (
    <>
      {chosen.map(({ name, title, svg }) => (
        <Chart
          key={name}
          name={name}
          title={title}
          description={descriptions.find(([pattern]) => pattern.test(name))?.[1] ?? ''}
          svg={svg}
        />
      ))}
    </>
  );
}

/** The figures as a part of a page that is already there. */
export function figuresPartHtml(drawn: readonly DrawnFigure[], of: 'overview' | 'rest'): string {
  return renderToString(<Figures drawn={drawn} of={of} />);
}
