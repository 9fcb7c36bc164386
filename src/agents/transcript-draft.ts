import type { TokenCounts } from './agent.js';
import type { ToolCall, TraceFormat, Transcript, Turn, TurnTokens } from './transcript.js';

/** Bounds of what is kept: a trace is hostile input, and a page must stay readable. */
const MAX_TURNS = 10_000;
const MAX_CALLS = 20_000;
const MAX_NAMES = 100;
const MAX_ERRORS = 200;
const MAX_NAME = 200;
const MAX_ERROR = 2_000;
const MAX_TEXT = 20_000;
const MAX_ALL_TEXT = 32 * 1024 * 1024;

/** A text that grows up to the bound; what is beyond is counted. */
interface BoundedText {
  kept: string;
  leftOut: number;
}

interface DraftCall {
  readonly tool: string;
  readonly command: BoundedText | undefined;
  readonly input: BoundedText | undefined;
  output: BoundedText | undefined;
  exitCode: number | null;
  status: ToolCall['status'];
  startedAt: number | undefined;
  endedAt: number | undefined;
}

interface DraftTurn {
  model: string | undefined;
  startedAt: number | undefined;
  endedAt: number | undefined;
  tokens: TurnTokens | undefined;
  readonly reasoning: BoundedText;
  readonly text: BoundedText;
  readonly calls: DraftCall[];
}

/**
 * A transcript while a trace is read. Readers say what they see with the functions below, in whatever order the
 * format brings it; bounds, cuts and the shape are kept here, so that they are the same for all formats.
 * All times are milliseconds since 1970.
 */
export interface TranscriptDraft {
  readonly format: TraceFormat;
  readonly turns: DraftTurn[];
  readonly turnByKey: Map<string, DraftTurn>;
  readonly calls: Map<string, DraftCall>;
  /** Calls without a result so far. */
  openCalls: number;
  readonly models: Set<string>;
  readonly skills: Set<string>;
  readonly errors: string[];
  textLeft: number;
  cliVersion: string | null;
  from: number | undefined;
  to: number | undefined;
  /** The CLI's own statement of its duration. */
  seconds: number | undefined;
  tokens: TokenCounts | null;
  finalText: BoundedText | undefined;
  ending: Transcript['ending'];
  /** The last request to the model failed. */
  lastReplyFailed: boolean;
  unreadableLines: number;
  unknownEvents: number;
}

export function newDraft(format: TraceFormat): TranscriptDraft {
  return {
    format,
    turns: [],
    turnByKey: new Map(),
    calls: new Map(),
    openCalls: 0,
    models: new Set(),
    skills: new Set(),
    errors: [],
    textLeft: MAX_ALL_TEXT,
    cliVersion: null,
    from: undefined,
    to: undefined,
    seconds: undefined,
    tokens: null,
    finalText: undefined,
    ending: 'unstated',
    lastReplyFailed: false,
    unreadableLines: 0,
    unknownEvents: 0,
  };
}

/** Records the version that the CLI states. */
export function noteVersion(draft: TranscriptDraft, version: string | undefined): void {
  if (version) draft.cliVersion = version.slice(0, MAX_NAME);
}

/** Records a model that the trace names. */
export function noteModel(draft: TranscriptDraft, name: string | undefined): void {
  if (name && draft.models.size < MAX_NAMES) draft.models.add(name.slice(0, MAX_NAME));
}

/** Records a skill that the CLI says it knows. */
export function noteSkill(draft: TranscriptDraft, name: string): void {
  if (draft.skills.size < MAX_NAMES) draft.skills.add(name.slice(0, MAX_NAME));
}

/** Marks a moment of the run; the first is its begin and the last its end. */
export function noteMoment(draft: TranscriptDraft, time: number | undefined): void {
  if (time === undefined || isoOf(time) === null) return;
  draft.from = Math.min(draft.from ?? time, time);
  draft.to = Math.max(draft.to ?? time, time);
}

/** An error that the CLI reports; one that repeats the last is left out. */
export function noteError(draft: TranscriptDraft, text: string | undefined): void {
  const shown = text?.slice(0, MAX_ERROR);
  if (shown && shown !== draft.errors.at(-1) && draft.errors.length < MAX_ERRORS) draft.errors.push(shown);
}

export interface TurnFacts {
  readonly model?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly tokens?: TurnTokens | undefined;
}

/** Begins a turn, or returns to the one that began with this key. */
export function beginTurn(draft: TranscriptDraft, facts: TurnFacts = {}, key?: string): void {
  const known = key === undefined ? undefined : draft.turnByKey.get(key);
  if (known === undefined && draft.turns.length < MAX_TURNS) {
    const turn: DraftTurn = {
      model: undefined,
      startedAt: undefined,
      endedAt: undefined,
      tokens: undefined,
      reasoning: { kept: '', leftOut: 0 },
      text: { kept: '', leftOut: 0 },
      calls: [],
    };
    draft.turns.push(turn);
    if (key !== undefined) draft.turnByKey.set(key, turn);
  }
  describeTurn(draft, facts, key);
}

/**
 * For traces that do not say where a reply of the model begins: begins a turn when the current one has used its tools
 * and got all their results.
 */
export function beginReply(draft: TranscriptDraft, facts: TurnFacts = {}): void {
  const current = draft.turns.at(-1);
  if (current === undefined || (current.calls.length > 0 && draft.openCalls === 0)) beginTurn(draft, facts);
}

/** Adds facts to the turn of a key, or to the current one; the first begin and the last end hold. */
export function describeTurn(draft: TranscriptDraft, facts: TurnFacts, key?: string): void {
  const turn = (key === undefined ? undefined : draft.turnByKey.get(key)) ?? draft.turns.at(-1);
  if (turn === undefined) return;
  noteModel(draft, facts.model);
  noteMoment(draft, facts.startedAt);
  noteMoment(draft, facts.endedAt);
  turn.model = facts.model?.slice(0, MAX_NAME) ?? turn.model;
  turn.tokens = facts.tokens ?? turn.tokens;
  turn.startedAt ??= facts.startedAt;
  turn.endedAt = facts.endedAt ?? turn.endedAt;
}

/** Adds what the model said; `glue` stands between it and what it said before in this turn. */
export function addText(draft: TranscriptDraft, text: string | undefined, glue = '\n'): void {
  if (!text) return;
  const turn = currentTurn(draft);
  extend(draft, turn.text, text, glue);
  draft.finalText = turn.text;
}

/** Adds what the model thought. */
export function addReasoning(draft: TranscriptDraft, text: string | undefined, glue = '\n'): void {
  if (text) extend(draft, currentTurn(draft).reasoning, text, glue);
}

export interface CallFacts {
  readonly tool: string;
  /** The shell command, where the tool is a shell. */
  readonly command?: string | undefined;
  /** Further arguments. */
  readonly input?: unknown;
  readonly startedAt?: number | undefined;
}

/** Records the use of a tool; the same id again only adds when it began. */
export function addCall(draft: TranscriptDraft, id: string, facts: CallFacts): void {
  noteMoment(draft, facts.startedAt);
  const known = draft.calls.get(id);
  if (known !== undefined) {
    known.startedAt ??= facts.startedAt;
    return;
  }
  if (draft.calls.size >= MAX_CALLS) return;
  const call: DraftCall = {
    tool: facts.tool.slice(0, MAX_NAME),
    command: facts.command === undefined ? undefined : bounded(draft, facts.command),
    input: facts.input === undefined ? undefined : bounded(draft, jsonOf(facts.input)),
    output: undefined,
    exitCode: null,
    status: 'unanswered',
    startedAt: facts.startedAt,
    endedAt: undefined,
  };
  draft.calls.set(id, call);
  draft.openCalls += 1;
  currentTurn(draft).calls.push(call);
}

export interface ResultFacts {
  readonly output?: string | undefined;
  readonly exitCode?: number | null | undefined;
  readonly isFailed?: boolean | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
}

/** Records the result of a call; the result of one that was never made is passed over. */
export function addResult(draft: TranscriptDraft, id: string, facts: ResultFacts): void {
  const call = draft.calls.get(id);
  if (call === undefined) return;
  if (call.status === 'unanswered') draft.openCalls -= 1;
  if (call.output === undefined || facts.output) call.output = bounded(draft, facts.output ?? '');
  if (Number.isSafeInteger(facts.exitCode)) call.exitCode = facts.exitCode!;
  call.status = facts.isFailed || (call.exitCode ?? 0) !== 0 ? 'failed' : 'completed';
  call.startedAt = facts.startedAt ?? call.startedAt;
  call.endedAt = facts.endedAt ?? call.endedAt;
  noteMoment(draft, facts.startedAt);
  noteMoment(draft, facts.endedAt);
}

/** Adds to the totals of the run. */
export function addTokens(draft: TranscriptDraft, tokens: TokenCounts): void {
  const before = draft.tokens;
  draft.tokens = {
    input: (before?.input ?? 0) + tokens.input,
    cachedInput: (before?.cachedInput ?? 0) + tokens.cachedInput,
    cacheWrite: (before?.cacheWrite ?? 0) + tokens.cacheWrite,
    output: (before?.output ?? 0) + tokens.output,
    reasoning: (before?.reasoning ?? 0) + tokens.reasoning,
  };
}

/** The agent's last words, where they are not those of its last turn. */
export function noteFinalText(draft: TranscriptDraft, text: string | undefined): void {
  if (text) draft.finalText = bounded(draft, text);
}

/** The transcript of everything that was recorded. */
export function finishDraft(draft: TranscriptDraft): Transcript {
  let cutTexts = 0;
  const shown = (text: BoundedText): string => {
    if (text.leftOut === 0) return text.kept;
    cutTexts += 1;
    return `${text.kept}\n[${text.leftOut} more characters]`;
  };
  const turns: Turn[] = draft.turns.map((turn) => ({
    model: turn.model ?? null,
    startedAt: turn.startedAt === undefined ? null : isoOf(turn.startedAt),
    seconds: secondsBetween(turn.startedAt, turn.endedAt),
    tokens: turn.tokens ?? null,
    reasoning: shown(turn.reasoning),
    text: shown(turn.text),
    calls: turn.calls.map((call) => ({
      tool: call.tool,
      command: call.command === undefined ? null : shown(call.command),
      input: call.input === undefined ? '' : shown(call.input),
      output: call.output === undefined ? null : shown(call.output),
      exitCode: call.exitCode,
      status: call.status,
      startedAt: call.startedAt === undefined ? null : isoOf(call.startedAt),
      seconds: secondsBetween(call.startedAt, call.endedAt),
    })),
  }));
  const finalText = draft.finalText === undefined ? null : shown(draft.finalText);
  return {
    schemaVersion: 1,
    format: draft.format,
    cliVersion: draft.cliVersion,
    models: [...draft.models],
    skills: [...draft.skills],
    startedAt: draft.from === undefined ? null : isoOf(draft.from),
    seconds: draft.seconds ?? secondsBetween(draft.from, draft.to),
    turns,
    // A sum over a part of the run is none of the run.
    tokens: draft.ending === 'unstated' ? null : draft.tokens,
    finalText,
    errors: draft.errors,
    ending: draft.ending,
    timing: turns.some((turn) => turn.startedAt !== null) ? 'trace' : 'none',
    damage: { unreadableLines: draft.unreadableLines, unknownEvents: draft.unknownEvents, cutTexts },
  };
}

function currentTurn(draft: TranscriptDraft): DraftTurn {
  if (draft.turns.length === 0) beginTurn(draft);
  return draft.turns.at(-1)!;
}

function bounded(draft: TranscriptDraft, text: string): BoundedText {
  const result = { kept: '', leftOut: 0 };
  extend(draft, result, text, '');
  return result;
}

function extend(draft: TranscriptDraft, text: BoundedText, more: string, glue: string): void {
  const added = text.kept === '' ? more : glue + more;
  const room = Math.max(0, Math.min(MAX_TEXT - text.kept.length, draft.textLeft));
  // Once something is missing nothing further is kept, so that the text is a beginning and no patchwork.
  const taken = text.leftOut > 0 ? '' : added.slice(0, room);
  text.kept += taken;
  text.leftOut += added.length - taken.length;
  draft.textLeft -= taken.length;
}

function jsonOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** ISO 8601, or null for a number that is no moment of this century. */
function isoOf(time: number): string | null {
  return time >= Date.UTC(2000) && time < Date.UTC(2100) ? new Date(time).toISOString() : null;
}

function secondsBetween(from: number | undefined, to: number | undefined): number | null {
  if (from === undefined || to === undefined) return null;
  const seconds = (to - from) / 1000;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1000) / 1000 : null;
}
