import type { Agent, AgentLaunch, AgentRequest } from './agent.js';
import { resolveEffort } from './effort.js';
import { readTextTrace } from './text-trace.js';
import { readingOf } from './transcript.js';

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
    readTranscript: readTextTrace,
    readTrace: async (tracePath) => readingOf(await readTextTrace(tracePath)),
  };
  return agent;
}
