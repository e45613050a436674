import { existsSync } from 'node:fs';
import type { Isolation } from '../../domain/run/outcome.ts';
import type { ResourceLimits } from './cgroup.ts';
import { parentsOf } from './cgroup-parents.ts';

/** Files that a process may have open. More would only be what a program walks through that closes all it might have. */
const OPEN_FILES = 16_384;
/** A control group refuses first, and counts it. */
const BESIDE = 16;
const NONE = '-';

/**
 * What the shell in front of a tree sets, then the program: kernel limits of each process, also where no control group can be
 * written. A limit above the one that is set already is left out. dash has `-p` for the number of processes, others have `-u`.
 */
export const LIMITED = `
[ "$1" = - ] || ulimit -u "$1" || ulimit -p "$1"
[ "$2" = - ] || ulimit -d "$2"
[ "$3" = - ] || ulimit -f "$3"
ulimit -n "$4"
shift 4
`;

/**
 * The four arguments of `LIMITED`. Processes are counted by user in a user namespace, so in a process group all of the user's
 * would be; and not for root. Memory is of each process, and the room for sanitizers counts: only where it was asked for, and
 * no control group holds the tree to it.
 */
export function limitArgs(
  limits: ResourceLimits,
  { isolation, home }: { isolation: Isolation; home: string },
): string[] {
  const { processes, memoryBytes, diskBytes } = limits;
  const counted = processes !== undefined && isolation === 'namespace';
  const grouped = memoryBytes !== undefined && holdsMemory(home);
  return [
    counted ? `${processes + BESIDE}` : NONE,
    memoryBytes === undefined || grouped ? NONE : `${Math.ceil(memoryBytes / 1_024)}`,
    diskBytes === undefined ? NONE : `${Math.ceil(diskBytes / 512)}`,
    `${OPEN_FILES}`,
  ];
}

const holdsMemory = (home: string): boolean =>
  parentsOf(home).some((dir) => ['memory.max', 'memory.limit_in_bytes'].some((file) => existsSync(`${dir}/${file}`)));
