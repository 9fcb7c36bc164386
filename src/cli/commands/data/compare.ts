import { Command } from 'commander';
import { type Table, toMarkdown, toText } from '../../../analysis/tables.js';
import type { ComparedMeasure, Comparison, Summary } from '../../../datasets/comparison.js';
import { openDataset } from '../../../datasets/dataset.js';
import { compareDatasets } from '../../../references/compare-datasets.js';
import { contextOf } from '../../context.js';

interface CompareCommandOptions {
  readonly measures?: string;
  readonly check?: boolean;
  readonly markdown?: boolean;
}

/** `m4bench data compare`. */
export function compareCommand(): Command {
  return new Command('compare')
    .description(
      'two datasets side by side: rows, items, levels, missing values and scores, each with a distance',
    )
    .argument('<first>', 'the dataset that is judged, for example mimic-iv-synthetic')
    .argument('<second>', 'the dataset it is compared with, for example mimic-iv-demo')
    .option('--check', 'exit code 1 when a distance is beyond its bound')
    .option('--measures <file>', 'own measures and bounds (TOML), default those of the kind of database')
    .option('--markdown', 'tables as Markdown')
    .action(async (first: string, second: string, options: CompareCommandOptions, command: Command) => {
      const context = contextOf(command);
      const comparison = await compareDatasets(
        context.home,
        await openDataset(context.home, first),
        await openDataset(context.home, second),
        {
          progress: context.progress,
          ...(options.measures === undefined ? {} : { measuresFile: options.measures }),
        },
      );
      const print = options.markdown === true ? toMarkdown : toText;
      for (const table of tablesOf(comparison, first, second)) context.say(`${print(table)}\n`);
      const beyond = [...comparison.measures, ...comparison.figures].filter((entry) => !entry.isWithin);
      const total = comparison.measures.length + comparison.figures.length;
      context.say(`${total - beyond.length} of ${total} within their bounds, ${beyond.length} beyond.`);
      context.json({ first, second, ...comparison });
      if (options.check === true && beyond.length > 0) process.exitCode = 1;
    });
}

function tablesOf(comparison: Comparison, first: string, second: string): readonly Table[] {
  const measures: Table = {
    columns: ['group', 'measure', first, second, 'distance', 'bound', 'within'],
    rows: comparison.measures.map((measure) => ({
      group: measure.group,
      measure: measure.name,
      [first]: summaryText(measure.first),
      [second]: summaryText(measure.second),
      distance: distanceText(measure),
      bound: String(measure.bound),
      within: measure.isWithin ? 'yes' : 'NO',
    })),
  };
  if (comparison.figures.length === 0) return [measures];
  const figures: Table = {
    columns: ['published', 'statistic', 'figure', first, second, 'bound', 'within'],
    rows: comparison.figures.map((figure) => ({
      published: figure.name,
      statistic: figure.statistic,
      figure: String(figure.published),
      [first]: figure.first === null ? '-' : shortNumber(figure.first),
      [second]: figure.second === null ? '-' : shortNumber(figure.second),
      bound: `±${figure.within}`,
      within: figure.isWithin ? 'yes' : 'NO',
    })),
  };
  return [measures, figures];
}

function distanceText({ distance, value }: ComparedMeasure): string {
  return value === null ? '-' : `${distance.toUpperCase()} ${value.toFixed(3)}`;
}

/** `n: 5 % [25 % median 75 %] 95 %`, a share, or the commonest categories. */
function summaryText(summary: Summary | null): string {
  if (summary === null) return 'none';
  const n = summary.n.toLocaleString('en');
  if ('categories' in summary) {
    const shown = summary.categories
      .slice(0, 2)
      .map(({ category, share }) => `${clipped(category)} ${(100 * share).toFixed(0)} %`);
    return `${n}: ${shown.join(', ')}`;
  }
  const [low, ...rest] = summary.quantiles;
  if (low === 0 && rest.every((value) => value === 0 || value === 1) && summary.mean <= 1)
    return `${n}: ${(100 * summary.mean).toFixed(1)} %`;
  const [q5, q25, q50, q75, q95] = summary.quantiles.map(shortNumber);
  return `${n}: ${q5} [${q25} ${q50} ${q75}] ${q95}`;
}

function clipped(text: string): string {
  return text.length <= 24 ? text : `${text.slice(0, 23)}…`;
}

/** Three significant digits, whole numbers in full. */
function shortNumber(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
