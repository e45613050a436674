import { getExternalWorkflowHandle, isCancellation, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { TaskServices } from '../../activities/services/task-services.ts';
import type { Dependency, Result } from '../../domain/people/waiting.ts';
import { isClosed, resultsIn, unheard } from '../../domain/scheduling/dependencies.ts';
import type { Task } from '../../domain/task/schema.ts';
import { dependantSignal } from '../messages.ts';

/**
 * The tasks that this one depends on. Each is told once that somebody waits, and says itself how it ends: until then
 * nothing happens here, but for a look now and then.
 */
export class Dependencies {
  readonly #view: { dependsOn: Dependency[] };
  readonly #asked = new Set<string>();
  /** Something was heard, added or dropped. */
  changed = false;
  /** Its base is settled: what is heard later changes nothing about that. */
  based = false;

  constructor(view: { dependsOn: Dependency[] }) {
    this.#view = view;
  }

  get list(): readonly Dependency[] {
    return this.#view.dependsOn;
  }

  hear(said: Dependency): void {
    const known = this.#view.dependsOn.find(({ id }) => id === said.id);
    // An older word may come behind a newer one; what is closed stays so.
    if (!known || (isClosed(known.state) && !isClosed(said.state))) return;
    Object.assign(known, said);
    this.changed = true;
  }

  change({ add, drop }: { add: readonly string[]; drop: readonly string[] }): void {
    const { dependsOn } = this.#view;
    const stay = dependsOn.filter(({ id }) => !drop.includes(id));
    const fresh = add.filter((id) => !stay.some((known) => known.id === id)).map(unheard);
    for (const id of drop) this.#asked.delete(id);
    this.#view.dependsOn = [...stay, ...fresh];
    this.changed = true;
  }

  /** The results that the first run starts from; later ones have its base. */
  resultsFor({ repo }: Task): { results?: Result[] } {
    const results = this.based ? [] : resultsIn(repo, this.list);
    return results.length > 0 ? { results } : {};
  }

  /** What was heard may be missing something. */
  lookAgain(): void {
    this.#asked.clear();
    this.changed = true;
  }

  /** Any worker says which of those that are open have ended. */
  async look(): Promise<void> {
    const open = this.list.filter(({ state }) => !isClosed(state)).map(({ id }) => id);
    const summary = 'look for dependencies that have ended';
    const { lookUpEnded } = proxyLocalActivities<TaskServices>({ startToCloseTimeout: '1m', summary });
    for (const one of await lookUpEnded(open)) this.hear(one);
  }

  /** Tells each that did not hear yet; of those that cannot hear, any worker says how they stand. True: all have heard. */
  async ask(): Promise<boolean> {
    const fresh = this.list.filter(({ id, state }) => !this.#asked.has(id) && !isClosed(state)).map(({ id }) => id);
    const heard = await Promise.all(
      fresh.map((id) => {
        this.#asked.add(id);
        return getExternalWorkflowHandle(id)
          .signal(dependantSignal, { id: workflowInfo().workflowId })
          .then(() => [])
          .catch((error: unknown) => {
            if (isCancellation(error)) throw error;
            return [id];
          });
      }),
    );
    const silent = heard.flat();
    if (silent.length === 0) return true;
    const { lookUpTasks } = proxyLocalActivities<TaskServices>({
      startToCloseTimeout: '1m',
      summary: 'look up dependencies',
    });
    const found = await lookUpTasks(silent);
    for (const one of found) {
      if (!isClosed(one.state)) this.#asked.delete(one.id);
      this.hear(one);
    }
    return found.every(({ state }) => isClosed(state));
  }
}
