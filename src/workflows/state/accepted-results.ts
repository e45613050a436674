import type { Verified } from '../../domain/view/task-view.ts';
import type { Accepted, ProposedFollowUps } from '../../domain/run/accepted.ts';

/** The accepted results of a task: one may have been delivered unheard, and one may be mended by a later one. */
export class AcceptedResults {
  /** The one that waits, without a slot, for what is still to be done with it. */
  kept: Accepted | null = null;
  /** By the last run that asked. */
  proposed: ProposedFollowUps | null = null;
  #accepted: string[] = [];
  /** Where the task's branch stands by its own delivery, and the host queue of the worker that has brought it there. */
  branch: { commit: string; hostQueue: string } | null = null;

  note({ verdict, elsewhere, commit }: Verified): void {
    if (verdict.accepted && !elsewhere && commit) this.#accepted.push(commit);
  }

  /** A person said no: wherever it is found, it is not this task's result. */
  refused(commit: string | null): void {
    this.#accepted = this.#accepted.filter((other) => other !== commit);
  }

  /** What a delivery may find in place of a branch of its own: an earlier result, or the one that is to be mended. */
  before({ commit }: Verified): { earlier: string[]; replaces?: string } {
    const earlier = this.#accepted.filter((other) => other !== commit && other !== this.branch?.commit);
    return { earlier, ...this.replacing(commit) };
  }

  /** The result that the task's branch stands at, where another one is to take its place. */
  replacing = (commit: string | null): { replaces?: string } =>
    this.branch && this.branch.commit !== commit ? { replaces: this.branch.commit } : {};
}
