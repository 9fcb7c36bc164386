import { cleanForTerminal } from '../support/terminal.js';
import type { ToolCall, Transcript, Turn } from './transcript.js';

const SHOWN_OUTPUT_LINES = 20;

/** A transcript as plain text, safe for a terminal: results are shortened, everything else is whole. */
export function transcriptText(transcript: Transcript): string {
  const { tokens } = transcript;
  const facts = [
    transcript.cliVersion === null ? transcript.format : `${transcript.format} ${transcript.cliVersion}`,
    transcript.models.join(', ') || 'model not stated',
    `${transcript.turns.length} turns`,
    tokens === null ? 'tokens not stated' : `${tokens.input} tokens in, ${tokens.output} out`,
    ...(transcript.seconds === null ? [] : [`${transcript.seconds.toFixed(1)} s`]),
    transcript.ending === 'unstated' ? 'end not stated' : transcript.ending,
  ];
  const last = transcript.turns.at(-1)?.text;
  return [
    facts.join('; '),
    ...transcript.errors.map((error) => `error: ${error}`),
    ...transcript.turns.map(turnText),
    ...(transcript.finalText === null || transcript.finalText === last ? [] : ['', transcript.finalText]),
  ]
    .join('\n')
    .split('\n')
    .map((line) => cleanForTerminal(line.replaceAll('\t', '    ')))
    .join('\n');
}

function turnText(turn: Turn, index: number): string {
  return [
    '',
    `--- turn ${index + 1}${turn.tokens === null ? '' : ` (context ${turn.tokens.input} tokens)`}`,
    ...(turn.reasoning === '' ? [] : [indented(turn.reasoning, '~ ')]),
    ...(turn.text === '' ? [] : [turn.text]),
    ...turn.calls.map(callText),
  ].join('\n');
}

function callText(call: ToolCall): string {
  const what = call.command ?? `${call.tool} ${call.input}`;
  const state =
    call.status === 'completed'
      ? []
      : [
          `  [${call.status}${call.exitCode === null || call.exitCode === 0 ? '' : `, exit status ${call.exitCode}`}]`,
        ];
  const output = call.output?.replace(/\n+$/, '') ?? '';
  const lines = output === '' ? [] : output.split('\n');
  const left = lines.length - SHOWN_OUTPUT_LINES;
  return [
    indented(what, '$ ', '  '),
    ...lines.slice(0, SHOWN_OUTPUT_LINES).map((line) => `  ${line}`),
    ...(left > 0 ? [`  [${left} more lines]`] : []),
    ...state,
  ].join('\n');
}

function indented(text: string, first: string, rest = first): string {
  return text
    .split('\n')
    .map((line, index) => (index === 0 ? first : rest) + line)
    .join('\n');
}
