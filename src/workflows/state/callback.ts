import { CancellationScope, getExternalWorkflowHandle } from '@temporalio/workflow';
import { isClosed } from '../../domain/scheduling/dependencies.ts';
import type { TaskView } from '../../domain/view/task-view.ts';
import type { TaskState } from '../../domain/task/state.ts';
import type { Task } from '../../domain/task/schema.ts';
import { noteSignal } from '../messages.ts';
import { outsideCalls } from './external-calls.ts';

const CANCELLED = '10s';

type To = NonNullable<Task['callback']>;

/**
 * Tells how a task ended, or that it is parked, to those that its `callback` names: once each, and not for long where one does
 * not hear. Also of a task that was cancelled, which waits for nobody longer than for `CANCELLED`.
 */
export class Callback {
  readonly #to: To;
  readonly #view: TaskView;
  readonly #told = new Set<TaskState>();
  readonly #earlier: CancellationScope[] = [];
  #sending = Promise.resolve();

  constructor(to: To, view: TaskView) {
    this.#to = to;
    this.#view = view;
  }

  /** To be called at each change of state. */
  changed(): void {
    const { state } = this.#view;
    if (this.#told.has(state) || !(state === 'parked' || isClosed(state))) return;
    this.#told.add(state);
    const tell = () => Promise.allSettled(this.#tellAll());
    const sent = CancellationScope.nonCancellable(() => this.#givingUpEarlier(tell));
    this.#sending = Promise.all([this.#sending, sent]).then(() => undefined);
  }

  /** Once all that was to be told was told, or could not be. */
  sent = (): Promise<void> => this.#sending;

  /** Who cancels a task does not wait for what was still to be told of it. */
  #givingUpEarlier<T>(tell: () => Promise<T>): Promise<T> {
    if (this.#view.state === 'cancelled') for (const scope of this.#earlier) scope.cancel();
    // Histories of version 0.1 do not shield a scope inside of one that is not cancellable.
    const scope = new CancellationScope();
    this.#earlier.push(scope);
    return scope.run(tell);
  }

  #tellAll(): Promise<unknown>[] {
    const { task, webhook, message } = this.#to;
    const { id, title, state, reason, message: why, branch, commit } = this.#view;
    const said = { key: `${id}/callback/${state}`, id, title, state, reason, message: why, branch, commit };
    const retry = { initialInterval: '1s', backoffCoefficient: 3, maximumAttempts: 5 } as const;
    const calls = (startToCloseTimeout: '10s' | '45s') =>
      outsideCalls({
        ...{ summary: `say that it is ${state}`, startToCloseTimeout, retry },
        ...(state === 'cancelled' ? { scheduleToCloseTimeout: CANCELLED } : {}),
      });
    return [
      ...(task ? [getExternalWorkflowHandle(task).signal(noteSignal, { from: id, text: this.#text() })] : []),
      ...(webhook ? [calls('10s').tellWebhook({ url: webhook, ...said })] : []),
      ...(message ? [calls('45s').tellPeople(said)] : []),
    ];
  }

  #text(): string {
    const { state, title, message, branch, commit } = this.#view;
    const result = branch ? `, branch ${branch}` : commit ? `, commit ${commit}` : '';
    return `is ${state}${result}${message ? `: ${message}` : ''} (${title})`.slice(0, 2_000);
  }
}
