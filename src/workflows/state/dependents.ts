import { CancellationScope, getExternalWorkflowHandle } from '@temporalio/workflow';
import { isClosed, standingFor } from '../../domain/scheduling/dependencies.ts';
import type { TaskView } from '../../domain/view/task-view.ts';
import type { TaskState } from '../../domain/task/state.ts';
import type { Task } from '../../domain/task/schema.ts';
import { Callback } from './callback.ts';
import { dependencySignal } from '../messages.ts';

/** Who hears how the task stands: its callback, and the tasks that wait for it. Each of these hears how it stands when it asks, and when it is parked, goes on or closes. */
export class Dependents {
  readonly #view: TaskView;
  readonly #callback: Callback | undefined;
  readonly #ids = new Set<string>();
  #told: TaskState | 'open' = 'open';
  #sending = Promise.resolve();

  constructor(view: TaskView, callback: Task['callback']) {
    this.#view = view;
    this.#callback = callback && new Callback(callback, view);
  }

  add(id: string): void {
    this.#ids.add(id);
    this.#tell([id]);
  }

  /** To be called at each change of state. */
  changed(): void {
    this.#callback?.changed();
    const { state } = this.#view;
    const now = state === 'parked' || isClosed(state) ? state : 'open';
    if (now === this.#told) return;
    this.#told = now;
    this.#tell([...this.#ids]);
  }

  /** Once all that was to be told was sent: a workflow that has closed tells nothing. */
  async sent(): Promise<void> {
    for (let awaited; awaited !== this.#sending;) await (awaited = this.#sending);
    await this.#callback?.sent();
  }

  /** One that is gone needs to hear nothing. */
  #tell(ids: readonly string[]): void {
    const said = standingFor(this.#view);
    const tell = (to: string) => getExternalWorkflowHandle(to).signal(dependencySignal, said);
    // One after the other, so that the last word is the newest; also of a task that is cancelled.
    this.#sending = this.#sending
      .then(() => CancellationScope.nonCancellable(() => Promise.allSettled(ids.map(tell))))
      .then(() => undefined);
  }
}
