import { z } from 'zod';
import type { CanaryCheck } from '../runs/gates.js';
import { sha256 } from '../support/hashing.js';

const NO_CAPABILITY = /^0+$/;
const UNPRIVILEGED_FROM = 1000;

/** What `sandbox-tools/canary-probe.mjs` prints. */
export const probeReportSchema = z.object({
  nonce: z.string(),
  control: z.object({
    read: z.string().nullable(),
    found: z.number(),
    wrote: z.number(),
    heard: z.boolean(),
  }),
  files: z.array(z.object({ name: z.string(), read: z.string().nullable() })),
  found: z.array(z.string()),
  hostPort: z.string().nullable(),
  abstractSocket: z.string().nullable(),
  containerSockets: z.array(z.string()),
  devices: z.array(z.string()),
  routes: z.number(),
  inputs: z.array(z.string()),
  mounts: z.array(z.string()),
  capabilities: z.array(z.string()),
  noNewPrivileges: z.string(),
  seccomp: z.string(),
  uid: z.number(),
  environment: z.array(z.object({ name: z.string(), sha256: z.string() })),
  hostProcess: z.string().nullable(),
  pidNamespace: z.string().nullable(),
});
export type ProbeReport = z.infer<typeof probeReportSchema>;

/** A protected file on the host, and what it would hash to if it could be read inside. */
export interface ProtectedFile {
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
}

/** What the host knows and the probe must not, or must, have seen. */
export interface ProbeExpectation {
  readonly files: readonly ProtectedFile[];
  readonly controlText: string;
  /** Variable handed in on purpose. */
  readonly controlVariable: { readonly name: string; readonly value: string };
  readonly secrets: readonly string[];
  readonly hostStartTime: string | null;
}

const check = (name: string, held: boolean, detail: string): CanaryCheck => ({ name, held, detail });
const listed = (items: readonly string[]): string =>
  items.length === 0 ? 'none' : items.join(', ').slice(0, 400);

/** The positive control: the same means must see what is exposed on purpose, else they prove nothing. */
export function controlsOf(probe: ProbeReport, expected: ProbeExpectation): readonly CanaryCheck[] {
  const { control } = probe;
  const { name, value } = expected.controlVariable;
  const sawVariable = probe.environment.some((one) => one.name === name && one.sha256 === sha256(value));
  return [
    check('control: reads an exposed marker', control.read === sha256(expected.controlText), ''),
    check('control: finds an exposed marker by name', control.found > 0, `${control.found} found`),
    check('control: writes an exposed file', control.wrote > 0, `${control.wrote} ways`),
    check('control: hears a listener of its own', control.heard, ''),
    check('control: sees a variable handed in', sawVariable, ''),
  ];
}

/** What the sandbox has to withhold, by what the probe could do. */
export function checksOf(probe: ProbeReport, expected: ProbeExpectation): readonly CanaryCheck[] {
  const files = expected.files.map(({ name, sha256: hash }) => {
    const seen = probe.files.find((file) => file.name === name);
    // A file of that path may exist inside with other content; only ours is a leak.
    return check(`${name} cannot be read`, seen !== undefined && seen.read !== hash, '');
  });
  const secretHashes = new Set(expected.secrets.filter((secret) => secret !== '').map((one) => sha256(one)));
  const leaked = probe.environment.filter((one) => secretHashes.has(one.sha256)).map(({ name }) => name);
  return [
    ...files,
    check('no planted marker is found by name', probe.found.length === 0, listed(probe.found)),
    check('no port of the host is reached', probe.hostPort === null, ''),
    check('no abstract socket of the host is reached', probe.abstractSocket === null, ''),
    check(
      'no container engine is in sight',
      probe.containerSockets.length === 0,
      listed(probe.containerSockets),
    ),
    check('no network device but loopback', probe.devices.join() === 'lo', listed(probe.devices)),
    check('no network route', probe.routes === 0, `${probe.routes} routes`),
    check('no input can be changed', probe.inputs.length === 0, listed(probe.inputs)),
    check('no mount but scratch space is writable', probe.mounts.length === 0, listed(probe.mounts)),
    check(
      'no capability is held',
      probe.capabilities.length === 4 && probe.capabilities.every((set) => NO_CAPABILITY.test(set)),
      listed(probe.capabilities),
    ),
    check('no privilege can be gained', probe.noNewPrivileges === '1', probe.noNewPrivileges),
    check('system calls are filtered', probe.seccomp === '2', probe.seccomp),
    check('the user is unprivileged', probe.uid >= UNPRIVILEGED_FROM, String(probe.uid)),
    check('no key is in the environment', leaked.length === 0, listed(leaked)),
    check(
      'the orchestrator is not among the processes',
      probe.hostProcess === null || probe.hostProcess !== expected.hostStartTime,
      '',
    ),
  ];
}
