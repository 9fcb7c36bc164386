import type { ToolCall, Transcript } from '../agents/transcript.js';
import type { LintFinding } from '../runs/gates.js';
import { wordsOf } from './ngrams.js';

/** Repositories and sites that publish definitions of the very concepts that tasks ask for. */
export const PUBLIC_CONCEPT_SOURCES: readonly string[] = [
  'mit-lcp/mimic-code',
  'mit-lcp/mimic-iv',
  'mit-lcp/eicu-code',
  'mimic-code',
  'eicu-code',
  'mimic.mit.edu',
  'eicu-crd.mit.edu',
  'physionet.org',
];

/** Tools that fetch from the internet, by the names that CLIs give them, without signs and in lower case. */
const WEB_TOOLS = new Set([
  'websearch',
  'webfetch',
  'googlewebsearch',
  'googlesearch',
  'urlcontext',
  'browser',
  'fetch',
]);

/** Programs and calls that fetch what an address names. */
const FETCHERS = new Set([
  'curl',
  'wget',
  'git',
  'gh',
  'aria2c',
  'urlopen',
  'urlretrieve',
  'requests',
  'httpx',
  'aiohttp',
  'fetch',
  'pip',
  'pip3',
  'npm',
  'read_csv',
  'read_parquet',
  'read_html',
  'httpfs',
]);

/** Signs in an output that nothing was fetched or opened. */
const FAILED =
  /could not resolve|couldn't connect|failed to connect|connection refused|network is unreachable|name resolution|enotfound|eai_again|enetunreach|econnrefused|timed out|no such file|permission denied|not found|does not exist|catalog error|cannot open|unable to access/i;

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** What a lint of tool calls looks for. */
export interface ToolCallRules {
  /** Qualified, lower case: `mimiciv_derived.sofa`. */
  readonly removedRelations: readonly string[];
  /** Host folders that hold answers; empty when they are not known. */
  readonly protectedFolders: readonly string[];
}

/** Pieces of a command that stand for themselves: split at blanks, quotes and the signs of shells and programs. */
function piecesOf(text: string): readonly string[] {
  return text.split(/[\s"'`()<>|;&,={}[\]\\]+/).filter((piece) => piece !== '');
}

function hostOf(piece: string): string | undefined {
  const match =
    /^(?:https?|ftp|git|ssh):\/\/[^/]/i.test(piece) && URL.canParse(piece) ? new URL(piece) : null;
  if (match !== null) return match.hostname.toLowerCase();
  return /^git@([a-z0-9.-]+):/i.exec(piece)?.[1]?.toLowerCase();
}

/**
 * Whether a call got something: it ended well, said something, and does not say that it found nothing. A command may
 * hide its exit status, so the output is looked at as well.
 */
function gotSomething(call: ToolCall): boolean {
  if (call.status !== 'completed' || (call.exitCode ?? 0) !== 0) return false;
  return (call.output ?? '').trim() !== '' && !FAILED.test(call.output ?? '');
}

const finding = (code: string, got: boolean, where: string, detail: string): LintFinding => ({
  code: got ? code : `${code}-tried`,
  severity: got ? 'violation' : 'note',
  where,
  detail: detail.slice(0, 300),
});

/** The word of a tool in the shape of `WEB_TOOLS`. */
const plainName = (tool: string): string => tool.toLowerCase().replace(/[^a-z]/g, '');

function webTool(call: ToolCall, where: string): readonly LintFinding[] {
  if (!WEB_TOOLS.has(plainName(call.tool))) return [];
  return [
    finding('web-tool', call.status === 'completed' && !FAILED.test(call.output ?? ''), where, call.tool),
  ];
}

/** Addresses that a command hands to something that fetches. A mere mention, in an echo or a comment, is none. */
function fetches(text: string, call: ToolCall, where: string): readonly LintFinding[] {
  const found: LintFinding[] = [];
  for (const line of text.split(/\r?\n|\\n/)) {
    const pieces = piecesOf(line.replace(/(^|\s)(#|--\s).*$/, '$1'));
    const programs = pieces.flatMap((piece) => piece.split(/[./:]/)).map((word) => word.toLowerCase());
    if (!programs.some((word) => FETCHERS.has(word))) continue;
    for (const piece of pieces) {
      const host = hostOf(piece);
      if (host === undefined || LOOPBACK.test(host)) continue;
      const isPublic = PUBLIC_CONCEPT_SOURCES.some((source) => piece.toLowerCase().includes(source));
      found.push(
        finding(isPublic ? 'public-repository' : 'external-fetch', gotSomething(call), where, piece),
      );
    }
  }
  return found;
}

/** Files opened below folders that hold answers, or copies of public repositories on disk. */
function openedFiles(
  text: string,
  call: ToolCall,
  where: string,
  folders: readonly string[],
): readonly LintFinding[] {
  const found: LintFinding[] = [];
  for (const piece of piecesOf(text)) {
    if (!piece.includes('/') || hostOf(piece) !== undefined) continue;
    if (folders.some((folder) => piece === folder || piece.startsWith(`${folder}/`)))
      found.push(
        finding('protected-file', gotSomething(call), where, 'a path of the host that holds answers'),
      );
    else if (/(^|\/)(mimic[-_]code|eicu[-_]code)(\/|$)/i.test(piece))
      found.push(finding('public-repository', gotSomething(call), where, piece));
  }
  return found;
}

/** Qualified names that follow FROM or JOIN, and those that the same text creates. */
function relationsIn(text: string): {
  readonly read: ReadonlySet<string>;
  readonly made: ReadonlySet<string>;
} {
  const words = wordsOf(text).filter((word) => word !== '"');
  const read = new Set<string>();
  const made = new Set<string>();
  for (let at = 0; at + 3 < words.length; at += 1) {
    const name = words[at + 2] === '.' ? `${words[at + 1]}.${words[at + 3]}` : undefined;
    if (name === undefined) continue;
    if (words[at] === 'from' || words[at] === 'join' || words[at] === ',') read.add(name);
    if (words[at] === 'table' || words[at] === 'view' || words[at] === 'exists') made.add(name);
  }
  return { read, made };
}

/**
 * What an agent did with its tools that would give it the answer. What was opened or fetched counts; what was tried
 * in vain is a note, and a mention is nothing: instructions themselves name public conventions.
 */
export function lintToolCalls(transcript: Transcript, rules: ToolCallRules): readonly LintFinding[] {
  const found: LintFinding[] = [];
  const made = new Set<string>();
  const calls = transcript.turns.flatMap((turn) => turn.calls);
  for (const [at, call] of calls.entries()) {
    const where = `tool call ${at + 1}`;
    const text = `${call.command ?? ''}\n${call.input}`;
    found.push(...webTool(call, where), ...fetches(text, call, where));
    found.push(...openedFiles(text, call, where, rules.protectedFolders));
    const relations = relationsIn(text);
    for (const name of relations.made) made.add(name);
    // A relation of that name may be the agent's own.
    for (const name of rules.removedRelations)
      if (relations.read.has(name) && !made.has(name))
        found.push(finding('removed-relation', gotSomething(call), where, name));
  }
  const seen = new Set<string>();
  return found.filter((one) => {
    const key = JSON.stringify(one);
    return !seen.has(key) && seen.add(key) !== undefined;
  });
}

/** Everything an agent wrote through its tools, for comparison with the reference. */
export function writtenTexts(transcript: Transcript): readonly string[] {
  return transcript.turns.flatMap((turn) =>
    turn.calls.flatMap(({ command, input }) => [command ?? '', unescaped(input)]),
  );
}

/** Arguments come as JSON text, in which line ends and quotes are escaped. */
function unescaped(json: string): string {
  try {
    return textsIn(JSON.parse(json)).join('\n');
  } catch {
    return json;
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
