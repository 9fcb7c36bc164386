import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import type { AgentLaunch } from '../../src/agents/agent.js';
import type { AgentSettings } from '../../src/agents/agent-settings.js';

export const settings: AgentSettings = { environment: process.env, userHome: homedir() };

/** A folder with a work folder and a private home, deleted in the end. */
export class HostFolder implements AsyncDisposable {
  readonly work: string;
  readonly trace: string;

  private constructor(readonly root: string) {
    this.work = join(root, 'work');
    this.trace = join(root, 'trace.jsonl');
  }

  static async create(files: Readonly<Record<string, string>> = {}): Promise<HostFolder> {
    const folder = new HostFolder(await mkdtemp(join(tmpdir(), 'm4bench-agent-')));
    await mkdir(folder.work);
    await mkdir(join(folder.root, 'home'));
    await mkdir(join(folder.root, 'tmp'));
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder.work, path)), { recursive: true });
      await writeFile(join(folder.work, path), content);
    }
    return folder;
  }

  /** Starts an agent on the host itself, its mounted programs at their own place, and waits for its end. */
  async run(
    launch: AgentLaunch,
    extraArguments: readonly string[] = [],
  ): Promise<{ exitCode: number | null; stderr: string }> {
    const [program, ...rest] = launch.command.map((word) =>
      launch.inputs.reduce((path, { source, target }) => path.replace(target, source), word),
    );
    const child = spawn(program!, [...rest.slice(0, -1), ...extraArguments, ...rest.slice(-1)], {
      cwd: this.work,
      env: {
        PATH: process.env.PATH,
        HOME: join(this.root, 'home'),
        TMPDIR: join(this.root, 'tmp'),
        ...launch.environment,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => {});
    child.stdin.end(launch.stdin ?? '');
    const output = createWriteStream(this.trace);
    child.stdout.pipe(output);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    const [exitCode, stderr] = await Promise.all([ended, text(child.stderr), finished(output)]);
    return { exitCode, stderr };
  }

  readWork(path: string): Promise<string> {
    return readFile(join(this.work, path), 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A skill folder's files, with markers that no CLI could make up. */
export function skillFiles(skillFolder: string): Readonly<Record<string, string>> {
  return {
    [`${skillFolder}/sirs-score/SKILL.md`]: [
      '---',
      'name: sirs-score',
      'description: How SIRS is computed here, marker-of-the-description.',
      '---',
      '# SIRS',
      'Four criteria, marker-of-the-body.',
      '',
    ].join('\n'),
  };
}
