import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Agent, AgentLaunch, AgentRequest } from './agent.js';
import { agentNamed } from './agents.js';
import { packageClosure } from './installed-package.js';

const GATEWAY = 'http://127.0.0.1:8300';
const request: AgentRequest = {
  model: '--org/name:4b "x"',
  effort: 'auto',
  instruction: 'Do it.',
  workPath: '/work',
  gatewayUrl: `${GATEWAY}/`,
};

/** Where each CLI's package keeps what is started. */
const PROGRAMS: Readonly<Record<string, string>> = {
  claude: `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
  gemini: '@google/gemini-cli/bundle/gemini.js',
  pi: '@mariozechner/pi-coding-agent/dist/cli.js',
  opencode: `opencode-${process.platform}-${process.arch}/bin/opencode`,
};
const PACKAGES: Readonly<Record<string, string>> = {
  claude: '@anthropic-ai/claude-code',
  gemini: '@google/gemini-cli',
  pi: '@mariozechner/pi-coding-agent',
  opencode: 'opencode-ai',
};
const NAMES = Object.keys(PACKAGES);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'm4bench-clis-'));
  for (const name of NAMES) {
    const program = join(folder, 'node_modules', PROGRAMS[name]!);
    await mkdir(dirname(program), { recursive: true });
    const isScript = program.endsWith('.js');
    await writeFile(program, isScript ? 'console.log("v9.8.7");' : '#!/bin/sh\necho "9.8.7 (Some CLI)"\n');
    await chmod(program, 0o755);
    const manifest = join(folder, 'node_modules', PACKAGES[name]!, 'package.json');
    await mkdir(dirname(manifest), { recursive: true });
    await writeFile(manifest, '{}');
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const agentOf = (name: string): Agent =>
  agentNamed(name, {
    environment: { PATH: process.env.PATH },
    userHome: '/nonexistent',
    agentsFolder: folder,
  });

/** Everything that a launch says, as one text. */
const textOf = ({ command, environment, workFiles }: AgentLaunch): string =>
  JSON.stringify([command, environment, workFiles.map(({ content }) => content)]);

describe.each(NAMES)('the agent %s', (name) => {
  test('states the version that its program prints', async () => {
    expect(await agentOf(name).probe()).toMatchObject({ available: true, version: '9.8.7' });
  });

  test('is not available without its package, says what to run, and a launch is an environment error', async ({
    skip,
  }) => {
    const nowhere = { environment: { PATH: '' }, userHome: '/nonexistent', agentsFolder: '/nonexistent' };
    const agent = agentNamed(name, nowhere);
    const { available, remedy } = await agent.probe();
    skip(available, 'the real CLI is installed in this checkout');
    expect(remedy).toContain(`npm install --global ${PACKAGES[name]}`);
    await expect(agent.launch(request)).rejects.toThrow(
      expect.objectContaining({ code: 'AGENT_NOT_AVAILABLE', party: 'environment' }),
    );
  });

  test('asks the gateway and nobody else, with a key that is none', async () => {
    const launch = await agentOf(name).launch(request);
    const addresses = [...textOf(launch).matchAll(/https?:\/\/[^/"\\]+/g)].map(([address]) => address);
    expect([...new Set(addresses)]).toEqual([GATEWAY]);
    expect(textOf(launch)).toContain('not-a-key');
    expect(launch.stdin).toBe(request.instruction);
    expect(launch.command.join(' ')).not.toContain(request.instruction);
  });

  test('mounts its program only, at a neutral place', async () => {
    const { inputs, command } = await agentOf(name).launch(request);
    for (const { target } of inputs) expect(target).toMatch(new RegExp(`^/opt/agents/${name}(/|$)`));
    const program = command.find((word) => word.startsWith('/opt/agents/'))!;
    expect(inputs.some(({ target }) => program.startsWith(target))).toBe(true);
  });

  test('keeps an odd model name whole', async () => {
    const { command, environment, workFiles } = await agentOf(name).launch(request);
    const isWord = command.some((word) => word === `--model=${request.model}`);
    const inFiles = workFiles.map(({ content }) => ('text' in content ? content.text : '')).join('\n');
    const quoted = JSON.stringify(request.model);
    expect(isWord || `${inFiles}${Object.values(environment).join('\n')}`.includes(quoted.slice(1, -1))).toBe(
      true,
    );
  });

  test('is refused without a gateway and with an effort that it does not know', async () => {
    const agent = agentOf(name);
    await expect(agent.launch({ ...request, gatewayUrl: undefined })).rejects.toThrow(
      expect.objectContaining({ code: 'GATEWAY_MISSING' }),
    );
    const unknown = (['minimal', 'max', 'low'] as const).find((effort) => !agent.efforts.includes(effort));
    if (unknown !== undefined)
      await expect(agent.launch({ ...request, effort: unknown })).rejects.toThrow(
        expect.objectContaining({ code: 'EFFORT_UNSUPPORTED' }),
      );
  });

  test('takes every effort that it names, and names none by default where the provider is to choose', async () => {
    const agent = agentOf(name);
    for (const effort of agent.efforts)
      expect(textOf(await agent.launch({ ...request, effort }))).toContain(effort);
    const provider = textOf(await agent.launch({ ...request, effort: 'default' }));
    expect(provider).not.toMatch(/--effort|--thinking|reasoningEffort/);
  });
});

describe('what is particular', () => {
  test('Claude Code has network tools neither listed nor allowed, and no user settings', async () => {
    const { command } = await agentOf('claude').launch(request);
    const tools = command.find((word) => word.startsWith('--tools='))!;
    expect(tools).not.toMatch(/Web|Agent|Cron|Task(?!Output|Stop)/);
    expect(command).toContain('--disallowedTools=WebFetch,WebSearch');
    expect(command).toContain('--setting-sources=project');
    expect(command).toContain('--effort=medium');
  });

  test('Claude Code elsewhere than at Anthropic records the slots that were set', async () => {
    const agent = agentOf('claude');
    expect((await agent.launch(request)).overrides).toEqual([]);
    const { overrides } = await agent.launch({ ...request, provider: 'local', model: 'm' });
    expect(overrides).toEqual([
      'ANTHROPIC_DEFAULT_OPUS_MODEL=m',
      'ANTHROPIC_DEFAULT_SONNET_MODEL=m',
      'ANTHROPIC_DEFAULT_HAIKU_MODEL=m',
    ]);
  });

  test.each(['pi', 'opencode'])(
    '%s needs a model, and speaks the API of the provider that is named',
    async (name) => {
      const agent = agentOf(name);
      const { model: _, ...withoutModel } = request;
      await expect(agent.launch(withoutModel)).rejects.toThrow(
        expect.objectContaining({ code: 'MODEL_MISSING', party: 'user' }),
      );
      const shown = async (provider: string): Promise<string> =>
        textOf(await agent.launch({ ...request, provider }));
      expect(await shown('anthropic')).toMatch(/anthropic-messages|@ai-sdk\/anthropic/);
      expect(await shown('openai')).toMatch(/openai-responses|@ai-sdk\/openai\\/);
      expect(await shown('gemini')).toMatch(/google-generative-ai|@ai-sdk\/google/);
      expect(await shown('vllm')).toMatch(/openai-completions|@ai-sdk\/openai-compatible/);
      expect(await shown('vllm')).toContain(`${GATEWAY}/vllm/v1`);
    },
  );

  test('Gemini CLI gets its settings in a file of the work folder that is its home', async () => {
    const launch = await agentOf('gemini').launch(request);
    expect(launch.environment.GEMINI_CLI_HOME).toBe('/work/.gemini/home');
    expect(launch.workFiles.map(({ path }) => path)).toEqual(['.gemini/home/.gemini/settings.json']);
    expect(textOf(launch)).toContain('google_web_search');
  });
});

test('a package comes with all that it needs, and what lies inside another one once', async () => {
  const modules = join(folder, 'closure', 'node_modules');
  const put = async (path: string, manifest: object): Promise<void> => {
    await mkdir(join(modules, path), { recursive: true });
    await writeFile(join(modules, path, 'package.json'), JSON.stringify(manifest));
  };
  await put('main', { dependencies: { a: '1' }, optionalDependencies: { missing: '1' } });
  await put('a', { dependencies: { b: '1', main: '1' }, peerDependencies: { '@s/c': '1' } });
  await put('a/node_modules/b', { dependencies: { d: '1' } });
  await put('b', {});
  await put('d', {});
  await put('@s/c', {});
  const found = packageClosure('main', join(modules, 'main'));
  // The outer `b` is nobody's; the inner one comes with `a`.
  expect(found.map(({ name }) => name).sort()).toEqual(['@s/c', 'a', 'd', 'main']);
  expect(found.every(({ name, folder: place }) => place === join(modules, name))).toBe(true);
});
