import type { Wanting } from '../../domain/run/claim.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import type { Choice } from '../../domain/routing/route.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { SavedWork } from '../../domain/agent/saved-work.ts';
import type { Submodule } from '../../domain/repository/submodule.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { Look } from '../git/capture/tamper-check.ts';

/** What this worker knows of a run that it claimed; `run.json` in the run's folder. */
export interface RunRecord extends RunRef, Pick<Choice, 'model' | 'limits' | 'rule'> {
  n: number;
  coder: string;
  /** Name of the credential that it has a seat of; null: the coder's own login or the worker's environment. */
  credential: string | null;
  /** The coder reports its end and its tools, as it was at the claim: what a verdict asks for does not change later. */
  structured: boolean;
  /** The identity of the server's data that the claim came from. */
  server: string;
  /** Who else could have had it; missing where the claim did not say what the task is. */
  wanting?: Wanting;
  /** ISO */
  claimedAt: string;
  /** ISO: since when this worker is attached to another server than `server`. */
  leftAt?: string;
  /** The workflow's run: a task id can be used again, and a history can be rolled back. */
  workflowRunId: string;
  /** The task does not own it any more: it holds no slot, and its folder waits for the receipts of a late result. */
  retired?: true;
  /** Set by `createWorktree`; the later activities read it, so that the task travels through the history once. */
  prepared: Prepared | null;
}

export interface Prepared {
  /** What it started from instead of the base. */
  resumed: Resumed | null;
  task: Task;
  policy: Policy;
  base: string;
  /** Base store that the run borrows from. */
  baseDir: string;
  /** Those that are checked out in the worktree, parents first. */
  submodules: Submodule[];
  /** Folder name of the repository in bases/ and vault/. */
  repoKey: string;
  /** The user's checkout; null for a URL or no repository. */
  checkout: string | null;
  /** Folders of the user's repository that the agent can only read. */
  sealed: string[];
  /** Files that setup and copy made, by path: left out of the result where unchanged. */
  preexisting: Record<string, { mode: string; id: string }>;
  /** How places that the run has no business in looked before; missing in what an older worker prepared. */
  elsewhere?: Look;
}

/** What a run starts from that an earlier one left. */
export interface Resumed {
  /** Null: it is no run of this task's, but a commit that its owner named (`continueFrom`). */
  runId: string | null;
  saved: SavedWork;
  /** Why that one ended; or which commit. */
  why: string;
  /** The tool call that nobody saw the end of. */
  inFlight: string | null;
  /** The coder that made it, where that is another one. */
  coder?: string;
  /** Its session, where this run's coder can go on with it: a file outside of what the agent sees. */
  session: { id: string; file: string } | null;
}
