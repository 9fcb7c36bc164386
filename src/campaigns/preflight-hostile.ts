import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { agentNamed } from '../agents/agents.js';
import { ESCAPE_MARK } from '../agents/hostile.js';
import { armCanaries } from '../audit/canaries.js';
import type { RunEnvironment } from '../runs/run.js';
import type { Home } from '../support/home.js';
import { createScratchFolder } from '../support/runtime-folders.js';
import type { PreflightFinding } from './preflight.js';

const CODE = 'HOSTILE';
/** The agent's own time limits add up to less. */
const TIMEOUT_SECONDS = 300;
const MAX_NAMED = 5;

/**
 * Lets the hostile agent loose once in the sandbox of a campaign, within its limits and beside planted markers, and
 * finds a problem when anything it tries succeeds, or when it does not come to its end. `userHome`: what it looks for.
 */
export async function hostileFinding(
  home: Home,
  { sandbox, limits }: Pick<RunEnvironment, 'sandbox' | 'limits'>,
  userHome: string,
): Promise<PreflightFinding> {
  const agent = agentNamed('hostile', { environment: {}, userHome });
  const { command, environment, inputs, workFiles } = await agent.launch({
    effort: 'auto',
    instruction: '',
    workPath: '/work',
    gatewayUrl: undefined,
  });
  const scratch = await createScratchFolder('hostile');
  try {
    await using armed = await armCanaries(home, { attemptFolder: home.root, sandbox, inputs, secrets: [] });
    await using prepared = await sandbox.prepare({
      inputs,
      workFiles: [...workFiles, ...armed.workFiles],
      limits: { ...limits, timeoutSeconds: TIMEOUT_SECONDS },
    });
    const stdoutPath = join(scratch, 'out');
    const outcome = await prepared.execute({
      command,
      environment,
      stdoutPath,
      stderrPath: join(scratch, 'err'),
    });
    return judged(await readFile(stdoutPath, 'utf8'), sandbox.kind, outcome.endedBy);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function judged(said: string, kind: string, endedBy: string | null): PreflightFinding {
  const succeeded = said
    .split('\n')
    .filter((line) => line.startsWith(`${ESCAPE_MARK}: `))
    .map((line) => line.slice(ESCAPE_MARK.length + 2));
  const [, count, tried] = /^(\d+) of (\d+) attempts to get out succeeded$/m.exec(said) ?? [];
  if (count === undefined) {
    return {
      code: CODE,
      state: 'problem',
      detail: `the hostile agent did not come to its end in ${kind}${endedBy === null ? '' : ` (${endedBy})`}, so that nothing is shown`,
      remedy: 'Run m4bench sandbox check.',
    };
  }
  const isHeld = succeeded.length === 0 && Number(count) === 0;
  if (isHeld)
    return {
      code: CODE,
      state: 'ok',
      detail: `0 of ${tried} attempts to get out of ${kind} succeeded`,
      remedy: '',
    };
  const more = succeeded.length > MAX_NAMED ? ` and ${succeeded.length - MAX_NAMED} more` : '';
  return {
    code: CODE,
    state: 'problem',
    detail: `${count} of ${tried} attempts to get out of ${kind} succeeded: ${succeeded.slice(0, MAX_NAMED).join(', ')}${more}`,
    remedy: 'Use another sandbox (m4bench sandbox check tells which holds here).',
  };
}
