import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentRequest } from './agent.js';
import { agentNamed } from './agents.js';

const settings = { environment: { PATH: process.env.PATH }, userHome: '/nonexistent' };
const request: AgentRequest = {
  model: 'a/b:c',
  effort: 'low',
  instruction: 'Do "it" {model}.',
  workPath: '/work',
  gatewayUrl: 'http://127.0.0.1:8300/',
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-command-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function agentOf(toml: string) {
  const path = join(folder, 'agent.toml');
  await writeFile(path, toml);
  return agentNamed(path, settings);
}

describe('an agent that a file describes', () => {
  test('gets its values where they stand in braces, each word as one argument', async () => {
    const agent = await agentOf(`
      name = "mine"
      command = ["run", "--model={model}", "--effort", "{effort}", "{instruction}", '{"json": {work}}']
      provider = "local"
      efforts = ["low"]
      stdin = false
      [environment]
      URL = "{gateway}/v1"
      KEY = "{key}"
      [files]
      "/opt/agents/mine" = "program"
      "/opt/agents/other" = "/usr/share/other"
    `);
    expect(agent).toMatchObject({ name: 'mine', needsModel: true, isHandedTheAnswer: false });
    expect(await agent.launch(request)).toEqual({
      command: ['run', '--model=a/b:c', '--effort', 'low', 'Do "it" {model}.', '{"json": /work}'],
      environment: { URL: 'http://127.0.0.1:8300/local/v1', KEY: 'not-a-key' },
      inputs: [
        { source: join(folder, 'program'), target: '/opt/agents/mine' },
        { source: '/usr/share/other', target: '/opt/agents/other' },
      ],
      workFiles: [],
    });
    const elsewhere = await agent.launch({ ...request, provider: 'other' });
    expect(elsewhere.environment.URL).toBe('http://127.0.0.1:8300/other/v1');
  });

  test('named by a relative path, finds its files from any folder', async () => {
    await agentOf('name = "mine"\ncommand = ["run"]\n[files]\n"/opt/mine" = "program"');
    const agent = agentNamed(relative(process.cwd(), join(folder, 'agent.toml')), settings);
    expect((await agent.launch({ ...request, effort: 'default' })).inputs).toEqual([
      { source: join(folder, 'program'), target: '/opt/mine' },
    ]);
  });

  test('leaves out a word or variable whose value is not asked for', async () => {
    const agent = await agentOf(
      'name = "mine"\ncommand = ["run", "--model={model}", "--effort={effort}"]\nenvironment = { E = "{effort}" }',
    );
    const { model: _, ...withoutModel } = request;
    const launch = await agent.launch({ ...withoutModel, effort: 'default' });
    expect(launch).toMatchObject({ command: ['run'], environment: {}, stdin: 'Do "it" {model}.' });
    expect(agent.needsModel).toBe(false);
  });

  test('refuses an effort that it does not take, and a model without a gateway', async () => {
    const agent = await agentOf('name = "mine"\ncommand = ["run", "{gateway}"]\nprovider = "local"');
    await expect(agent.launch(request)).rejects.toThrow(
      expect.objectContaining({ code: 'EFFORT_UNSUPPORTED' }),
    );
    await expect(agent.launch({ ...request, effort: 'auto', gatewayUrl: undefined })).rejects.toThrow(
      expect.objectContaining({ code: 'GATEWAY_MISSING' }),
    );
  });

  test('is another version with another description, and states its own', async () => {
    const versions = [];
    for (const version of ['', 'version = ["sh", "-c", "echo tool 3.14.15"]'])
      versions.push((await (await agentOf(`name = "mine"\ncommand = ["run"]\n${version}`)).probe()).version);
    expect(versions[0]).toMatch(/^[0-9a-f]{12}$/);
    expect(versions[1]).toMatch(/^3\.14\.15, description [0-9a-f]{12}$/);
    expect(versions[1]).not.toContain(versions[0]);
  });

  test('is not available when its program or its files are missing', async () => {
    const broken = await agentOf('name = "mine"\ncommand = ["run"]\nversion = ["no-such-program-anywhere"]');
    expect(await broken.probe()).toMatchObject({ available: false });
    const incomplete = await agentOf('name = "mine"\ncommand = ["run"]\nfiles = { "/opt/x" = "missing" }');
    expect(await incomplete.probe()).toMatchObject({
      available: false,
      detail: expect.stringContaining(join(folder, 'missing')),
    });
  });

  test('reads its trace in the format that it names', async () => {
    const trace = join(import.meta.dirname, 'traces', 'codex-answered.jsonl');
    const agent = await agentOf('name = "mine"\ncommand = ["run"]\ntrace = "codex"');
    expect((await agent.readTrace(trace)).commands).toHaveLength(4);
    const plain = await agentOf('name = "mine"\ncommand = ["run"]');
    expect((await plain.readTrace(trace)).commands).toEqual([]);
  });
});

describe('a file that describes no agent', () => {
  test.each([
    ['nothing', '', 'field name'],
    ['no TOML', 'name = ', 'not valid TOML in line 1'],
    ['the name of another agent', 'name = "codex"\ncommand = ["x"]', '"codex" is an agent already'],
    ['a name that is a path', 'name = "../x"\ncommand = ["x"]', 'field name: is no name like'],
    ['no command', 'name = "mine"\ncommand = []', 'field command'],
    [
      'a misspelled field',
      'name = "mine"\ncommand = ["x"]\nskil_folder = "x"',
      'field skil_folder is not known',
    ],
    [
      'a misspelled placeholder',
      'name = "mine"\ncommand = ["{modle}"]',
      'command: {modle} stands for nothing',
    ],
    [
      'a skill folder elsewhere',
      'name = "mine"\ncommand = ["x"]\nskill_folder = "../x"',
      'field skill_folder',
    ],
    ['an unknown trace', 'name = "mine"\ncommand = ["x"]\ntrace = "x"', 'field trace'],
    ['a relative place inside', 'name = "mine"\ncommand = ["x"]\nfiles = { "opt" = "x" }', 'field files.opt'],
  ])('is refused: %s', async (_what, toml, message) => {
    await expect(agentOf(toml)).rejects.toThrow(
      expect.objectContaining({
        code: 'AGENT_FILE_INVALID',
        party: 'user',
        message: expect.stringContaining(message),
      }),
    );
  });

  test('says which field or placeholder is near', async () => {
    await expect(agentOf('name = "mine"\ncommand = ["x"]\nskil_folder = "x"')).rejects.toThrow(
      expect.objectContaining({ remedy: expect.stringContaining('"skill_folder"') }),
    );
    await expect(agentOf('name = "mine"\ncommand = ["{modle}"]')).rejects.toThrow(
      expect.objectContaining({ remedy: expect.stringContaining('"model"') }),
    );
  });

  test('is refused when it does not exist', () => {
    expect(() => agentNamed('/nonexistent/agent.toml', settings)).toThrow(
      expect.objectContaining({ code: 'AGENT_FILE_INVALID' }),
    );
  });
});
