import { readdirSync, readFileSync } from 'node:fs';

/** One process as `/proc` shows it. Threads count as tasks, as the kernel counts them. */
export interface ProcessRecord {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly tasks: number;
  /** `Z` for a process that has ended and was not yet waited for. */
  readonly state: string;
  readonly startTime: string;
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

/** The fields of `/proc/<pid>/stat` that follow the program's name, which may itself hold blanks and brackets. */
function parseStat(pid: number, text: string): ProcessRecord | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 20) return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    tasks: Number(fields[17]),
    state: fields[0]!,
    startTime: fields[19]!,
  };
}

/** Start time of a process in clock ticks since boot, or null when it is gone or `/proc` is absent. */
export function startTimeOf(pid: number): string | null {
  const text = readProc(`/proc/${pid}/stat`);
  return (text === undefined ? undefined : parseStat(pid, text)?.startTime) ?? null;
}

/** Whether a process, known by its start time, still runs; the dead that nobody waited for do not. */
export function isRunning(pid: number, startTime: string | null): boolean {
  const text = readProc(`/proc/${pid}/stat`);
  const record = text === undefined ? undefined : parseStat(pid, text);
  return record !== undefined && record.startTime === startTime && record.state !== 'Z';
}

/** All processes this user can see; empty where there is no `/proc`. */
export function listProcesses(): readonly ProcessRecord[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  const found: ProcessRecord[] = [];
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const text = readProc(`/proc/${pid}/stat`);
    const record = text === undefined ? undefined : parseStat(pid, text);
    if (record !== undefined) found.push(record);
  }
  return found;
}

/** A process and everything below it. Orphans of a pid namespace stay below its init, so none is missed there. */
export function treeBelow(root: number, all: readonly ProcessRecord[]): readonly ProcessRecord[] {
  const children = new Map<number, ProcessRecord[]>();
  for (const record of all) {
    const siblings = children.get(record.parent);
    if (siblings === undefined) children.set(record.parent, [record]);
    else siblings.push(record);
  }
  const tree = all.filter((record) => record.pid === root);
  for (let at = 0; at < tree.length; at += 1) tree.push(...(children.get(tree[at]!.pid) ?? []));
  return tree;
}

function kilobytesOf(text: string | undefined, field: string): number | undefined {
  const match = text === undefined ? null : new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text);
  return match === null ? undefined : Number(match[1]);
}

/**
 * Memory of a set of processes in bytes: anonymous and shared memory, not mapped files. Pages shared by a fork are
 * counted once per process in this quick sum; above `exactFrom` bytes it is replaced by proportional set sizes
 * where the kernel lets us read them.
 */
export function memoryBytesOf(processes: readonly ProcessRecord[], exactFrom: number): number {
  let quick = 0;
  for (const { pid } of processes) {
    const status = readProc(`/proc/${pid}/status`);
    quick += (kilobytesOf(status, 'RssAnon') ?? 0) + (kilobytesOf(status, 'RssShmem') ?? 0);
  }
  if (quick * 1024 < exactFrom) return quick * 1024;
  let exact = 0;
  for (const { pid } of processes) {
    const rollup = readProc(`/proc/${pid}/smaps_rollup`);
    const status = readProc(`/proc/${pid}/status`);
    const proportional = kilobytesOf(rollup, 'Pss');
    const file = kilobytesOf(rollup, 'Pss_File') ?? 0;
    exact +=
      proportional === undefined
        ? (kilobytesOf(status, 'RssAnon') ?? 0) + (kilobytesOf(status, 'RssShmem') ?? 0)
        : proportional - file;
  }
  return exact * 1024;
}

/** Processes whose environment holds a text; finds daemons that left their tree. */
export function processesWithEnvironment(
  text: string,
  all: readonly ProcessRecord[],
): readonly ProcessRecord[] {
  return all.filter(
    ({ pid }) => pid !== process.pid && (readProc(`/proc/${pid}/environ`)?.includes(text) ?? false),
  );
}

/** Signals each process; one that is gone, or not ours, is passed over. */
export function signalAll(processes: readonly { readonly pid: number }[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone already.
    }
  }
}
