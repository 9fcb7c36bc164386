import { M4BenchError } from '../support/errors.js';
import { bubblewrapSandbox } from './bubblewrap.js';
import { containerSandbox } from './container.js';
import { processSandbox } from './process.js';
import type { Rootfs } from './rootfs.js';
import type { Sandbox, SandboxKind } from './sandbox.js';

const SANDBOXES: Readonly<Record<SandboxKind, (rootfs?: Rootfs) => Sandbox>> = {
  bubblewrap: (rootfs) => bubblewrapSandbox(rootfs),
  docker: (rootfs) => containerSandbox('docker', rootfs),
  podman: (rootfs) => containerSandbox('podman', rootfs),
  process: () => processSandbox(),
};

/** The kinds this version can run. */
export function sandboxKinds(): readonly SandboxKind[] {
  return Object.keys(SANDBOXES) as SandboxKind[];
}

/**
 * The sandbox of a kind, over a root file system where one is given; `SANDBOX_UNKNOWN` for any other word. Whether it
 * works here is for `probe` to say.
 */
export function sandboxOf(kind: string, rootfs?: Rootfs): Sandbox {
  const make = Object.hasOwn(SANDBOXES, kind) ? SANDBOXES[kind as SandboxKind] : undefined;
  if (make !== undefined) return make(rootfs);
  throw new M4BenchError(
    'SANDBOX_UNKNOWN',
    `There is no sandbox ${JSON.stringify(kind)}.`,
    `Use --sandbox with one of: ${sandboxKinds().join(', ')}.`,
  );
}
