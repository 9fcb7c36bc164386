import type { RunRow } from '../analysis/run-row.js';
import { runTable } from '../analysis/run-tables.js';
import {
  cellFormatOf,
  type formatCell,
  printedTable,
  type Table,
  type TableValue,
  withoutDull,
} from '../analysis/tables.js';
import type { GridCell, GridProps } from './components/grid.js';
import type { Site } from './site.js';

/** A table of the analysis as a grid: the printed texts, sorted by the raw values. */
export function gridOfTable(name: string, table: Table, caption = table.title ?? name): GridProps {
  const { columns, rows, isNumeric } = printedTable(table);
  // Printed columns that are made of one raw column sort by it.
  const sources = table.print?.map(({ from }) => from[0]!) ?? table.columns;
  return {
    name,
    caption,
    columns: columns.map((header, column) => ({
      header,
      isNumeric: isNumeric[column] === true,
    })),
    rows: rows.map((cells, row) =>
      cells.map((text, column): GridCell => {
        const raw = table.rows[row]![sources[column]!] ?? null;
        return typeof raw === 'number' && Number.isFinite(raw)
          ? [text, raw]
          : text === 'NA'
            ? [text, null]
            : text;
      }),
    ),
  };
}

/** Columns of the table of runs that a first look needs, with words for a reader. */
const runColumns: readonly (readonly [column: string, header: string, hasChoices?: boolean])[] = [
  ['task', 'Task', true],
  ['condition', 'Condition', true],
  ['schema', 'Schema', true],
  ['agent', 'Agent', true],
  ['model', 'Model', true],
  ['effort', 'Effort', true],
  ['dataset', 'Dataset', true],
  ['trial', 'Trial'],
  ['reward', 'Reward'],
  ['rewardRobust', 'Robust'],
  ['keyF1', 'Key F1'],
  ['passed', 'Checks passed'],
  ['failed', 'Checks failed'],
  ['seconds', 'Seconds'],
  ['inputTokens', 'Tokens in'],
  ['outputTokens', 'Tokens out'],
  ['cost', 'Cost'],
];

/** Columns that are left out when every run has the same value in them. */
const dull = ['schema', 'agent', 'model', 'effort', 'dataset', 'inputTokens', 'outputTokens', 'cost'];

/** How a run ended, in a word. */
export function stateOf(row: Pick<RunRow, 'reward' | 'failure' | 'errors'>): string {
  if (row.reward === null) return 'unjudged';
  if (row.failure === 'agent') return 'agent failed';
  return row.errors > 0 ? 'unreadable output' : 'judged';
}

export interface RunGridOptions {
  readonly name?: string;
  readonly caption?: string;
  /** All of one task: the task is not said again in every row. */
  readonly isOneTask?: boolean;
}

/** The runs, each leading to its page: the table `runs` of the analysis in short. */
export function runGrid(rows: readonly RunRow[], site: Site, options: RunGridOptions = {}): GridProps {
  const table = runTable(rows);
  const kept = withoutDull(table, dull).columns;
  const columns = runColumns.filter(
    ([column]) => kept.includes(column) && !(options.isOneTask && column === 'task'),
  );
  const isNumber = new Set([
    'trial',
    'reward',
    'rewardRobust',
    'keyF1',
    'passed',
    'failed',
    'seconds',
    'inputTokens',
    'outputTokens',
    'cost',
  ]);
  const formats = columns.map(([column]) => cellFormatOf(table.rows.map((row) => row[column])));
  return {
    name: options.name ?? 'runs',
    caption: options.caption ?? 'Runs',
    columns: [
      ...columns.map(([column, header, hasChoices = false]) => ({
        header,
        isNumeric: isNumber.has(column),
        hasChoices,
      })),
      { header: 'State', hasChoices: true },
      { header: 'Publishable', hasChoices: true },
    ],
    rows: table.rows.map((row, index) => [
      ...columns.map(([column], place) =>
        cellOf(row[column] ?? null, formats[place]!, place === 0 ? site.run(rows[index]!.runId) : undefined),
      ),
      stateOf(rows[index]!),
      row.publishable === 'true' ? 'yes' : 'no',
    ]),
    ...(site.compare === undefined
      ? {}
      : { compare: { keys: rows.map(({ runId }) => runId), href: site.compare } }),
  };
}

function cellOf(value: TableValue, format: typeof formatCell, href: string | undefined): GridCell {
  const text = format(value);
  const order = typeof value === 'number' ? value : value === null ? null : text;
  if (href !== undefined) return [text, order, href];
  return typeof value === 'string' ? text : [text, order];
}
