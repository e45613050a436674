/** A number of each call: of x86-64, of 32-bit x86, and of the kernel's generic table (arm64, riscv64, loongarch64). */
type Numbers = readonly [x64: number, x86: number, generic: number];

/** From 424 on all machines share one table. */
const everywhere = (first: number, last = first): Numbers[] =>
  Array.from({ length: last - first + 1 }, (_, at): Numbers => [first + at, first + at, first + at]);

/** What no program of a tree calls: taking what others have open, the kernel's own stores, and its least tried parts. */
const DENIED: readonly Numbers[] = [
  ...everywhere(438), // pidfd_getfd
  [250, 288, 219], // keyctl
  [248, 286, 217], // add_key
  [249, 287, 218], // request_key
  [321, 357, 280], // bpf
  [298, 336, 241], // perf_event_open
  [323, 374, 282], // userfaultfd
  ...everywhere(425, 427), // io_uring_setup, _enter, _register
  [165, 21, 40], // mount
  [166, 52, 39], // umount2
  [166, 22, 39], // umount, of 32-bit x86
  [155, 217, 41], // pivot_root
  [308, 346, 268], // setns
  ...everywhere(428, 433), // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick
  ...everywhere(442), // mount_setattr
  ...everywhere(467), // open_tree_attr
];
/** Its flags are in memory, where no filter looks: without it, the C library calls clone. */
const CLONE3 = 435;

const NEW_USER = 0x1000_0000;
/** TIOCSTI and TIOCLINUX: typing into a terminal. */
const TYPED = [0x5412, 0x541c];
/** Following another process and reading it, as a leak sanitizer and strace do; none that changes it, as a debugger does. */
const READING = [
  ...[0, 1, 2, 3, 7, 8, 9, 12, 14, 16, 17, 18, 24],
  ...[0x4200, 0x4201, 0x4202, 0x4204, 0x4206, 0x4207, 0x4208, 0x4209, 0x420a, 0x420d, 0x420e, 0x420f],
];

/** A call that depends on the low half of one of its arguments: denied where that `is` one, has a bit of `has`, or is not of `only`. */
type Rule = { call: Numbers; arg: number } & ({ is: number[] } | { has: number } | { only: number[] });

const RULES: readonly Rule[] = [
  { call: [56, 120, 220], arg: 0, has: NEW_USER }, // clone
  { call: [272, 310, 97], arg: 0, has: NEW_USER }, // unshare
  { call: [16, 54, 29], arg: 1, is: TYPED }, // ioctl
];

/** What debuggers do. */
const WRITES: readonly Numbers[] = [[311, 348, 271]]; // process_vm_writev
const READS: readonly Rule[] = [{ call: [101, 26, 117], arg: 0, only: READING }]; // ptrace

/** AUDIT_ARCH_… of linux/audit.h. */
const MACHINES = [
  { archs: [0xc000_003e], table: 0 },
  { archs: [0x4000_0003], table: 1 },
  { archs: [0xc000_00b7, 0xc000_00f3, 0xc000_0102], table: 2 },
] as const;
/** Calls of x86-64's table with 32-bit pointers, which nothing uses. */
const X32 = 0x4000_0000;

/** Instructions of the kernel's packet filters, linux/bpf_common.h. */
const LOAD = 0x20;
const JUMP = 0x05;
const IF = { equal: 0x15, atLeast: 0x35, bits: 0x45 };
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const deny = (errno: number): Step => [RETURN, 0, 0, 0x0005_0000 | errno];
/** Linux's numbers of errors. */
const [EPERM, ENOSYS] = [1, 38];
const DENY = deny(EPERM);

/** Code, instructions to skip where it holds, where it does not, operand. */
type Step = readonly [code: number, yes: number, no: number, operand: number];

/** Where `seccomp_data` has them: the call's number, the machine, the low halves of the arguments. */
const AT = { call: 0, machine: 4, argument: (index: number) => 16 + 8 * index };

const when = (test: number, operand: number, then: Step): Step[] => [[test, 0, 1, operand], then];

function ruled({ call, arg, ...on }: Rule, table: 0 | 1 | 2): Step[] {
  const steps: Step[] = [[LOAD, 0, 0, AT.argument(arg)]];
  const allow: Step = [RETURN, 0, 0, ALLOW];
  if ('only' in on) steps.push(...on.only.flatMap((value) => when(IF.equal, value, allow)), DENY);
  else if ('is' in on) steps.push(...on.is.flatMap((value) => when(IF.equal, value, DENY)), allow);
  else steps.push(...when(IF.bits, on.has, DENY), allow);
  return [[IF.equal, 0, steps.length, call[table]], ...steps];
}

function stepsOf(table: 0 | 1 | 2, debuggers: boolean): Step[] {
  const [denied, rules] = debuggers
    ? [DENIED, RULES]
    : [
        [...DENIED, ...WRITES],
        [...RULES, ...READS],
      ];
  return [
    [LOAD, 0, 0, AT.call],
    ...(table === 0 ? when(IF.atLeast, X32, DENY) : []),
    ...denied.flatMap((call) => when(IF.equal, call[table], DENY)),
    ...when(IF.equal, CLONE3, deny(ENOSYS)),
    ...rules.flatMap((rule) => ruled(rule, table)),
    [RETURN, 0, 0, ALLOW],
  ];
}

interface Filtered {
  debuggers?: boolean;
}

/** Beside this file, when it is built. */
export const filterFile = ({ debuggers }: Filtered): string => (debuggers ? 'debuggers.bpf' : 'syscalls.bpf');

/**
 * The filter of system calls that a tree's programs run under, as `bwrap --seccomp` reads it (struct sock_filter, little-endian):
 * what is denied fails with EPERM, a program of another kind of machine is killed. Flatpak's list, but for what only follows
 * and reads another process; with `debuggers`, also for what changes it.
 */
export function syscallFilter({ debuggers = false }: Filtered): Buffer {
  const machines = MACHINES.flatMap(({ archs, table }) => {
    const steps = stepsOf(table, debuggers);
    return archs.flatMap((arch): Step[] => [[IF.equal, 1, 0, arch], [JUMP, 0, 0, steps.length], ...steps]);
  });
  const steps: Step[] = [[LOAD, 0, 0, AT.machine], ...machines, [RETURN, 0, 0, KILL]];
  const bytes = Buffer.alloc(steps.length * 8);
  steps.forEach(([code, yes, no, operand], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  });
  return bytes;
}
