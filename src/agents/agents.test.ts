import { describe, expect, test } from 'vitest';
import type { Agent, AgentRequest } from './agent.js';
import { agentNamed, agentNames } from './agents.js';
import { resolveEffort } from './effort.js';

const settings = { environment: {}, userHome: '/nonexistent' };
const request: AgentRequest = {
  effort: 'auto',
  instruction: 'Do it.',
  workPath: '/work',
  gatewayUrl: undefined,
};

describe('the list of agents', () => {
  test('makes each agent under its own name', () => {
    expect(agentNames.map((name) => agentNamed(name, settings).name)).toEqual(agentNames);
  });

  test('only the reference is handed the answer, and only the agents of the benchmark itself need no model', () => {
    const agents = agentNames.map((name) => agentNamed(name, settings));
    const named = (holds: (agent: Agent) => boolean): string[] =>
      agents.filter(holds).map((agent) => agent.name);
    expect(named((agent) => agent.isHandedTheAnswer)).toEqual(['reference']);
    expect(named((agent) => !agent.needsModel)).toEqual(['sql', 'reference', 'empty', 'hostile']);
  });

  test.each(['codx', 'Codex', 'codex-cli'])('for %s the error names codex', (name) => {
    expect(() => agentNamed(name, settings)).toThrow(
      expect.objectContaining({
        code: 'AGENT_UNKNOWN',
        remedy: expect.stringContaining('Did you mean "codex"?'),
      }),
    );
  });

  test('a name of the language itself is no agent', () => {
    expect(() => agentNamed('constructor', settings)).toThrow(
      expect.objectContaining({ code: 'AGENT_UNKNOWN' }),
    );
  });
});

describe('effort', () => {
  const codex = agentNamed('codex', settings);
  const empty = agentNamed('empty', settings);

  test('auto is medium for Codex and nothing for an agent without a model; default is nothing', () => {
    expect(resolveEffort(codex, 'auto')).toBe('medium');
    expect(resolveEffort(codex, 'default')).toBeUndefined();
    expect(resolveEffort(empty, 'auto')).toBeUndefined();
  });

  test('a level that an agent does not know is refused before anything runs', async () => {
    await expect(empty.launch({ ...request, effort: 'high' })).rejects.toThrow(
      expect.objectContaining({ code: 'EFFORT_UNSUPPORTED', party: 'user' }),
    );
  });
});

describe('built-in agents', () => {
  test('refuse to start without what they play', async () => {
    await expect(agentNamed('reference', settings).launch(request)).rejects.toThrow(
      expect.objectContaining({ code: 'ANSWER_MISSING' }),
    );
    for (const sqlText of [undefined, ' \n'])
      await expect(
        agentNamed('sql', settings).launch({ ...request, ...(sqlText === undefined ? {} : { sqlText }) }),
      ).rejects.toThrow(expect.objectContaining({ code: 'SQL_MISSING' }));
  });

  test('are available everywhere and mount nothing', async () => {
    for (const name of ['reference', 'empty', 'sql']) {
      const agent = agentNamed(name, settings);
      expect(await agent.probe()).toMatchObject({ available: true });
      const launch = await agent.launch({ ...request, sqlText: 'select 1', answerFile: '/answer.csv' });
      expect(launch.inputs).toEqual([]);
    }
  });
});
