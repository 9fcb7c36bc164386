import { mismatchWords, occurringKinds, sortedValues } from '../../analysis/evaluation-tables.js';
import { formatCount } from '../../analysis/number-format.js';
import { formatCell } from '../../analysis/tables.js';
import type { ColumnMatch, Evaluation, EvaluationExamples } from '../../evaluation/evaluation.js';
import { wentWrong } from '../went-wrong.js';
import { Badge, Bar } from './bits.js';
import { GridIsland } from './island.js';
import { Scroll } from './scroll.js';
import { Text } from './text.js';

/** The numbers of a verdict in one line. */
export function Scores({
  reward,
  rewardRobust,
  evaluation,
}: {
  readonly reward: number | null;
  readonly rewardRobust: number | null;
  readonly evaluation: Evaluation | null;
}) {
  const scores: readonly (readonly [string, string, number | null])[] = [
    ['reward', 'reward', reward],
    ['rewardRobust', 'robust reward', rewardRobust],
    ['keyF1', 'key F1', evaluation?.keyF1 ?? null],
    ['keyPrecision', 'key precision', evaluation?.keyPrecision ?? null],
    ['keyRecall', 'key recall', evaluation?.keyRecall ?? null],
    ['orderedNmae', 'nMAE on matched keys', evaluation?.orderedNmae ?? null],
    ['truthRows', 'reference rows', evaluation?.truthRows ?? null],
    ['outputRows', 'output rows', evaluation?.outputRows ?? null],
  ];
  return (
    <dl class="scores">
      {scores.map(([name, label, value], index) => (
        <div key={name} class={index === 0 ? 'first' : undefined}>
          <dt>{label}</dt>
          <dd data-number={name}>{formatCell(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The verdict on one output: what went wrong in words, then every column, its mismatches and its confusion. */
export function EvaluationView({
  evaluation,
  examples,
  keyColumns,
}: {
  readonly evaluation: Evaluation;
  /** Rows of patients: only on the local machine, never in a report. */
  readonly examples?: EvaluationExamples;
  readonly keyColumns?: readonly string[];
}) {
  return (
    <>
      <WentWrong evaluation={evaluation} />
      <ColumnMatches evaluation={evaluation} />
      {examples === undefined ? null : <Examples examples={examples} keyColumns={keyColumns ?? []} />}
      <Confusions confusion={evaluation.confusion} />
      <Components evaluation={evaluation} />
      <Checks evaluation={evaluation} />
    </>
  );
}

function WentWrong({ evaluation }: { readonly evaluation: Evaluation }) {
  const sentences = wentWrong(evaluation);
  return (
    <section aria-labelledby="went-wrong">
      <h2 id="went-wrong">Where it went wrong</h2>
      {sentences.length === 0 ? (
        <p>Nothing: every row and column matches the reference.</p>
      ) : (
        <ul class="sentences">
          {sentences.map((sentence) => (
            <li key={sentence}>
              <Text value={sentence} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function ColumnMatches({ evaluation }: { readonly evaluation: Evaluation }) {
  const columns = Object.entries(evaluation.columns);
  if (columns.length === 0) return null;
  return (
    <section aria-labelledby="columns">
      <h2 id="columns">Columns</h2>
      <Scroll label="Columns">
        <table data-table="run-columns">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col" colSpan={2}>
                Match rate
              </th>
              <th scope="col" class="number">
                Matched
              </th>
              <th scope="col" class="number">
                Robust
              </th>
              <th scope="col">Compared as</th>
              <th scope="col">How wrong rows are wrong</th>
            </tr>
          </thead>
          <tbody>
            {columns.map(([name, column]) => (
              <ColumnRow key={name} name={name} column={column} evaluation={evaluation} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function ColumnRow({
  name,
  column,
  evaluation,
}: {
  readonly name: string;
  readonly column: ColumnMatch;
  readonly evaluation: Evaluation;
}) {
  const kinds = occurringKinds(evaluation.mismatchKinds[name]);
  const wrong = kinds.reduce((sum, { rows }) => sum + rows, 0);
  const rate = evaluation.matchRates[name];
  return (
    <tr>
      <th scope="row">
        <code>
          <Text value={name} />
        </code>
        {rate === undefined ? <span class="hint"> not scored</span> : null}
      </th>
      <td class="bar-cell">
        <Bar share={column.matchRate} />
      </td>
      <td class="number" data-match-rate={name}>
        {formatCell(rate ?? column.matchRate)}
      </td>
      <td class="number">{formatCount(column.matched, column.total)}</td>
      <td class="number">{formatCell(column.robustMatchRate)}</td>
      <td>{column.comparison}</td>
      <td>
        {kinds.length === 0 ? (
          <span class="hint">–</span>
        ) : (
          <ul class="kinds">
            {kinds.map(({ kind, rows }) => (
              <li key={kind}>
                <Bar share={rows / wrong} kind="bad" /> <b>{rows}</b> {mismatchWords[kind]}
              </li>
            ))}
          </ul>
        )}
      </td>
    </tr>
  );
}

/** The agent's value beside the reference's, a line per row of a patient. */
function Examples({
  examples,
  keyColumns,
}: {
  readonly examples: EvaluationExamples;
  readonly keyColumns: readonly string[];
}) {
  const rows = Object.entries(examples.columns).flatMap(([column, list]) =>
    list.map((example) => ({ column, ...example })),
  );
  if (rows.length === 0) return null;
  const keys = Math.max(...rows.map(({ keys }) => keys.length));
  return (
    <section aria-labelledby="examples" class="private">
      <h2 id="examples">Rows that differ</h2>
      <p class="hint">
        The first few wrong rows of each column, the agent's value beside the reference's; sort by key to see
        what else is wrong in the same row. They are rows of patients and are shown on this machine only: no
        report and no package holds them.
      </p>
      <GridIsland
        name="examples"
        caption="Rows that differ"
        columns={[
          { header: 'Column', hasChoices: true },
          ...Array.from({ length: keys }, (_, key) => ({ header: keyColumns[key] ?? `key ${key + 1}` })),
          { header: 'Reference', kind: 'truth' },
          { header: 'Agent', kind: 'answer' },
        ]}
        rows={rows.map((row) => [
          row.column,
          ...Array.from({ length: keys }, (_, key) => shown(row.keys[key] ?? null)),
          shown(row.truth),
          shown(row.output),
        ])}
      />
    </section>
  );
}

const shown = (value: string | null): string => value ?? 'null or no row';

function Confusions({ confusion }: { readonly confusion: Evaluation['confusion'] }) {
  const columns = Object.entries(confusion).filter(([, counts]) =>
    counts.some(({ truth, output }) => truth !== output),
  );
  if (columns.length === 0) return null;
  return (
    <section aria-labelledby="confusion">
      <h2 id="confusion">Confusion</h2>
      <p class="hint">Rows of the reference by their value there (down) and in the output (across).</p>
      <div class="confusions">
        {columns.map(([column, counts]) => (
          <Confusion key={column} column={column} counts={counts} />
        ))}
      </div>
    </section>
  );
}

function Confusion({
  column,
  counts,
}: {
  readonly column: string;
  readonly counts: Evaluation['confusion'][string];
}) {
  const truths = sortedValues(counts.map(({ truth }) => truth));
  const outputs = sortedValues(counts.flatMap(({ truth, output }) => [truth, output]));
  const rowsOf = new Map(counts.map(({ truth, output, rows }) => [`${truth}\u0000${output}`, rows]));
  const inRow = (truth: string): number =>
    outputs.reduce((sum, output) => sum + (rowsOf.get(`${truth}\u0000${output}`) ?? 0), 0);
  return (
    <Scroll label={`Confusion of ${column}`}>
      <table class="confusion" data-table="confusion">
        <caption>
          <code>
            <Text value={column} />
          </code>
        </caption>
        <thead>
          <tr>
            <th scope="col">reference ↓ output →</th>
            {outputs.map((output) => (
              <th key={output} scope="col" class="number">
                <Text value={output} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {truths.map((truth) => (
            <tr key={truth}>
              <th scope="row">
                <Text value={truth} />
              </th>
              {outputs.map((output) => {
                const rows = rowsOf.get(`${truth}\u0000${output}`) ?? 0;
                const shade = rows === 0 ? 0 : 1 + Math.min(3, Math.floor((4 * rows) / inRow(truth)));
                return (
                  <td key={output} class={`number ${truth === output ? 'right' : 'wrong'} shade${shade}`}>
                    {rows === 0 ? <span class="hint">·</span> : rows}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Components({ evaluation }: { readonly evaluation: Evaluation }) {
  const { components } = evaluation;
  if (components === null || components.rows === 0) return null;
  const columns = Object.entries(components.wrongWith)
    .filter(([, rows]) => rows > 0)
    .sort(([, a], [, b]) => b - a);
  if (columns.length === 0) return null;
  return (
    <section aria-labelledby="components">
      <h2 id="components">
        What is wrong together with <code>{components.column}</code>
      </h2>
      <p class="hint">
        Of {components.rows} rows in which <code>{components.column}</code> is wrong, so many have this column
        wrong too.
      </p>
      <ul class="kinds">
        {columns.map(([column, rows]) => (
          <li key={column}>
            <Bar share={rows / components.rows} kind="bad" /> <b>{rows}</b>{' '}
            <code>
              <Text value={column} />
            </code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Checks({ evaluation }: { readonly evaluation: Evaluation }) {
  return (
    <section aria-labelledby="checks">
      <h2 id="checks">Checks</h2>
      <Scroll label="Checks">
        <table data-table="checks">
          <thead>
            <tr>
              <th scope="col">Check</th>
              <th scope="col">Verdict</th>
              <th scope="col">Detail</th>
            </tr>
          </thead>
          <tbody>
            {evaluation.checks.map(({ name, passed, detail }) => (
              <tr key={name}>
                <th scope="row">
                  <Text value={name} />
                </th>
                <td>
                  <Badge kind={passed ? 'good' : 'bad'}>{passed ? 'passed' : 'failed'}</Badge>
                </td>
                <td>
                  <Text value={detail} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
