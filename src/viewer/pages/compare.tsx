import type { Transcript } from '../../agents/transcript.js';
import { formatFixed } from '../../analysis/number-format.js';
import { formatCell } from '../../analysis/tables.js';
import type { RunResult } from '../../runs/result.js';
import { pageHtml } from '../components/layout.js';
import { Scroll } from '../components/scroll.js';
import { Text } from '../components/text.js';
import type { DiffLine } from '../line-diff.js';
import type { Site } from '../site.js';
import { wentWrong } from '../went-wrong.js';

/** A file that at least one of two runs was given. */
export interface GivenFile {
  readonly path: string;
  /** Undefined where the file is the same on both sides. */
  readonly lines: readonly DiffLine[] | undefined;
  readonly only: 'a' | 'b' | null;
}

/** One of the two. */
export interface Side {
  readonly result: RunResult;
  readonly href: string;
  readonly transcript: Transcript | undefined;
}

export interface ComparePageProps {
  readonly campaign: string;
  readonly site: Site;
  readonly a: Side;
  readonly b: Side;
  readonly given: readonly GivenFile[];
}

/** Two runs side by side: what differs in what was asked, given, done and scored. */
export function compareHtml({ campaign, site, a, b, given }: ComparePageProps): string {
  return pageHtml({
    title: `Comparison: ${a.result.runId} and ${b.result.runId}`,
    site,
    campaign,
    place: 'runs',
    trail: [{ text: 'Runs', href: site.runs }],
    children: (
      <>
        <h1>Two runs side by side</h1>
        <Scores a={a} b={b} />
        <Columns a={a.result} b={b.result} />
        <section aria-labelledby="wrong">
          <h2 id="wrong">Where each went wrong</h2>
          <div class="sides">
            <Wrong result={a.result} />
            <Wrong result={b.result} />
          </div>
        </section>
        <Given given={given} />
        <section aria-labelledby="commands">
          <h2 id="commands">What each did</h2>
          <div class="sides">
            <Commands side={a} />
            <Commands side={b} />
          </div>
        </section>
      </>
    ),
  });
}

const facts: readonly (readonly [string, (result: RunResult) => string | number | null])[] = [
  ['task', ({ cell }) => cell.task],
  ['condition', ({ cell }) => cell.condition],
  ['schema', ({ cell }) => cell.schema],
  ['agent', ({ cell }) => cell.agent],
  ['model', ({ cell }) => cell.model ?? 'default'],
  ['effort', ({ cell }) => cell.effort],
  ['way to the model', ({ cell }) => cell.auth ?? 'key'],
  ['dataset', ({ cell }) => cell.dataset],
  ['trial', ({ trial }) => trial],
  ['status', ({ status }) => status],
  ['failure', ({ failureReason }) => failureReason ?? 'none'],
  ['reward', ({ reward }) => reward],
  ['robust reward', ({ rewardRobust }) => rewardRobust],
  ['key F1', ({ evaluation }) => evaluation?.keyF1 ?? null],
  ['extra keys', ({ evaluation }) => evaluation?.extraKeys ?? null],
  ['missing keys', ({ evaluation }) => evaluation?.missingKeys ?? null],
  ['seconds', ({ seconds }) => seconds.total],
  ['tokens in', ({ tokens }) => tokens?.input ?? null],
  ['tokens out', ({ tokens }) => tokens?.output ?? null],
  ['US dollars', ({ cost }) => cost],
  ['skills opened', ({ skill }) => skill.opened.join(', ') || 'none'],
];

function Scores({ a, b }: { readonly a: Side; readonly b: Side }) {
  return (
    <Scroll label="Both runs">
      <table class="compared" data-table="compared">
        <thead>
          <tr>
            <th scope="col">
              <span class="unshown">Fact</span>
            </th>
            {[a, b].map(({ result, href }, index) => (
              <th key={index} scope="col">
                <a href={href}>{result.runId}</a>
              </th>
            ))}
            <th scope="col" class="number">
              second − first
            </th>
          </tr>
        </thead>
        <tbody>
          {facts.map(([name, pick]) => {
            const [left, right] = [pick(a.result), pick(b.result)];
            return (
              <tr key={name} class={left === right ? undefined : 'differs'}>
                <th scope="row">{name}</th>
                <td>
                  <Text value={formatCell(left)} />
                </td>
                <td>
                  <Text value={formatCell(right)} />
                </td>
                <td class="number">{differenceOf(left, right)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function differenceOf(left: string | number | null, right: string | number | null): string {
  if (typeof left !== 'number' || typeof right !== 'number' || left === right) return '';
  const difference = right - left;
  const text = Number.isInteger(difference) ? String(difference) : formatFixed(difference);
  return difference > 0 ? `+${text}` : text;
}

function Columns({ a, b }: { readonly a: RunResult; readonly b: RunResult }) {
  const rates = [a, b].map(({ evaluation }) => evaluation?.matchRates ?? {});
  const columns = [...new Set(rates.flatMap((side) => Object.keys(side)))];
  if (columns.length === 0) return null;
  return (
    <section aria-labelledby="columns">
      <h2 id="columns">Match rate by column</h2>
      <Scroll label="Match rate by column">
        <table class="compared" data-table="compared-columns">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col" class="number">
                First
              </th>
              <th scope="col" class="number">
                Second
              </th>
              <th scope="col" class="number">
                second − first
              </th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => {
              const [left, right] = rates.map((side) => side[column] ?? null) as [
                number | null,
                number | null,
              ];
              return (
                <tr key={column} class={left === right ? undefined : 'differs'}>
                  <th scope="row">
                    <code>
                      <Text value={column} />
                    </code>
                  </th>
                  <td class="number">{formatCell(left)}</td>
                  <td class="number">{formatCell(right)}</td>
                  <td class="number">{differenceOf(left, right)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Wrong({ result }: { readonly result: RunResult }) {
  const sentences =
    result.evaluation === null
      ? [result.failureReason ?? 'No output was judged.']
      : wentWrong(result.evaluation);
  return (
    <ul>
      {(sentences.length === 0 ? ['Nothing: all matches.'] : sentences).map((sentence) => (
        <li key={sentence}>
          <Text value={sentence} />
        </li>
      ))}
    </ul>
  );
}

/** Lines of the same text that are kept around a change. */
const around = 3;

function Given({ given }: { readonly given: readonly GivenFile[] }) {
  return (
    <section aria-labelledby="given">
      <h2 id="given">What each was given</h2>
      {given.length === 0 ? <p>The attempts hold no copy of what they were given.</p> : null}
      {given.map(({ path, lines, only }) => (
        <details key={path} class="given" open={lines !== undefined}>
          <summary>
            <code>
              <Text value={path} />
            </code>{' '}
            <span class="hint">
              {lines === undefined
                ? 'the same'
                : only === null
                  ? 'differs'
                  : only === 'a'
                    ? 'first only'
                    : 'second only'}
            </span>
          </summary>
          {lines === undefined ? null : <Diff lines={lines} />}
        </details>
      ))}
    </section>
  );
}

function Diff({ lines }: { readonly lines: readonly DiffLine[] }) {
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same');
  let isGap = false;
  return (
    <pre class="diff">
      {lines.map(({ kind, text }, index) => {
        if (kind === 'same' && !isNear(index)) {
          const wasGap = isGap;
          isGap = true;
          return wasGap ? null : (
            <span key={index} class="gap">
              {'…\n'}
            </span>
          );
        }
        isGap = false;
        const sign = { same: '  ', removed: '− ', added: '+ ' }[kind];
        return (
          <span key={index} class={kind}>
            {sign}
            <Text value={text} />
            {'\n'}
          </span>
        );
      })}
    </pre>
  );
}

const mostCommands = 200;

function Commands({ side }: { readonly side: Side }) {
  const calls = (side.transcript?.turns ?? []).flatMap((turn, index) =>
    turn.calls.map((call) => ({ turn: index + 1, call })),
  );
  if (calls.length === 0) return <p class="hint">No tool was used, or the trace does not say.</p>;
  return (
    <ol class="commands">
      {calls.slice(0, mostCommands).map(({ turn, call }, index) => (
        <li key={index} class={call.status}>
          <span class="hint">turn {turn}</span>
          <pre class="command">
            <Text value={(call.command ?? `${call.tool} ${call.input}`).slice(0, 2_000)} />
          </pre>
          {call.status === 'failed' ? <span class="hint">failed</span> : null}
        </li>
      ))}
      {calls.length > mostCommands ? <li>{calls.length - mostCommands} more</li> : null}
    </ol>
  );
}
