import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { M4BenchError, messageOf } from '../support/errors.js';
import { mountWord, OWNER_LABEL, SANDBOX_LABEL } from './container-arguments.js';
import { askEngine, type ContainerEngine } from './container-engine.js';
import { Relay, type RelayChannel } from './relay.js';
import { INSIDE_NODE, TOOLS_ROOT, toolMounts } from './tools.js';

/** Where the volume stands in the side-car. */
const SIDE_CAR_FOLDER = '/run/m4bench';
/** The volume holds sockets and nothing else. */
const VOLUME_BYTES = 64 * 1024;
const MEMORY_BYTES = 256 * 1024 * 1024;
/** An id that neither an account nor an agent has, so that no agent owns the sockets. */
const SIDE_CAR_UID = 49_999;
const START_MILLISECONDS = 30_000;

export interface SideCarOptions {
  readonly engine: ContainerEngine;
  readonly image: string;
  /** Value of the label that tells whose it is. */
  readonly owner: string;
  /** What is behind each socket, `<channel>.sock` in the volume. */
  readonly channels: Readonly<Record<string, RelayChannel>>;
}

/**
 * A container that offers sockets of the host in a volume, for engines in a machine of their own, where none of the
 * host can be mounted. It has a network and a token for the relay, and neither key nor log: the gateway stays on the
 * host. The agent's container mounts the volume read-only and has no network. Disposing removes container and volume.
 */
export class SideCar implements AsyncDisposable {
  private constructor(
    /** Name of the volume, and of the container. */
    readonly volume: string,
    private readonly engine: ContainerEngine,
    private readonly relay: Relay,
    private readonly child: ChildProcess | undefined,
  ) {}

  /** Starts one and waits until its sockets are there. Throws `SIDE_CAR_FAILED` (party `environment`). */
  static async start(options: SideCarOptions): Promise<SideCar> {
    const { engine, owner, channels } = options;
    const name = `m4b-s-${randomBytes(6).toString('hex')}`;
    const relay = await Relay.start(channels);
    let child: ChildProcess | undefined;
    try {
      const volumeOptions = `size=${VOLUME_BYTES},mode=0755,uid=${SIDE_CAR_UID},gid=${SIDE_CAR_UID}`;
      await askEngine(engine, [
        ...['volume', 'create', '--label', SANDBOX_LABEL, '--label', `${OWNER_LABEL}=${owner}`],
        ...[
          '--driver',
          'local',
          '--opt',
          'type=tmpfs',
          '--opt',
          'device=tmpfs',
          '--opt',
          `o=${volumeOptions}`,
        ],
        name,
      ]);
      const words = [...engine.globalWords, ...sideCarArguments(options, name)];
      child = spawn(engine.program, words, {
        cwd: '/',
        env: engine.environment,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const ready = readiness(child);
      child.stdin!.write(
        `${JSON.stringify({ ...relayAddress(engine), port: relay.port, token: relay.token, channels: Object.keys(channels) })}\n`,
      );
      await ready;
      return new SideCar(name, engine, relay, child);
    } catch (thrown) {
      await new SideCar(name, engine, relay, child)[Symbol.asyncDispose]();
      throw new M4BenchError(
        'SIDE_CAR_FAILED',
        `The container beside the agent's, which leads to the gateway, did not start: ${messageOf(thrown).slice(0, 300)}.`,
        'Check that containers of this engine have a network and can reach this machine.',
        { party: 'environment', cause: thrown },
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child?.stdin?.end();
    await this.relay[Symbol.asyncDispose]();
    await askEngine(this.engine, ['rm', '--force', '--volumes', this.volume]).catch(() => {});
    await askEngine(this.engine, ['volume', 'rm', '--force', this.volume]).catch(() => {});
  }
}

/** How a container with a network reaches the loopback address of this machine. */
function relayAddress({ kind, sharesProcesses }: ContainerEngine): { readonly host: string } {
  if (sharesProcesses) return { host: '127.0.0.1' };
  return { host: kind === 'docker' ? 'host.docker.internal' : 'host.containers.internal' };
}

function sideCarArguments({ engine, image, owner }: SideCarOptions, volume: string): string[] {
  const tools = toolMounts().filter(
    ({ target }) => target === INSIDE_NODE || target === `${TOOLS_ROOT}/tools`,
  );
  return [
    ...['run', '--rm', '--interactive', '--name', volume],
    ...['--label', SANDBOX_LABEL, '--label', `${OWNER_LABEL}=${owner}`],
    // On this machine itself the relay's port is nowhere but on the loopback device.
    ...['--network', engine.sharesProcesses ? 'host' : 'bridge'],
    ...[
      '--log-driver',
      'none',
      '--pull',
      'never',
      '--read-only',
      '--user',
      `${SIDE_CAR_UID}:${SIDE_CAR_UID}`,
    ],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--memory', String(MEMORY_BYTES), '--memory-swap', String(MEMORY_BYTES), '--pids-limit', '64'],
    ...['--mount', `type=volume,source=${volume},target=${SIDE_CAR_FOLDER}`],
    ...tools.flatMap(({ source, target }) => ['--mount', mountWord(source, target, true)]),
    ...['--entrypoint', INSIDE_NODE, image, `${TOOLS_ROOT}/tools/side-car.mjs`, SIDE_CAR_FOLDER],
  ];
}

/** Settles when the side-car says that its sockets are there; fails when it ends before, or takes too long. */
function readiness(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error('it took too long'));
    }, START_MILLISECONDS);
    child.stdin!.on('error', () => {});
    child.stderr!.on('data', (chunk) => {
      said = `${said}${String(chunk)}`.slice(-2_000);
    });
    child.stdout!.on('data', (chunk) => {
      if (!String(chunk).includes('ready')) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(said.replace(/\s+/g, ' ').trim() || `exit status ${code}`));
    });
  });
}
