import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { M4BenchError, systemCodeOf } from './errors.js';
import { isRunning, startTimeOf } from './process-tree.js';

/** What a runtime folder is for: the gateway's socket, or one sandbox's work folder. */
export type RuntimeFolderPurpose = 'gateway' | 'sandbox';

const PREFIX: Readonly<Record<RuntimeFolderPurpose, string>> = { gateway: 'g-', sandbox: 'w-' };
const OWNER_FILE = 'owner.json';
const NEWBORN_MILLISECONDS = 10_000;

/** Who made a runtime folder; a process id alone can be reused, with its start time it cannot. */
interface FolderOwner {
  readonly pid: number;
  readonly startTime: string | null;
}

/**
 * The parent of all short-lived folders: short (socket paths end at 107 bytes), outside every `--home`, and owned
 * by the current user alone. `/tmp/m4b` where it is ours or free, else `/tmp/m4b-<uid>`.
 */
export function runtimeBase(): string {
  const uid = process.getuid?.() ?? 0;
  for (const candidate of ['/tmp/m4b', `/tmp/m4b-${uid}`]) {
    try {
      mkdirSync(candidate, { mode: 0o711 });
      chmodSync(candidate, 0o711);
      return candidate;
    } catch (thrown) {
      if (systemCodeOf(thrown) !== 'EEXIST') throw thrown;
    }
    const found = lstatSync(candidate);
    if (found.isDirectory() && found.uid === uid && (found.mode & 0o022) === 0) return candidate;
  }
  throw new M4BenchError(
    'RUNTIME_FOLDER_TAKEN',
    `/tmp/m4b and /tmp/m4b-${uid} exist and do not belong to this user alone.`,
    'Remove them, or have their owner remove them.',
    { party: 'environment' },
  );
}

/** Creates a folder only this user can enter, marked with its owner so that leftovers can be told apart. */
export async function createRuntimeFolder(purpose: RuntimeFolderPurpose): Promise<string> {
  const base = runtimeBase();
  for (;;) {
    const folder = join(base, `${PREFIX[purpose]}${randomBytes(4).toString('hex')}`);
    try {
      await mkdir(folder, { mode: 0o700 });
    } catch (thrown) {
      if (systemCodeOf(thrown) === 'EEXIST') continue;
      throw thrown;
    }
    const owner: FolderOwner = { pid: process.pid, startTime: startTimeOf(process.pid) };
    await writeFile(join(folder, OWNER_FILE), JSON.stringify(owner), { mode: 0o600 });
    return folder;
  }
}

/**
 * Deletes a folder the agent wrote to, whatever it did to the modes inside. Follows no link.
 * Only for trees in which no process runs any more.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 2 });
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'ENOTEMPTY') throw thrown;
    openUp(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 2 });
  }
}

function openUp(folder: string): void {
  if (!lstatSync(folder).isDirectory()) return;
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) openUp(join(folder, entry.name));
  }
}

/**
 * Whether the process that made a runtime folder still runs. A folder is made before its owner file, so one
 * without counts as owned for its first seconds.
 */
async function hasLiveOwner(folder: string): Promise<boolean> {
  let owner: Partial<FolderOwner>;
  try {
    owner = JSON.parse(await readFile(join(folder, OWNER_FILE), 'utf8')) as Partial<FolderOwner>;
  } catch {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    // Removed meanwhile by its owner or by another cleaner: nothing is left to do.
    return found === undefined || Date.now() - found.ctimeMs < NEWBORN_MILLISECONDS;
  }
  if (typeof owner.pid !== 'number') return false;
  if (!isAlive(owner.pid)) return false;
  return owner.startTime === null || owner.startTime === startTimeOf(owner.pid);
}

/** Process groups recorded by the `process` sandbox, which dies with nobody. */
function endRecordedGroups(folder: string): void {
  let recorded: string;
  try {
    recorded = readFileSync(join(folder, 'groups.jsonl'), 'utf8');
  } catch {
    return;
  }
  for (const line of recorded.split('\n').filter((text) => text !== '')) {
    try {
      const group = JSON.parse(line) as FolderOwner;
      if (startTimeOf(group.pid) === group.startTime && group.startTime !== null)
        process.kill(-group.pid, 'SIGKILL');
    } catch {
      // Ended already.
    }
  }
}

/**
 * Removes what crashed processes left behind: work folders, sockets, and the processes of `process` sandboxes.
 * Leaves alone whatever belongs to a running process. Returns the removed folders.
 */
export async function cleanLeftovers(): Promise<readonly string[]> {
  const base = runtimeBase();
  const removed: string[] = [];
  for (const name of readdirSync(base)) {
    if (!/^[gw]-[0-9a-f]{8}$/.test(name)) continue;
    const folder = join(base, name);
    if (await hasLiveOwner(folder)) continue;
    endRecordedGroups(folder);
    await removeTree(folder);
    removed.push(folder);
  }
  return removed;
}

/** A scratch folder carries its maker in its name: process and start time. */
const SCRATCH = /^m4bench-[a-z]+-(\d+)\.(\d*)-[A-Za-z0-9]{6}$/;

/**
 * Creates a scratch folder `m4bench-<purpose>-<process>.<start time>-XXXXXX`, which `cleanScratchFolders` can tell from
 * those of running processes. `purpose`: lower-case letters.
 */
export function createScratchFolder(purpose: string, parent: string = tmpdir()): Promise<string> {
  return mkdtemp(join(parent, `m4bench-${purpose}-${process.pid}.${startTimeOf(process.pid) ?? ''}-`));
}

/** Removes scratch folders of this user whose makers are gone. Returns the removed folders. */
export async function cleanScratchFolders(parent: string = tmpdir()): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of readdirSync(parent)) {
    const match = SCRATCH.exec(name);
    if (match === null) continue;
    const folder = join(parent, name);
    const status = lstatSync(folder, { throwIfNoEntry: false });
    if (status === undefined || !status.isDirectory() || status.uid !== (process.getuid?.() ?? status.uid))
      continue;
    const pid = Number(match[1]);
    if (match[2] === '' ? isAlive(pid) : isRunning(pid, match[2]!)) continue;
    await removeTree(folder);
    removed.push(folder);
  }
  return removed;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // EPERM: the process exists and belongs to someone else.
    return systemCodeOf(thrown) === 'EPERM';
  }
}
