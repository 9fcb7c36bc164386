import type { ToolCall, Transcript, Turn } from './transcript.js';

/** A transcript as one page without scripts and without anything from elsewhere; all of its text is escaped. */
export function transcriptHtml(transcript: Transcript, options: { readonly title: string }): string {
  const title = escaped(options.title);
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title><style>${STYLE}</style></head><body>`,
    `<h1>${title}</h1>`,
    header(transcript),
    ...transcript.errors.map((error) => `<p class="error">${escaped(error)}</p>`),
    ...transcript.turns.map(turnSection),
    ending(transcript),
    '</body></html>',
    '',
  ].join('\n');
}

const STYLE = [
  'body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}',
  'h1{font-size:1.3rem}h2{font-size:1rem;margin:1.5rem 0 .3rem;border-top:1px solid #ccc;padding-top:.6rem}',
  'dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{color:#555}dd{margin:0}',
  'pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;padding:.6rem;margin:.3rem 0;font-size:13px}',
  'summary{cursor:pointer}.failed>summary,.error{color:#a00000}.note{color:#555}',
  '@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}pre{background:#242424}dt,.note{color:#a8a8a8}.failed>summary,.error{color:#ff8a80}}',
].join('');

function header(transcript: Transcript): string {
  const { tokens, damage } = transcript;
  const facts: readonly (readonly [string, string | null])[] = [
    [
      'agent',
      transcript.cliVersion === null ? transcript.format : `${transcript.format} ${transcript.cliVersion}`,
    ],
    ['models', transcript.models.join(', ') || null],
    ['started', transcript.startedAt],
    ['duration', secondsText(transcript.seconds)],
    ['turns', String(transcript.turns.length)],
    ['tools used', String(transcript.turns.reduce((sum, turn) => sum + turn.calls.length, 0))],
    [
      'tokens',
      tokens === null
        ? 'not stated'
        : `${tokens.input} in (${tokens.cachedInput} from cache, ${tokens.cacheWrite} to cache), ${tokens.output} out`,
    ],
    ['skills known', transcript.skills.join(', ') || null],
    ['ended', transcript.ending],
    [
      'trace',
      damage.unreadableLines + damage.unknownEvents + damage.cutTexts === 0
        ? null
        : `${damage.unreadableLines} unreadable lines, ${damage.unknownEvents} unknown events, ${damage.cutTexts} shortened texts`,
    ],
  ];
  const rows = facts.flatMap(([name, value]) =>
    value === null ? [] : [`<dt>${name}</dt><dd>${escaped(value)}</dd>`],
  );
  return `<dl>${rows.join('')}</dl>`;
}

function turnSection(turn: Turn, index: number): string {
  const facts = [
    turn.model,
    turn.tokens === null ? null : `context ${turn.tokens.input} tokens`,
    turn.tokens?.output == null ? null : `${turn.tokens.output} out`,
    secondsText(turn.seconds),
  ].filter((fact) => fact !== null);
  return [
    `<section><h2>Turn ${index + 1}</h2>`,
    facts.length === 0 ? '' : `<p class="note">${escaped(facts.join(', '))}</p>`,
    turn.reasoning === ''
      ? ''
      : `<details><summary>Reasoning</summary><pre>${escaped(turn.reasoning)}</pre></details>`,
    turn.text === '' ? '' : `<pre>${escaped(turn.text)}</pre>`,
    ...turn.calls.map(callBlock),
    '</section>',
  ].join('');
}

function callBlock(call: ToolCall): string {
  const state = [
    call.status === 'completed' ? null : call.status,
    call.exitCode === null || call.exitCode === 0 ? null : `exit status ${call.exitCode}`,
    secondsText(call.seconds),
  ].filter((fact) => fact !== null);
  const what = call.command === null ? call.tool : `${call.tool}: ${firstLine(call.command)}`;
  return [
    `<details${call.command === null ? '' : ' open'}${call.status === 'failed' ? ' class="failed"' : ''}>`,
    `<summary>${escaped([what, ...state].join(', '))}</summary>`,
    call.command === null ? '' : `<pre>${escaped(call.command)}</pre>`,
    call.input === '' ? '' : `<pre>${escaped(call.input)}</pre>`,
    call.output === null
      ? '<p class="note">no result in the trace</p>'
      : `<pre>${escaped(call.output)}</pre>`,
    '</details>',
  ].join('');
}

function ending(transcript: Transcript): string {
  const { finalText } = transcript;
  // Shown once: mostly it is what the last turn said.
  if (finalText === null || finalText === transcript.turns.at(-1)?.text) return '';
  return `<section><h2>Last words</h2><pre>${escaped(finalText)}</pre></section>`;
}

function secondsText(seconds: number | null): string | null {
  return seconds === null ? null : `${seconds.toFixed(1)} s`;
}

function firstLine(text: string): string {
  const line = text.split('\n', 1)[0]!;
  return line.length > 120 ? `${line.slice(0, 120)}…` : line;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters, which HTML has no form for, and marks that turn the reading direction. */
const UNSHOWABLE = /[^\P{Cc}\n\t]|\p{Cs}|[\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Text for HTML, in elements and in quoted attributes. */
export function escaped(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/[&<>"']/g, (character) => ESCAPES[character]!)
    .replace(UNSHOWABLE, '\uFFFD');
}
