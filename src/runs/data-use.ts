import { join } from 'node:path';
import { z } from 'zod';
import type { Dataset, DatasetClass } from '../datasets/dataset.js';
import type { CassetteRecorder } from '../gateway/cassette-recorder.js';
import type { Provider } from '../gateway/gateway-types.js';
import { M4BenchError } from '../support/errors.js';
import { readTextIfPresent } from '../support/files.js';
import type { Home } from '../support/home.js';
import { readTomlFile } from '../support/toml-file.js';
import type { RunEnvironment } from './attempt.js';
import type { PreparedCell } from './prepare.js';
import type { RunResult } from './result.js';

const attestationSchema = z.strictObject({
  /**
   * - `zero-retention`: the provider keeps nothing of requests and answers, by contract;
   * - `signed-agreement`: an agreement with the provider covers the data (for example Vertex AI or Bedrock under the
   *   institution's terms, with human review switched off);
   * - `local`: the model runs on machines of the user or the institution.
   */
  kind: z.enum(['zero-retention', 'signed-agreement', 'local']),
  /** Who says so. */
  by: z.string().min(1),
  /** When. */
  on: z.iso.date(),
  /** Contract number, ticket, or where it can be read. */
  evidence: z.string().min(1).optional(),
});
export type Attestation = z.infer<typeof attestationSchema>;

/** `config.toml` under the home folder. */
const configSchema = z.strictObject({
  attestations: z.record(z.string(), attestationSchema).default({}),
});

/** What the user attests of providers, by name, from `config.toml` under the home folder; none where there is no file. */
export async function readAttestations(home: Home): Promise<ReadonlyMap<string, Attestation>> {
  const file = join(home.root, 'config.toml');
  if ((await readTextIfPresent(file)) === undefined) return new Map();
  const config = await readTomlFile(file, configSchema, 'CONFIG_INVALID', 'configuration');
  return new Map(Object.entries(config.attestations));
}

/** Whether rows of a class of data may go to a provider, and on whose word. */
export interface DataUse {
  readonly allowed: boolean;
  /** For example `local`, or `zero-retention, attested by A. Person on 2026-01-31`; null: none. */
  readonly attestation: string | null;
}

/**
 * The guard of credentialed data. PhysioNet's data use agreement forbids sharing them with third parties, and its
 * guidance on online services asks for providers that neither keep nor review what they are sent. Open and synthetic
 * data may go anywhere; credentialed rows go to a service on this machine, or to one that the user attests.
 */
export function mayReceive(
  provider: Pick<Provider, 'name' | 'baseUrl'>,
  dataClass: DatasetClass,
  attestations: ReadonlyMap<string, Attestation> = new Map(),
): DataUse {
  if (isLoopback(provider.baseUrl)) return { allowed: true, attestation: 'local' };
  const given = attestations.get(provider.name);
  const attestation = given === undefined ? null : `${given.kind}, attested by ${given.by} on ${given.on}`;
  return { allowed: dataClass !== 'credentialed' || given !== undefined, attestation };
}

/** The guard for a run: every provider that the gateway would hold must be allowed. */
export function dataUseOf(environment: RunEnvironment, prepared: PreparedCell): RunResult['dataUse'] {
  const { agent, dataset } = prepared.request;
  if (!agent.needsModel) return { provider: null, attestation: null, allowed: true };
  if (environment.player !== undefined)
    return { provider: 'cassette', attestation: 'nothing is sent: the answers are recorded', allowed: true };
  if (environment.login !== undefined) {
    const name = agent.login?.provider ?? 'no provider';
    const service = { name, baseUrl: `https://${agent.login?.hosts[0] ?? 'unknown.invalid'}` };
    const { attestation, allowed } = mayReceive(service, dataset.class, environment.attestations);
    return { provider: `${name} (subscription login)`, attestation, allowed };
  }
  const judged = environment.providers.map((provider) =>
    mayReceive(provider, dataset.class, environment.attestations),
  );
  const words = new Set(judged.map(({ attestation }) => attestation));
  return {
    provider: environment.providers.map(({ name }) => name).join(', ') || 'no provider',
    attestation: words.has(null) || words.size === 0 ? null : [...words].join('; '),
    allowed: judged.every(({ allowed }) => allowed),
  };
}

/**
 * A cassette holds the rows that a model was shown. Credentialed ones stay in the folder that is kept for them; throws
 * `DATA_USE_REFUSED` for any other place.
 */
export function refuseOpenRecording(
  recorder: CassetteRecorder | undefined,
  dataset: Pick<Dataset, 'name' | 'class'>,
): void {
  if (recorder === undefined || recorder.isGuarded || dataset.class !== 'credentialed') return;
  throw new M4BenchError(
    'DATA_USE_REFUSED',
    `The cassette ${recorder.path} would hold rows of ${dataset.name}, which are under PhysioNet's data use agreement, outside the folder kept for such cassettes.`,
    `Record it in ${recorder.guardedFolder}.`,
  );
}

/** The explanation that a refusal gives. */
export function dataUseRefused(dataset: string, provider: string | null): M4BenchError {
  return new M4BenchError(
    'DATA_USE_REFUSED',
    `Rows of ${dataset} are under PhysioNet's data use agreement, which forbids sharing them with third parties, and nothing says that ${provider} keeps and reviews none of what it is sent.`,
    'Use a local model (M4BENCH_LOCAL_BASE_URL), or an open or synthetic dataset. If a contract covers this service, say so in config.toml under the home folder: [attestations.<provider>] with kind = "zero-retention" or "signed-agreement", by = "your name", on = "YYYY-MM-DD".',
  );
}

/** True for a service on this very machine. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
