import type { RunEnvironment } from './attempt.js';
import type { PreparedCell } from './prepare.js';
import type { RunResult } from './result.js';

/**
 * Whether rows of the dataset may go to the model service. Credentialed data (PhysioNet's data use agreement forbids
 * sharing them with third parties) go to services on this machine only; there is no other attestation yet.
 */
export function dataUseOf(environment: RunEnvironment, prepared: PreparedCell): RunResult['dataUse'] {
  const { agent, dataset } = prepared.request;
  if (!agent.needsModel) return { provider: null, attestation: null, allowed: true };
  const used = environment.providers.filter(
    ({ name }) => environment.provider === undefined || name === environment.provider,
  );
  const names = used.map((provider) => provider.name).join(', ') || 'no provider';
  const areLocal = used.every((provider) => isLoopback(provider.baseUrl));
  const allowed = dataset.class !== 'credentialed' || areLocal;
  return { provider: names, attestation: areLocal ? 'local' : null, allowed };
}

/** True for a service on this very machine. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
