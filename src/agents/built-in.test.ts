import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DuckSession } from '../duck/session.js';
import { processSandbox } from '../sandboxes/process.js';
import type { CommandOutcome } from '../sandboxes/sandbox.js';
import type { AgentRequest } from './agent.js';
import { agentNamed } from './agents.js';
import { scriptFor } from './sql.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-builtin-'));
  await using session = await DuckSession.open({ path: join(folder, 'task.duckdb') });
  await session.run('create schema mimiciv_icu');
  await session.run(
    'create table mimiciv_icu.icustays as select * from (values (3, 0.1), (1, 2.5), (2, null)) t(stay_id, los)',
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs an agent on the small database above. */
async function play(
  name: string,
  more: Partial<AgentRequest>,
): Promise<{ outcome: CommandOutcome; output: string | undefined; stderr: string }> {
  const agent = agentNamed(name, { environment: {}, userHome: '/nonexistent' });
  const launch = await agent.launch({
    effort: 'auto',
    instruction: 'Do it.',
    workPath: '/work',
    gatewayUrl: undefined,
    ...more,
  });
  await using sandbox = await processSandbox().prepare({
    inputs: launch.inputs,
    workFiles: [
      { path: 'database.duckdb', content: { copyOf: join(folder, 'task.duckdb') } },
      ...launch.workFiles,
    ],
    limits: {
      timeoutSeconds: 30,
      memoryBytes: 2 * 1024 ** 3,
      processes: 200,
      workBytes: 64 * 1024 ** 2,
      streamBytes: 1024 ** 2,
    },
  });
  const outcome = await sandbox.execute({
    command: launch.command,
    environment: launch.environment,
    stdoutPath: join(folder, 'stdout'),
    stderrPath: join(folder, 'stderr'),
  });
  await sandbox.copyOut(join(folder, 'out'), { only: ['output.csv'], maxFileBytes: 1e6, maxTotalBytes: 1e6 });
  return {
    outcome,
    output: await readFile(join(folder, 'out', 'output.csv'), 'utf8').catch(() => undefined),
    stderr: await readFile(join(folder, 'stderr'), 'utf8'),
  };
}

describe('the agent sql', () => {
  test.each([
    ['a bare SELECT', 'select stay_id, los from mimiciv_icu.icustays order by stay_id'],
    [
      'one with comments around it and a semicolon',
      '-- Length of stay\nwith stays as (select * from mimiciv_icu.icustays)\nselect stay_id, los from stays\norder by stay_id; -- the end',
    ],
    [
      'a script that writes the file itself',
      "create temp table t as select * from mimiciv_icu.icustays;\ncopy (select stay_id, los from t order by stay_id) to './output.csv' (header, format csv);",
    ],
  ])('turns %s into output.csv', async (_kind, sqlText) => {
    const { outcome, output } = await play('sql', { sqlText });
    expect(outcome.exitCode).toBe(0);
    expect(output).toBe('stay_id,los\n1,2.5\n2,\n3,0.1\n');
  });

  test.each([
    ['a query of a table that is not there', 'select nothing from nowhere', /nowhere/],
    ['no SQL at all', 'this is no sql', /syntax error/],
  ])('ends with an error for %s, and the engine says why', async (_kind, sqlText, message) => {
    const { outcome, output, stderr } = await play('sql', { sqlText });
    expect(outcome.exitCode).not.toBe(0);
    expect(output).toBeUndefined();
    expect(stderr).toMatch(message);
  });

  test('two SELECT statements are a script, which is played as it is', async () => {
    const twice = 'select 1; select 2;';
    expect(await scriptFor(twice)).toBe(twice);
  });
});

test('the agent reference writes the answer that it was handed, byte for byte', async () => {
  const answer = 'stay_id,los\r\n1,"a ""quoted"" text"\r\n';
  await writeFile(join(folder, 'answer.csv'), answer);
  const { outcome, output } = await play('reference', { answerFile: join(folder, 'answer.csv') });
  expect(outcome.exitCode).toBe(0);
  expect(output).toBe(answer);
});

test('the agent empty ends well and writes nothing', async () => {
  const { outcome, output } = await play('empty', {});
  expect(outcome).toMatchObject({ exitCode: 0, endedBy: null });
  expect(output).toBeUndefined();
});
