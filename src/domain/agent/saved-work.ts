/**
 * What a run had made when it ended, or so far: kept on `rescueRef` in its worker's vault and, where the repository's
 * remote takes it, on `wipRef` there.
 */
export interface SavedWork {
  /** The walked tree as a commit; on top of `head` where something was uncommitted. */
  commit: string;
  /** The agent's own last commit, or the base. */
  head: string;
  /** The coder's session, where its files were saved along. */
  session: string | null;
  /** It is on the remote's `wipRef` as well: another machine can go on from it. */
  pushed: boolean;
  /** ISO */
  at: string;
}

/** What a worker's vault has of one run. */
export interface SavedRun {
  runId: string;
  n: number;
  coder: string;
  /** The commit that the run started from. */
  base: string;
  /** As in `SavedWork`. */
  commit: string;
  head: string;
  /** Its conversation was saved along. */
  session: boolean;
  /** ISO */
  at: string;
  files: number;
  insertions: number;
  deletions: number;
}

/** What one worker has saved of a task. */
export interface SavedThere {
  worker: string;
  /** Newest first. */
  runs: SavedRun[];
  /** Why nothing is known: it is not attached, or has cleaned it. */
  why?: string;
}

/** The branch that a person makes of it, where no other name is given. */
export const savedBranch = (taskId: string, n: number): string => `saved/${taskId}-${n}`;

/** Where a run may start from instead of the base: what was saved of earlier runs of the same task. */
export interface ResumeFrom {
  /** Newest first; what is found of the first of them is used. Of a lost worker's run that is its last checkpoint. */
  runIds: string[];
  /** Why the newest ended, one sentence for the agent. */
  why: string;
  /** Those of them whose conversation is not gone on with: it outgrew the model, or leads nowhere. */
  spent?: string[];
}
