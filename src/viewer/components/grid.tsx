import { useEffect, useId, useMemo, useState } from 'preact/hooks';
import { Scroll } from './scroll.js';
import { Text } from './text.js';

/** A column of a grid. */
export interface GridColumn {
  readonly header: string;
  readonly isNumeric?: boolean;
  /** How its cells are drawn, beside the usual. */
  readonly kind?: 'truth' | 'answer';
  /** Offer its values as a filter. */
  readonly hasChoices?: boolean;
}

/** Text, what to sort by where that is not the text, and where it leads. */
export type GridCell = string | readonly [text: string, order: number | string | null, href?: string];

/** A table that can be sorted, filtered and paged; plain data, so that a page can hand it to the browser. */
export interface GridProps {
  /** Name of the table in the analysis, or of its own. */
  readonly name: string;
  readonly caption: string;
  readonly columns: readonly GridColumn[];
  readonly rows: readonly (readonly GridCell[])[];
  /** Rows shown at once, default 100. */
  readonly pageRows?: number;
  /** Rows can be chosen and compared two by two: a value per row, and the page that takes `a` and `b`. */
  readonly compare?: { readonly keys: readonly string[]; readonly href: string };
}

interface Order {
  readonly column: number;
  readonly isDescending: boolean;
}

/** Text that stays on one line. */
const shortText = 44;

const textOf = (cell: GridCell): string => (typeof cell === 'string' ? cell : cell[0]);
const orderOf = (cell: GridCell): number | string | null => (typeof cell === 'string' ? cell : cell[1]);

/** Indices of the rows that hold every word and every chosen value, in the order asked for. */
export function shownRows(
  rows: GridProps['rows'],
  words: string,
  choices: Readonly<Record<number, string>>,
  order: Order | null,
): readonly number[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = Object.entries(choices).filter(([, value]) => value !== '');
  const found = rows.flatMap((row, index) => {
    const isChosen = chosen.every(([column, value]) => textOf(row[Number(column)] ?? '') === value);
    if (!isChosen) return [];
    if (wanted.length === 0) return [index];
    const text = row.map(textOf).join('\n').toLowerCase();
    return wanted.every((word) => text.includes(word)) ? [index] : [];
  });
  if (order === null) return found;
  const direction = order.isDescending ? -1 : 1;
  const key = (index: number) => orderOf(rows[index]![order.column] ?? '');
  return [...found].sort((a, b) => compared(key(a), key(b), direction) || a - b);
}

/** Missing values stand last whatever the direction. */
function compared(a: number | string | null, b: number | string | null, direction: number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === 'number' && typeof b === 'number') return direction * (a - b);
  const numbers = [Number(a), Number(b)] as const;
  if (a !== '' && b !== '' && numbers.every(Number.isFinite)) return direction * (numbers[0] - numbers[1]);
  const [left, right] = [String(a), String(b)];
  return direction * (left < right ? -1 : left > right ? 1 : 0);
}

/** The grid; the server renders its first page, the browser takes over from there. */
export function Grid(props: GridProps) {
  const { columns, rows, pageRows = 100 } = props;
  const [words, setWords] = useState('');
  const [choices, setChoices] = useState<Readonly<Record<number, string>>>({});
  const [order, setOrder] = useState<Order | null>(null);
  const [page, setPage] = useState(0);
  const [isWhole, setWhole] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  useStartingFilter(setWords);
  usePrintWhole(setWhole);
  const shown = useMemo(() => shownRows(rows, words, choices, order), [rows, words, choices, order]);
  const pages = Math.max(1, Math.ceil(shown.length / pageRows));
  const current = Math.min(page, pages - 1);
  const visible = isWhole ? shown : shown.slice(current * pageRows, (current + 1) * pageRows);
  const sortBy = (column: number): void => {
    setPage(0);
    // Numbers are mostly looked at from the largest.
    const first = columns[column]!.isNumeric === true;
    setOrder((before) => ({
      column,
      isDescending: before?.column === column ? !before.isDescending : first,
    }));
  };
  const choose = (key: string): void =>
    setChosen((before) =>
      before.includes(key) ? before.filter((other) => other !== key) : [...before, key].slice(-2),
    );
  return (
    <div class="grid">
      {rows.length > 8 || props.compare !== undefined ? (
        <GridControls
          {...props}
          words={words}
          choices={choices}
          shown={shown.length}
          chosen={chosen}
          onWords={(text) => {
            setPage(0);
            setWords(text);
          }}
          onChoice={(column, value) => {
            setPage(0);
            setChoices((before) => ({ ...before, [column]: value }));
          }}
        />
      ) : null}
      <Scroll label={props.caption}>
        <table data-table={props.name}>
          <caption class="unshown">{props.caption}</caption>
          <GridHead {...props} order={order} onSort={sortBy} />
          <tbody>
            {visible.map((index) => (
              <tr key={index}>
                {props.compare === undefined ? null : (
                  <td class="choice">
                    <input
                      type="checkbox"
                      aria-label={`Compare ${rows[index]!.slice(0, 4).map(textOf).join(' ')}`}
                      checked={chosen.includes(props.compare.keys[index]!)}
                      onChange={() => choose(props.compare!.keys[index]!)}
                    />
                  </td>
                )}
                {rows[index]!.map((cell, column) => (
                  <GridCellView key={column} cell={cell} column={columns[column]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {pages > 1 ? (
        <GridPager
          page={current}
          pages={pages}
          isWhole={isWhole}
          onPage={setPage}
          onWhole={() => setWhole((before) => !before)}
        />
      ) : null}
    </div>
  );
}

/** `?filter=…` of the page's address, so that other pages can lead to a part of a table. */
function useStartingFilter(setWords: (words: string) => void): void {
  useEffect(() => {
    const given = new URLSearchParams(location.search).get('filter');
    if (given !== null) setWords(given);
  }, []);
}

/** Paper has no next page button. */
function usePrintWhole(setWhole: (isWhole: boolean) => void): void {
  useEffect(() => {
    const before = (): void => setWhole(true);
    const after = (): void => setWhole(false);
    addEventListener('beforeprint', before);
    addEventListener('afterprint', after);
    return () => {
      removeEventListener('beforeprint', before);
      removeEventListener('afterprint', after);
    };
  }, []);
}

interface GridControlsProps extends GridProps {
  readonly words: string;
  readonly choices: Readonly<Record<number, string>>;
  readonly shown: number;
  readonly chosen: readonly string[];
  readonly onWords: (words: string) => void;
  readonly onChoice: (column: number, value: string) => void;
}

function GridControls(props: GridControlsProps) {
  const id = useId();
  const choosable = useMemo(
    () =>
      props.columns.flatMap(({ hasChoices }, column) => {
        if (hasChoices !== true) return [];
        const values = [...new Set(props.rows.map((row) => textOf(row[column] ?? '')))].sort();
        return values.length > 1 && values.length <= 100 ? [{ column, values }] : [];
      }),
    [props.columns, props.rows],
  );
  const [a, b] = props.chosen;
  return (
    <div class="controls">
      <label>
        <span class="unshown">Filter {props.caption}</span>
        <input
          type="search"
          data-filter
          placeholder="Filter ( / )"
          value={props.words}
          onInput={(event) => props.onWords(event.currentTarget.value)}
        />
      </label>
      {choosable.map(({ column, values }) => (
        <span key={column} class="choice-of">
          <label for={`${id}-${column}`}>{props.columns[column]!.header}</label>{' '}
          <select
            id={`${id}-${column}`}
            value={props.choices[column] ?? ''}
            onChange={(event) => props.onChoice(column, event.currentTarget.value)}
          >
            <option value="">all</option>
            {values.map((value) => (
              <option key={value} value={value}>
                {value}
              </option>
            ))}
          </select>
        </span>
      ))}
      <output class="count">
        {props.shown === props.rows.length
          ? `${props.rows.length} rows`
          : `${props.shown} of ${props.rows.length} rows`}
      </output>
      {props.compare === undefined ? null : a !== undefined && b !== undefined ? (
        <a
          class="button"
          href={`${props.compare.href}?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`}
        >
          Compare the two chosen
        </a>
      ) : (
        <span class="hint">choose two to compare</span>
      )}
    </div>
  );
}

function GridHead({
  columns,
  compare,
  order,
  onSort,
}: GridProps & { readonly order: Order | null; readonly onSort: (column: number) => void }) {
  return (
    <thead>
      <tr>
        {compare === undefined ? null : (
          <th scope="col">
            <span class="unshown">Compare</span>
          </th>
        )}
        {columns.map(({ header, isNumeric }, column) => {
          const sorted =
            order?.column === column ? (order.isDescending ? 'descending' : 'ascending') : 'none';
          return (
            <th key={column} scope="col" aria-sort={sorted} class={isNumeric ? 'number' : undefined}>
              <button type="button" onClick={() => onSort(column)}>
                {header}
                <span class={`arrow ${sorted}`} aria-hidden="true" />
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function GridCellView({
  cell,
  column,
}: {
  readonly cell: GridCell;
  readonly column: GridColumn | undefined;
}) {
  const href = typeof cell === 'string' ? undefined : cell[2];
  const value = textOf(cell);
  const text = <Text value={value} />;
  const width = column?.isNumeric ? 'number' : value.length <= shortText ? 'short' : '';
  const kind = [width, column?.kind ?? ''].filter(Boolean).join(' ') || undefined;
  return <td class={kind}>{href === undefined ? text : <a href={href}>{text}</a>}</td>;
}

function GridPager({
  page,
  pages,
  isWhole,
  onPage,
  onWhole,
}: {
  readonly page: number;
  readonly pages: number;
  readonly isWhole: boolean;
  readonly onPage: (page: number) => void;
  readonly onWhole: () => void;
}) {
  return (
    <div class="pager">
      {isWhole ? null : (
        <>
          <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
            Previous
          </button>
          <span>
            Page {page + 1} of {pages}
          </span>
          <button type="button" disabled={page === pages - 1} onClick={() => onPage(page + 1)}>
            Next
          </button>
        </>
      )}
      <button type="button" onClick={onWhole}>
        {isWhole ? 'Show pages' : 'Show all rows'}
      </button>
    </div>
  );
}
