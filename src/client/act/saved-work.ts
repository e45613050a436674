import { FleetError, wrongInput, wrongState } from '../../domain/error.ts';
import { wipRef } from '../../domain/names.ts';
import { savedBranch, type SavedRun, type SavedThere } from '../../domain/agent/saved-work.ts';
import type { TaskInput } from '../../domain/task/schema.ts';
import { branchFault } from '../../domain/task/parse.ts';
import { isUrl } from '../../domain/repository/repository-name.ts';
import { ask } from '../read/read-log.ts';
import { taskOf } from '../start/hand-off.ts';
import { unansweredBy } from '../read/no-answer.ts';
import { viewTask } from '../read/view.ts';
import type { FleetConnection } from '../connection.ts';

interface Which {
  /** Number of a run; missing: the newest one that left something. */
  n?: number | undefined;
}

/** Work that runs have left and nobody accepted: in the vaults of the workers that had them. Each throws a FleetError where there is none. */
export class SavedWork {
  readonly #wire: FleetConnection;

  constructor(wire: FleetConnection) {
    this.#wire = wire;
  }

  /** By worker, that of the newest run first. */
  async list(id: string): Promise<SavedThere[]> {
    const places = await this.#places(id);
    return places.map(({ worker, runs, why }) => ({ worker, runs, ...(why === undefined ? {} : { why }) }));
  }

  /** Makes a branch of it in the task's repository; one that is there at the same commit is left. Gives what it is at. */
  async branch(id: string, { branch, n }: Which & { branch: string }): Promise<SavedRun> {
    refuse(branch);
    const { hostQueue, queue, worker, run } = await this.#find(id, n);
    const question = { ask: 'branch', taskId: id, runId: run.runId, branch } as const;
    if (await ask(this.#wire, { worker, hostQueue, queue }, question)) return run;
    throw await unansweredBy(this.#wire, { name: worker, hostQueue });
  }

  /**
   * The task that goes on with it: the same one, on the same base, so that all of the work is judged. `branch` is still to be
   * made (default: `saved/<id>-<n>`).
   */
  async continuation(
    id: string,
    { branch, n, objective }: Which & { branch?: string | undefined; objective?: string | undefined },
  ): Promise<{ input: TaskInput; branch: string; n: number }> {
    if (branch !== undefined) refuse(branch);
    const { run } = await this.#find(id, n);
    const { parent: _, proposed: __, base: ___, ...task } = await taskOf(this.#wire, id);
    if (!task.repo) throw wrongState(`task ${id} has no repository that could get a branch`);
    // What it depends on is put together anew.
    const base = task.dependsOn.length > 0 ? {} : { base: run.base };
    const input: TaskInput = { ...task, ...base, ...(objective === undefined ? {} : { objective }) };
    return { input, branch: branch ?? savedBranch(id, run.n), n: run.n };
  }

  async #find(id: string, n?: number) {
    const places = await this.#places(id);
    const all = places.flatMap((place) => place.runs.map((run) => ({ ...place, run })));
    const [found] = all.filter(({ run }) => n === undefined || run.n === n).sort((a, b) => b.run.n - a.run.n);
    if (found) return found;
    const whys = places.flatMap(({ why }) => why ?? []);
    const what = n === undefined ? `task ${id} has no saved work` : `run ${n} of task ${id} has no saved work`;
    throw new FleetError(whys.length > 0 ? 'unavailable' : 'not-found', [what, ...whys].join('; '));
  }

  async #places(id: string): Promise<(SavedThere & { hostQueue: string; queue: string })[]> {
    const { runs, queue, partial, message, repo } = await viewTask(this.#wire, id);
    if (partial && runs.length === 0 && message)
      throw new FleetError('unavailable', message, { hint: 'start a worker with fleet worker' });
    const workers = new Map(runs.toReversed().map(({ hostQueue, worker }) => [hostQueue, worker]));
    const shared =
      repo && isUrl(repo) ? `; the last that it pushed may be at ${wipRef(id)} of the repository, as the parent` : '';
    return Promise.all(
      [...workers].map(async ([hostQueue, worker]) => {
        const place = { worker, hostQueue, queue };
        try {
          const saved = await ask(this.#wire, place, { ask: 'work', taskId: id });
          if (saved) return { ...place, runs: saved };
          const { message } = await unansweredBy(this.#wire, { name: worker, hostQueue });
          return { ...place, runs: [], why: message + shared };
        } catch (error) {
          if (!(error instanceof FleetError)) throw error;
          return { ...place, runs: [], why: error.message };
        }
      }),
    );
  }
}

function refuse(branch: string): void {
  const wrong = branchFault(branch);
  if (wrong) throw wrongInput(wrong);
}
