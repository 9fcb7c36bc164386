import { constants } from 'node:os';

/**
 * The system call filter of the bubblewrap sandbox as a classic BPF program (seccomp(2)): everything is allowed
 * but the calls below, which have no use in data work and have been the way out of sandboxes before.
 * Numbers are from the kernel's syscall tables (x86-64, and the generic table that arm64 uses).
 */
interface CallNumbers {
  readonly x64: number | null;
  readonly arm64: number | null;
}

const DENIED_CALLS: Readonly<Record<string, CallNumbers>> = {
  // Mounts and namespaces.
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  chroot: { x64: 161, arm64: 51 },
  unshare: { x64: 272, arm64: 97 },
  setns: { x64: 308, arm64: 268 },
  open_tree: { x64: 428, arm64: 428 },
  move_mount: { x64: 429, arm64: 429 },
  fsopen: { x64: 430, arm64: 430 },
  fsconfig: { x64: 431, arm64: 431 },
  fsmount: { x64: 432, arm64: 432 },
  fspick: { x64: 433, arm64: 433 },
  mount_setattr: { x64: 442, arm64: 442 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  name_to_handle_at: { x64: 303, arm64: 264 },
  // Other processes.
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  kcmp: { x64: 312, arm64: 272 },
  // Kernel surfaces.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  reboot: { x64: 169, arm64: 142 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  syslog: { x64: 103, arm64: 116 },
  acct: { x64: 163, arm64: 89 },
  quotactl: { x64: 179, arm64: 60 },
  settimeofday: { x64: 164, arm64: 170 },
  clock_settime: { x64: 227, arm64: 112 },
  iopl: { x64: 172, arm64: null },
  ioperm: { x64: 173, arm64: null },
};

/** Calls that programs probe for and do without when the kernel seems not to know them. */
const ABSENT_CALLS: Readonly<Record<string, CallNumbers>> = {
  // Its arguments lie in memory, where a filter cannot see namespace flags; the C library falls back to clone.
  clone3: { x64: 435, arm64: 435 },
  io_uring_setup: { x64: 425, arm64: 425 },
  io_uring_enter: { x64: 426, arm64: 426 },
  io_uring_register: { x64: 427, arm64: 427 },
};

const CLONE: CallNumbers = { x64: 56, arm64: 220 };
const SOCKET: CallNumbers = { x64: 41, arm64: 198 };
const IOCTL: CallNumbers = { x64: 16, arm64: 29 };
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACE_FLAGS = 0x7e020000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK; not AF_VSOCK, which reaches the host of a virtual machine. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** TIOCSTI and TIOCLINUX push characters into a terminal. */
const TERMINAL_REQUESTS = [0x5412, 0x541c];

const AUDIT_ARCHITECTURE = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const X32_BIT = 0x40000000;

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const errnoReturn = (errno: number): number => 0x00050000 | errno;

const OFFSET_NUMBER = 0;
const OFFSET_ARCHITECTURE = 4;
/** Low word of argument `index` (little endian). */
const offsetOfArgument = (index: number): number => 16 + 8 * index;

interface Instruction {
  readonly code: number;
  readonly whenTrue: number;
  readonly whenFalse: number;
  readonly value: number;
}

const instruction = (code: number, value: number, whenTrue = 0, whenFalse = 0): Instruction => ({
  code,
  whenTrue,
  whenFalse,
  value,
});

/** Returns `result` for one call number; falls through otherwise. */
function refuseCall(number: number, result: number): Instruction[] {
  return [instruction(JUMP_EQUAL, number, 0, 1), instruction(RETURN, result)];
}

/** For one call number, runs `body` on one argument; `body` ends in a RETURN on every path. */
function inspectArgument(number: number, argument: number, body: readonly Instruction[]): Instruction[] {
  return [
    instruction(JUMP_EQUAL, number, 0, body.length + 1),
    instruction(LOAD_WORD, offsetOfArgument(argument)),
    ...body,
  ];
}

/** The filter for a processor architecture, or undefined where none is written. */
export function seccompFilter(architecture: string): Buffer | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined;
  const denied = errnoReturn(constants.errno.EPERM);
  const absent = errnoReturn(constants.errno.ENOSYS);
  const numbersOf = (calls: Readonly<Record<string, CallNumbers>>): number[] =>
    Object.values(calls).flatMap((call) => call[architecture] ?? []);

  const program: Instruction[] = [
    instruction(LOAD_WORD, OFFSET_ARCHITECTURE),
    instruction(JUMP_EQUAL, AUDIT_ARCHITECTURE[architecture], 1, 0),
    instruction(RETURN, denied),
    instruction(LOAD_WORD, OFFSET_NUMBER),
    ...(architecture === 'x64'
      ? [instruction(JUMP_AT_LEAST, X32_BIT, 0, 1), instruction(RETURN, absent)]
      : []),
    ...numbersOf(DENIED_CALLS).flatMap((number) => refuseCall(number, denied)),
    ...numbersOf(ABSENT_CALLS).flatMap((number) => refuseCall(number, absent)),
    ...inspectArgument(CLONE[architecture]!, 0, [
      instruction(JUMP_ANY_BIT, NEW_NAMESPACE_FLAGS, 0, 1),
      instruction(RETURN, denied),
      instruction(RETURN, ALLOW),
    ]),
    ...inspectArgument(SOCKET[architecture]!, 0, [
      ...SOCKET_FAMILIES.flatMap((family) => [
        instruction(JUMP_EQUAL, family, 0, 1),
        instruction(RETURN, ALLOW),
      ]),
      instruction(RETURN, errnoReturn(constants.errno.EAFNOSUPPORT)),
    ]),
    ...inspectArgument(IOCTL[architecture]!, 1, [
      ...TERMINAL_REQUESTS.flatMap((request) => refuseCall(request, denied)),
      instruction(RETURN, ALLOW),
    ]),
    instruction(RETURN, ALLOW),
  ];
  return encode(program);
}

/** `struct sock_filter`: u16 code, u8 jump if true, u8 jump if false, u32 value; little endian. */
function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, whenTrue, whenFalse, value }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
