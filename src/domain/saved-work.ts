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

/** Where a run may start from instead of the base: what was saved of earlier runs of the same task. */
export interface ResumeFrom {
  /** Newest first; what is found of the first of them is used. Of a lost worker's run that is its last checkpoint. */
  runIds: string[];
  /** Why the newest ended, one sentence for the agent. */
  why: string;
  /** Those of them whose conversation is not gone on with: it outgrew the model, or leads nowhere. */
  spent?: string[];
}
