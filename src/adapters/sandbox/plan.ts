import type { Egress } from '../../domain/task/network.ts';
import type { ResourceLimits } from './cgroup.ts';
import type { Isolation } from '../../domain/run/outcome.ts';

/** What a process tree may see and write, beside the programs that it needs: nothing else is there. All paths are absolute. */
export interface IsolationPlan {
  isolation: Isolation;
  /** `$FLEET_HOME`: an empty read-only folder for the tree, apart from `show`. */
  home: string;
  /** Folders inside `home` that the tree sees. They must exist. */
  show: { path: string; readOnly?: boolean }[];
  /** Folders that the tree does not see where they lie in one that it does: other fleet homes. A missing one is skipped. */
  hide?: string[];
  /** Files and folders that the tree can read. A missing one is skipped. */
  read?: string[];
  /** Files and folders that the tree can also write: a login that its program renews. A missing one is skipped. */
  write?: string[];
  /** A shown folder that stands in for /tmp and /var/tmp. */
  tmp?: string;
  /** Its programs may change each other, as debuggers do: no check's, where some report on others. */
  debuggers?: boolean;
  /** Missing: in namespaces, the tree has no network but its own loopback. */
  way?: Way;
}

/** The way out of a tree's network: what connects to a port of its loopback is handed on to a proxy outside. */
export interface Way {
  port: number;
  /** Ports that lead straight to the same ones of the machine's loopback: services that the owner lists. */
  services: number[];
  /** Unix socket outside, of an `EgressProxy`. */
  socket: string;
  egress: Egress;
  /** File outside where it is noted what was reached. */
  reached?: string;
}

/** What is started: the programs that it needs follow from it. */
export interface Named {
  argv: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string | undefined>>;
  limits?: ResourceLimits;
}
