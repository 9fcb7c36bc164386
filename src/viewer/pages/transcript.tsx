import type { ToolCall, Transcript, Turn } from '../../agents/transcript.js';
import { formatThousands } from '../../analysis/number-format.js';
import { Facts } from '../components/bits.js';
import { pageHtml } from '../components/layout.js';
import { Text } from '../components/text.js';
import type { Site } from '../site.js';
import { timeText } from '../time-text.js';
import { shownCharacters, type TranscriptPage, type TurnPart } from '../transcript-pages.js';

export interface TranscriptPageProps {
  readonly campaign: string;
  readonly site: Site;
  readonly runId: string;
  readonly attempt: number;
  readonly page: TranscriptPage;
  readonly search: string;
}

/** A page of a transcript: turns with their tool calls folded. */
export function transcriptHtml(props: TranscriptPageProps): string {
  const { campaign, site, runId, attempt, page, search } = props;
  const here = `${site.attempt(runId, attempt)!}/transcript`;
  return pageHtml({
    title: `Transcript of ${runId}`,
    site,
    campaign,
    place: 'runs',
    trail: runTrail(site, runId),
    children: (
      <>
        <h1>
          Transcript <span class="thin">attempt {attempt}</span>
        </h1>
        <TranscriptFacts transcript={page.transcript} />
        {page.transcript.errors.map((error) => (
          <p key={error} class="failure">
            <Text value={error} />
          </p>
        ))}
        <form class="controls" method="get" action={here}>
          <label>
            <span class="unshown">Search the transcript</span>
            <input type="search" name="search" data-filter placeholder="Search ( / )" value={search} />
          </label>
          <button type="submit">Search</button>
          <output class="count">
            {search === ''
              ? `${page.transcript.turns.length} turns`
              : `${page.found} of ${page.transcript.turns.length} turns`}
          </output>
          <button type="button" data-fold-all>
            Open or close all ( e )
          </button>
          <span class="hint">j and k go from turn to turn</span>
        </form>
        <Pager here={here} page={page} search={search} />
        {page.turns.map(({ number, turn }) => (
          <TurnView key={number} number={number} turn={turn} here={here} search={search} />
        ))}
        {page.transcript.turns.length === 0 && page.transcript.finalText !== null ? (
          <section>
            <h2>Last words</h2>
            <pre>
              <Text value={page.transcript.finalText} />
            </pre>
          </section>
        ) : null}
        <Pager here={here} page={page} search={search} />
      </>
    ),
  });
}

/** From the campaign to a page below a run. */
export function runTrail(
  site: Site,
  runId: string,
): readonly { readonly text: string; readonly href: string }[] {
  return [
    { text: 'Runs', href: site.runs },
    { text: runId, href: site.run(runId) },
  ];
}

function TranscriptFacts({ transcript }: { readonly transcript: Transcript }) {
  const { tokens, damage } = transcript;
  return (
    <Facts
      facts={[
        ['agent', `${transcript.format} ${transcript.cliVersion ?? ''}`.trim()],
        ['models', transcript.models.join(', ')],
        ['started', transcript.startedAt === null ? null : timeText(transcript.startedAt)],
        ['seconds', transcript.seconds === null ? null : transcript.seconds.toFixed(1)],
        ['tools used', String(transcript.turns.reduce((sum, turn) => sum + turn.calls.length, 0))],
        ['tokens in', tokens === null ? null : formatThousands(tokens.input)],
        ['tokens out', tokens === null ? null : formatThousands(tokens.output)],
        ['ended', transcript.ending],
        ['unreadable lines', damage.unreadableLines === 0 ? null : String(damage.unreadableLines)],
        ['texts cut in the transcript', damage.cutTexts === 0 ? null : String(damage.cutTexts)],
      ]}
    />
  );
}

function Pager({
  here,
  page,
  search,
}: {
  readonly here: string;
  readonly page: TranscriptPage;
  readonly search: string;
}) {
  if (page.pages === 1) return null;
  const to = (number: number): string =>
    `${here}?page=${number}${search === '' ? '' : `&search=${encodeURIComponent(search)}`}`;
  return (
    <nav class="pager" aria-label="Pages of the transcript">
      {page.page > 1 ? (
        <a class="button" rel="prev" href={to(page.page - 1)}>
          Previous
        </a>
      ) : null}
      <span>
        Page {page.page} of {page.pages}
      </span>
      {page.page < page.pages ? (
        <a class="button" rel="next" href={to(page.page + 1)}>
          Next
        </a>
      ) : null}
      {page.page < page.pages - 1 ? (
        <a class="button" href={to(page.pages)}>
          Last
        </a>
      ) : null}
    </nav>
  );
}

interface TurnProps {
  readonly number: number;
  readonly turn: Turn;
  readonly here: string;
  readonly search: string;
}

function TurnView({ number, turn, here, search }: TurnProps) {
  const facts = [
    turn.model,
    turn.tokens === null ? null : `context ${formatThousands(turn.tokens.input)} tokens`,
    turn.tokens?.output == null ? null : `${formatThousands(turn.tokens.output)} out`,
    turn.seconds === null ? null : `${turn.seconds.toFixed(1)} s`,
  ].filter((fact) => fact !== null);
  const part = (name: TurnPart, call?: number): string =>
    `${here}/part?turn=${number}${call === undefined ? '' : `&call=${call}`}&part=${name}`;
  return (
    <article class="turn" data-turn={number} tabIndex={-1} aria-labelledby={`turn-${number}`}>
      <h2 id={`turn-${number}`}>
        Turn {number} <span class="hint">{facts.join(' · ')}</span>
      </h2>
      {turn.reasoning === '' ? null : (
        <details>
          <summary>Reasoning</summary>
          <CutText value={turn.reasoning} whole={part('reasoning')} />
        </details>
      )}
      {turn.text === '' ? null : <CutText value={turn.text} whole={part('text')} kind="said" />}
      {turn.calls.map((call, index) => (
        <CallView
          key={index}
          call={call}
          isOpen={search !== '' && holds(call, search)}
          part={(name) => part(name, index + 1)}
        />
      ))}
    </article>
  );
}

function holds(call: ToolCall, search: string): boolean {
  const wanted = search.toLowerCase();
  return [call.command, call.input, call.output].some((text) => text?.toLowerCase().includes(wanted));
}

function CallView({
  call,
  isOpen,
  part,
}: {
  readonly call: ToolCall;
  readonly isOpen: boolean;
  readonly part: (name: TurnPart) => string;
}) {
  const state = [
    call.status === 'completed' ? null : call.status,
    call.exitCode === null || call.exitCode === 0 ? null : `exit status ${call.exitCode}`,
    call.seconds === null ? null : `${call.seconds.toFixed(1)} s`,
    call.output === null ? null : `${formatThousands(call.output.length)} characters back`,
  ].filter((fact) => fact !== null);
  return (
    <details class={`call ${call.status}`} open={isOpen}>
      <summary>
        <b>
          <Text value={call.tool} />
        </b>{' '}
        <code>
          <Text value={firstLine(call.command ?? call.input)} />
        </code>{' '}
        <span class="hint">{state.join(' · ')}</span>
      </summary>
      {call.command === null ? null : <CutText value={call.command} whole={part('command')} kind="command" />}
      {call.input === '' ? null : <CutText value={call.input} whole={part('input')} kind="command" />}
      {call.output === null ? (
        <p class="hint">The trace ends before the result.</p>
      ) : (
        <CutText value={call.output} whole={part('output')} />
      )}
    </details>
  );
}

/** The beginning of a text, and the way to all of it. */
function CutText({
  value,
  whole,
  kind = '',
}: {
  readonly value: string;
  readonly whole: string;
  readonly kind?: string;
}) {
  const isCut = value.length > shownCharacters;
  return (
    <>
      <pre class={kind}>
        <Text value={isCut ? value.slice(0, shownCharacters) : value} />
      </pre>
      {isCut ? (
        <p class="hint">
          <a href={whole}>All {formatThousands(value.length)} characters</a>
        </p>
      ) : null}
    </>
  );
}

const longestLine = 140;

function firstLine(text: string): string {
  const line = text.trimStart().split('\n', 1)[0]!;
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

export interface TextPageProps {
  readonly campaign: string;
  readonly site: Site;
  readonly runId: string;
  readonly title: string;
  readonly text: string;
  /** Where this part lies, in words. */
  readonly place: string;
  readonly previous: string | null;
  readonly next: string | null;
  readonly back: { readonly text: string; readonly href: string };
}

/** A part of a long text: of a file, or of something an agent wrote. */
export function textPageHtml(props: TextPageProps): string {
  const pager = (
    <nav class="pager" aria-label="Parts">
      {props.previous === null ? null : (
        <a class="button" rel="prev" href={props.previous}>
          Previous
        </a>
      )}
      <span>{props.place}</span>
      {props.next === null ? null : (
        <a class="button" rel="next" href={props.next}>
          Next
        </a>
      )}
    </nav>
  );
  return pageHtml({
    title: props.title,
    site: props.site,
    campaign: props.campaign,
    place: 'runs',
    trail: [...runTrail(props.site, props.runId), props.back],
    children: (
      <>
        <h1>
          <Text value={props.title} />
        </h1>
        {pager}
        <pre>
          <Text value={props.text} />
        </pre>
        {pager}
      </>
    ),
  });
}
