import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentRequest } from './agent.js';
import type { AgentSettings } from './agent-settings.js';
import { findNativeProgram, findNodeProgram } from './cli-program.js';
import { codexAgent, codexArguments } from './codex.js';
import { findInstalled } from './installed-package.js';

const request: AgentRequest = {
  model: 'gpt-x/y:z',
  effort: 'auto',
  instruction: 'Read instruction.md.',
  workPath: '/work',
  gatewayUrl: 'http://127.0.0.1:8300',
};
const nowhere: AgentSettings = { environment: { PATH: '' }, userHome: '/nonexistent' };
const codex = codexAgent(nowhere);

/** The settings of a command line, read as the TOML document that they stand for. */
function configurationOf(words: readonly string[]): Record<string, unknown> {
  const assignments = words.filter((_, index) => words[index - 1] === '-c');
  const document = assignments.map((assignment) => {
    const split = assignment.indexOf('=');
    return `${assignment.slice(0, split)} = ${assignment.slice(split + 1)}`;
  });
  return parse(document.join('\n'));
}

describe('the command line', () => {
  test('sends every request to the gateway and nowhere else', () => {
    const configuration = configurationOf(codexArguments(codex, request));
    expect(configuration).toMatchObject({
      model_provider: 'm4bench',
      model_providers: {
        m4bench: {
          base_url: 'http://127.0.0.1:8300/openai/v1',
          wire_api: 'responses',
          env_key: 'M4BENCH_MODEL_KEY',
        },
      },
      web_search: 'disabled',
      analytics: { enabled: false },
      otel: { exporter: 'none', trace_exporter: 'none', metrics_exporter: 'none' },
      check_for_update_on_startup: false,
    });
  });

  test('leaves isolation to our sandbox and never asks for approval, without the bypass flag', () => {
    const words = codexArguments(codex, request);
    expect(configurationOf(words)).toMatchObject({
      sandbox_mode: 'danger-full-access',
      approval_policy: 'never',
    });
    expect(words.join(' ')).not.toContain('bypass');
  });

  test('switches off skills and tools that the benchmark did not place', () => {
    expect(configurationOf(codexArguments(codex, request))).toMatchObject({
      skills: { bundled: { enabled: false } },
      agents: { enabled: false },
      features: { apps: false, plugins: false, image_generation: false, browser_use: false },
    });
  });

  test('keeps an odd model name in one word and reads the instruction from standard input', () => {
    const words = codexArguments(codex, { ...request, model: '--oss "x"' });
    expect(words).toContain('--model=--oss "x"');
    expect(words.at(-1)).toBe('-');
    expect(words.slice(0, 2)).toEqual(['exec', '--json']);
  });

  test('names effort and model only when they are asked for', () => {
    const { model: _, ...withoutModel } = request;
    const words = codexArguments(codex, { ...withoutModel, effort: 'default' });
    expect(configurationOf(words)).not.toHaveProperty('model_reasoning_effort');
    expect(words.some((word) => word.startsWith('--model'))).toBe(false);
    expect(configurationOf(codexArguments(codex, request))).toMatchObject({
      model_reasoning_effort: 'medium',
    });
  });

  test('is refused without a gateway', () => {
    expect(() => codexArguments(codex, { ...request, gatewayUrl: undefined })).toThrow(
      expect.objectContaining({ code: 'GATEWAY_MISSING' }),
    );
  });
});

describe('an installed package', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4bench-installed-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  // A name that no folder of this machine can hold.
  const NAME = '@m4bench-test/no-such-cli';
  const CLI = { agent: 'no-such', title: 'CLI', packageName: NAME, bin: 'cli' };
  async function install(below: string): Promise<string> {
    const place = join(folder, below, 'node_modules', NAME);
    await mkdir(join(place, 'bin'), { recursive: true });
    await writeFile(join(place, 'package.json'), '{}');
    await writeFile(join(place, 'bin', 'cli.js'), '#!/usr/bin/env node\n');
    await chmod(join(place, 'bin', 'cli.js'), 0o755);
    return place;
  }

  test('is found in the named folder before the user folder', async () => {
    const named = await install('named');
    const users = await install('home/.m4bench/agents');
    const settings = { environment: {}, userHome: join(folder, 'home') };
    expect(findInstalled(CLI, settings)).toEqual({ kind: 'package', folder: users });
    const environment = { M4BENCH_AGENTS_DIR: join(folder, 'named') };
    expect(findInstalled(CLI, { ...settings, environment })).toEqual({
      kind: 'package',
      folder: named,
    });
  });

  test('is taken from the root file system, and then nothing of the machine is mounted', async () => {
    const inRootfs = await install('root/usr/local/lib/m4bench/agents/no-such');
    const users = await install('home/.m4bench/agents');
    const settings = { environment: {}, userHome: join(folder, 'home') };
    const place = (root: string) => ({
      root: join(folder, root),
      agentsFolder: join(folder, root, 'usr/local/lib/m4bench/agents'),
    });
    const rootfs = place('root');
    expect(findNodeProgram(CLI, 'bin/cli.js', { ...settings, rootfs })).toEqual({
      hostCommand: [process.execPath, join(inRootfs, 'bin/cli.js')],
      command: ['node', `/usr/local/lib/m4bench/agents/no-such/node_modules/${NAME}/bin/cli.js`],
      inputs: [],
      source: 'rootfs',
    });
    expect(findNodeProgram(CLI, 'bin/cli.js', { ...settings, rootfs: place('empty') })).toMatchObject({
      command: ['node', `/opt/agents/no-such/node_modules/${NAME}/bin/cli.js`],
      inputs: [{ source: users, target: `/opt/agents/no-such/node_modules/${NAME}` }],
      source: 'host',
    });
    // Who names a folder wants that one.
    const named = { M4BENCH_AGENTS_DIR: join(folder, 'home/.m4bench/agents') };
    expect(findInstalled(CLI, { ...settings, rootfs, environment: named })).toEqual({
      kind: 'package',
      folder: users,
    });
    const native = { platformPackage: `${NAME}-native`, folder: '', programs: ['bin/cli.js'] };
    expect(findNativeProgram(CLI, native, { ...settings, rootfs })).toMatchObject({
      command: [`/usr/local/lib/m4bench/agents/no-such/node_modules/${NAME}/bin/cli.js`],
      inputs: [],
    });
  });

  test('is found through a link on PATH', async () => {
    const place = await install('lib');
    await mkdir(join(folder, 'bin'));
    await symlink(join(place, 'bin', 'cli.js'), join(folder, 'bin', 'cli'));
    const environment = { PATH: `relative:/nonexistent:${join(folder, 'bin')}` };
    expect(findInstalled(CLI, { environment, userHome: folder })).toEqual({
      kind: 'package',
      folder: place,
    });
  });

  test('that is missing gives no installation', () => {
    expect(findInstalled(CLI, { ...nowhere, userHome: folder })).toBeUndefined();
  });
});

describe('availability', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'm4bench-codex-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function fakePackage(native: string | undefined): Promise<AgentSettings> {
    const place = join(folder, 'node_modules', '@openai', 'codex');
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'package.json'), '{}');
    if (native !== undefined) {
      const target = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as 'x64' | 'arm64'];
      const program = join(place, 'vendor', `${target}-unknown-linux-musl`, 'bin', 'codex');
      await mkdir(dirname(program), { recursive: true });
      await writeFile(program, native);
      await chmod(program, 0o755);
    }
    return { ...nowhere, agentsFolder: folder };
  }

  test.runIf(process.platform === 'linux')('states the version that the program prints', async () => {
    const settings = await fakePackage('#!/bin/sh\necho codex-cli 9.8.7\n');
    expect(await codexAgent(settings).probe()).toMatchObject({ available: true, version: '9.8.7' });
    const launch = await codexAgent(settings).launch(request);
    expect(launch.command[0]).toBe('/opt/agents/codex/bin/codex');
    expect(launch.inputs.map((input) => input.target)).toEqual(['/opt/agents/codex']);
    expect(launch.stdin).toBe(request.instruction);
  });

  test.runIf(process.platform === 'linux')('fails with a remedy when the program does not run', async () => {
    const settings = await fakePackage('#!/bin/sh\nexit 4\n');
    expect(await codexAgent(settings).probe()).toMatchObject({
      available: false,
      remedy: expect.stringContaining('npm install'),
    });
  });

  test('without the native part says so, and a launch is an environment error', async () => {
    const settings = await fakePackage(undefined);
    expect(await codexAgent(settings).probe()).toMatchObject({
      available: false,
      detail: expect.stringContaining('lacks its native program'),
    });
    await expect(codexAgent(settings).launch(request)).rejects.toThrow(
      expect.objectContaining({ code: 'AGENT_NOT_AVAILABLE', party: 'environment' }),
    );
  });
});
