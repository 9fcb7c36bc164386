import type { Agent, AgentLaunch, AgentRequest, TraceReading } from './agent.js';
import { resolveEffort } from './effort.js';

const NO_TRACE: TraceReading = { models: [], turns: 0, commands: [], errors: [] };

/** An agent of the benchmark itself: one command inside the sandbox, no model, no installation, no trace of its own. */
export function builtInAgent(
  name: string,
  traits: { readonly isHandedTheAnswer?: boolean },
  plan: (request: AgentRequest) => Promise<Pick<AgentLaunch, 'command' | 'workFiles'>>,
): Agent {
  const agent: Agent = {
    name,
    needsModel: false,
    isHandedTheAnswer: traits.isHandedTheAnswer ?? false,
    skillFolder: '.skills',
    efforts: [],
    autoEffort: 'default',
    probe: async () => ({ available: true, detail: 'built in' }),
    launch: async (request) => {
      resolveEffort(agent, request.effort);
      return { environment: {}, inputs: [], ...(await plan(request)) };
    },
    readTrace: async () => NO_TRACE,
  };
  return agent;
}
