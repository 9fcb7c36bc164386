import { join } from 'node:path';
import { writeFileAtomic, writeJsonAtomic } from '../support/files.js';
import type { Analysis } from './analyze.js';
import { type JsonTable, toCsv, toJson, toLatex, toMarkdown } from './tables.js';

/** The whole analysis as one JSON document, as `analyze --json` prints it. */
export interface AnalysisDocument {
  readonly tables: Readonly<Record<string, JsonTable>>;
  readonly figures: Analysis['figures'];
  readonly omitted: Analysis['omitted'];
  readonly dataHash: string;
  readonly counts: Analysis['counts'];
  readonly settings: Analysis['settings'];
}

/** Raw values with `null` for what is missing, and the printed texts beside them. */
export function analysisDocument(analysis: Analysis): AnalysisDocument {
  return {
    tables: Object.fromEntries(Object.entries(analysis.tables).map(([name, table]) => [name, toJson(table)])),
    figures: analysis.figures,
    omitted: analysis.omitted,
    dataHash: analysis.dataHash,
    counts: analysis.counts,
    settings: analysis.settings,
  };
}

/** All tables as one Markdown document; the table of runs is left to its CSV file. */
export function analysisMarkdown(analysis: Analysis, title: string, notices: readonly string[] = []): string {
  const { settings, counts } = analysis;
  return [
    `# ${title.replace(/[\r\n]+/g, ' ')}`,
    '',
    ...notices.flatMap((notice) => [`> ${notice.replace(/[\r\n]+/g, ' ')}`, '']),
    `${settings.resamples.toLocaleString('en-US')} resamples, ${settings.rng} random stream. Rows: sha256 ${analysis.dataHash}.`,
    '',
    `${counts.runs} runs, of which ${counts.unjudged} unjudged (in no mean). ${counts.unpublishable} runs may not be published; ${counts.dropped} were left out.`,
    '',
    ...Object.entries(analysis.tables)
      .filter(([name]) => name !== 'runs')
      .flatMap(([name, table]) => [`## ${name}`, '', toMarkdown(table)]),
    '## Not available',
    '',
    ...Object.entries(analysis.omitted).map(([name, reason]) => `- ${name}: ${reason}`),
    '',
  ].join('\n');
}

export interface WriteAnalysisOptions {
  readonly title: string;
  /** What a reader must know before the numbers, for example that a dataset is unverified. */
  readonly notices?: readonly string[];
  /** Draw figures as SVG and PNG beside their specifications; default true. */
  readonly figures?: boolean;
  /** Pixels per unit of the PNG, default 2. */
  readonly pngScale?: number;
}

/**
 * Writes `analysis.json`, `report.md`, `tables/<name>.{md,csv,tex,json}` and `figures/<name>.{vl.json,svg,png}`, each
 * file whole or not at all. Returns the paths below `folder`, in the order written.
 */
export async function writeAnalysisFiles(
  folder: string,
  analysis: Analysis,
  options: WriteAnalysisOptions,
): Promise<readonly string[]> {
  const written: string[] = [];
  const write = async (name: string, content: string | Uint8Array): Promise<void> => {
    await writeFileAtomic(join(folder, name), content);
    written.push(name);
  };
  for (const [name, table] of Object.entries(analysis.tables)) {
    await write(`tables/${name}.md`, toMarkdown(table));
    await write(`tables/${name}.csv`, toCsv(table));
    await write(`tables/${name}.tex`, toLatex(table));
    await write(`tables/${name}.json`, `${JSON.stringify(toJson(table), null, 2)}\n`);
  }
  // Loaded only when something is drawn: it takes longer to load than most commands to run.
  const draws = options.figures !== false && Object.keys(analysis.figures).length > 0;
  const render = draws ? await import('./render-figure.js') : undefined;
  for (const [name, figure] of Object.entries(analysis.figures)) {
    await write(`figures/${name}.vl.json`, `${JSON.stringify(figure, null, 2)}\n`);
    if (render === undefined) continue;
    const svg = await render.renderSvg(figure);
    await write(`figures/${name}.svg`, svg);
    await write(`figures/${name}.png`, render.renderPng(svg, options.pngScale ?? 2));
  }
  await write('report.md', analysisMarkdown(analysis, options.title, options.notices));
  await writeJsonAtomic(join(folder, 'analysis.json'), analysisDocument(analysis));
  return [...written, 'analysis.json'];
}
