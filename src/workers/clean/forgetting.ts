import type { Client } from '@temporalio/client';
import type { Deps } from '../../activities/worker/context.ts';
import { cleanUpTask } from '../../activities/save/clean-up-task.ts';
import type { Debt } from '../../domain/worker/worker.ts';
import { tellPaid } from '../record.ts';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 10 * 60_000;
const DEADLINE_MS = 5_000;

/**
 * Pays what this worker owes of tasks that ended without it: beside its other work, since a remote may hang, and after ever
 * longer pauses where one does.
 */
export class Forgetting {
  readonly #deps: Deps;
  readonly #client: Client;
  readonly #stop = new AbortController();
  #round: Promise<void> | undefined;
  #pauseMs = 0;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(deps: Deps, client: Client) {
    this.#deps = deps;
    this.#client = client;
  }

  begin(owed: readonly Debt[]): void {
    if (owed.length === 0) this.#pauseMs = 0;
    else if (performance.now() >= this.#notBefore)
      this.#round ??= this.#pay(owed).finally(() => (this.#round = undefined));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#round;
  }

  async #pay(owed: readonly Debt[]): Promise<void> {
    let all = true;
    for (const debt of owed) {
      if (this.#stop.signal.aborted) return;
      if (!(await this.#payOne(debt).catch(() => false))) all = false;
    }
    this.#pauseMs = all ? 0 : Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs));
    this.#notBefore = performance.now() + this.#pauseMs;
  }

  async #payOne(debt: Debt): Promise<boolean> {
    // What an open task keeps is its own: also of another one, later, by the same id.
    if (!(await this.#isClosed(debt.taskId))) return false;
    const { taskId, forget, repo } = debt;
    const order = { taskId, ending: forget!, ...(repo ? { repo } : {}) };
    if (!(await cleanUpTask(this.#deps, order, this.#stop.signal))) return false;
    await tellPaid(this.#deps, this.#client, debt);
    return true;
  }

  async #isClosed(taskId: string): Promise<boolean> {
    try {
      const handle = this.#client.workflow.getHandle(taskId);
      const { status } = await this.#client.withDeadline(Date.now() + DEADLINE_MS, () => handle.describe());
      return status.name !== 'RUNNING';
    } catch (error) {
      return error instanceof Error && error.name === 'WorkflowNotFoundError';
    }
  }
}
