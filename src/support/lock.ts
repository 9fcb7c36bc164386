import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { M4BenchError, systemCodeOf } from './errors.js';
import { writeJsonAtomic } from './files.js';
import { isRunning, startTimeOf } from './process-tree.js';

const ownerSchema = z.object({
  pid: z.number().int(),
  /** Of the process, in clock ticks since boot: a process id alone can be used again. */
  startTime: z.string().nullable(),
  host: z.string(),
  token: z.string(),
});
type Owner = z.infer<typeof ownerSchema>;

export interface LockOptions {
  /** How often a living owner touches its lock, default 5 s. */
  readonly heartbeatMilliseconds?: number;
  /** How long the lock of another machine must stand still to count as abandoned, default four heartbeats. */
  readonly patienceMilliseconds?: number;
}

interface Held {
  readonly file: string;
  readonly generation: number;
  readonly owner: Owner | undefined;
}

/** Who holds a lock, as far as its file tells. */
export type LockHolder = Pick<Owner, 'pid' | 'host'>;

/** The holder in a sentence: `process 4711 on host`. */
export function holderInWords(holder: LockHolder | undefined): string {
  return holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`;
}

/** Where the files of a lock lie: `<folder>/<prefix><generation>.json`. */
export interface LockPlace {
  readonly folder: string;
  /** Default empty. */
  readonly prefix?: string;
}

/**
 * Holds something for one process at a time.
 *
 * Locks are files with a generation in their name, created exclusively; the highest is in force. A lock whose process
 * is gone is taken over by creating the next generation, never by deleting the old one first, so that two takers cannot
 * both win. On another machine a process cannot be looked up: its lock counts as abandoned when its file is not touched
 * for a while, measured by this machine's own monotonic clock.
 *
 * Throws what `refusal` makes when another holds it.
 */
export async function holdLock(
  place: LockPlace,
  refusal: (holder: LockHolder | undefined) => M4BenchError,
  options: LockOptions = {},
): Promise<AsyncDisposable> {
  const heartbeat = options.heartbeatMilliseconds ?? 5000;
  const patience = options.patienceMilliseconds ?? 4 * heartbeat;
  await mkdir(place.folder, { recursive: true });
  const present = await highest(place);
  if (present !== undefined && (await isAlive(present, patience))) throw refusal(present.owner);
  const owner: Owner = {
    pid: process.pid,
    startTime: startTimeOf(process.pid),
    host: hostname(),
    token: randomBytes(8).toString('hex'),
  };
  const generation = (present?.generation ?? 0) + 1;
  const file = join(place.folder, `${place.prefix ?? ''}${generation}.json`);
  try {
    await writeJsonAtomic(file, owner, { exclusive: true });
  } catch (thrown) {
    if (thrown instanceof M4BenchError && thrown.code === 'ALREADY_EXISTS')
      throw refusal((await highest(place))?.owner);
    throw thrown;
  }
  // Another taker may have seen an older state of the folder; whoever finds a second live lock steps back.
  for (const other of await allIn(place)) {
    if (other.file === file) continue;
    const isKnownDead = other.file === present?.file;
    if (other.generation > generation || (!isKnownDead && (await isAlive(other, 0)))) {
      await rm(file, { force: true });
      throw refusal(other.owner);
    }
    await rm(other.file, { force: true });
  }
  const timer = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => {});
  }, heartbeat);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await rm(file, { force: true });
    },
  };
}

/** The process that holds a lock; undefined when none does. */
export async function holderOf(place: LockPlace): Promise<LockHolder | undefined> {
  const held = await highest(place);
  if (held?.owner === undefined) return undefined;
  const { pid, startTime, host } = held.owner;
  return host !== hostname() || isRunning(pid, startTime) ? { pid, host } : undefined;
}

async function allIn({ folder, prefix = '' }: LockPlace): Promise<readonly Held[]> {
  const names = await readdir(folder).catch((thrown: unknown) => {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  });
  const held: Held[] = [];
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const generation = /^(\d+)\.json$/.exec(name.slice(prefix.length))?.[1];
    if (generation === undefined) continue;
    const file = join(folder, name);
    held.push({ file, generation: Number(generation), owner: await ownerIn(file) });
  }
  return held.sort((a, b) => b.generation - a.generation);
}

async function highest(place: LockPlace): Promise<Held | undefined> {
  return (await allIn(place))[0];
}

async function ownerIn(file: string): Promise<Owner | undefined> {
  try {
    return ownerSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

async function isAlive({ file, owner }: Held, patienceMilliseconds: number): Promise<boolean> {
  // Locks are written whole; one that cannot be read is gone by now, or damaged.
  if (owner === undefined) return false;
  if (owner.host === hostname()) return isRunning(owner.pid, owner.startTime);
  const before = await touchedAt(file);
  if (before === undefined) return false;
  if (patienceMilliseconds === 0) return true;
  await sleep(patienceMilliseconds);
  const after = await touchedAt(file);
  return after !== undefined && after !== before;
}

async function touchedAt(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.mtimeMs;
}
