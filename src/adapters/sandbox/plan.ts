import type { Isolation } from '../../domain/run.ts';

/** What a process tree may see and write. All paths are absolute. */
export interface IsolationPlan {
  isolation: Isolation;
  /** `$FLEET_HOME`: an empty read-only folder for the tree, apart from `show`. */
  home: string;
  /** Folders inside `home` that the tree sees. They must exist. */
  show: { path: string; readOnly?: boolean }[];
  /** Folders outside `home` that the tree does not see at all: other fleet homes. A missing one is skipped. */
  hide?: string[];
  /** Folders outside `home` that the tree can only read, e.g. the user's checkout. A missing one is skipped. */
  readOnly: string[];
  /** Folders that stay writable inside of a read-only one. A missing one is skipped. */
  writable?: string[];
  /**
   * A shown folder that stands in for /tmp and /var/tmp, so that nothing is seen there of others, nor left for them; of what
   * is there, only the entries with a path that is named by the plan or the command stay.
   */
  tmp?: string;
  /** Nothing outside of the shown folders can be written. */
  sealed?: boolean;
}

/** What an order names beside the folders of its plan: what of it lies in a private folder such as /tmp stays there. */
export interface Named {
  argv: readonly string[];
  cwd: string;
  env?: Readonly<Record<string, string>>;
}
