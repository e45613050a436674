import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow';
import type { TaskServices } from '../../activities/services/task-services.ts';
import type { ScopeAnswer } from '../../domain/scheduling/scope-locks.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { grantedSignal, leaveScopeSignal } from '../messages.ts';

/** For as long nothing was heard: somebody may have ended the workflow of the locks. */
const ASK_AGAIN = '1h';

/** This task's place among those of its repository that do not run at the same time where their scopes overlap. */
export class Scope {
  readonly #record: TaskRecord;
  #told: ScopeAnswer | undefined;
  #locks: string | undefined;
  /** Number of the request: an answer to an earlier one is ignored. */
  #ticket = 0;

  constructor(record: TaskRecord) {
    this.#record = record;
    setHandler(grantedSignal, (told) => {
      if (told.ticket === this.#ticket && this.#told?.first !== null) this.#told = told;
    });
  }

  /** Waits for its turn, where it has to. `again`: there is something to look at first. */
  async enter(task: Task): Promise<'go' | 'again'> {
    if (task.overlap !== 'serialize' || !task.repo) return 'go';
    const { view, place } = this.#record;
    const { askForScope } = proxyLocalActivities<TaskServices>({
      startToCloseTimeout: '30s',
      summary: 'ask for its scope',
    });
    this.#ticket += 1;
    const { repo, machine, scope } = task;
    const ask = { taskId: view.id, ticket: this.#ticket, allow: scope.allow ?? [] };
    const woken = () => this.#record.candidate !== undefined || place.moved;
    for (;;) {
      this.#locks = await askForScope({ repo, ...(machine ? { machine } : {}), ...ask });
      for (let heard = true; heard;) {
        const told = this.#told;
        if (told?.first === null) {
          if (view.state === 'blocked') this.#record.enter('queued');
          return 'go';
        }
        if (told) this.#record.wait('blocked', sentenceOf(told));
        heard = await condition(() => this.#told !== told || woken(), ASK_AGAIN);
        if (woken()) return 'again';
      }
    }
  }

  /** Makes way. Not cancellable: who waits must hear of it. */
  async leave(): Promise<void> {
    if (!this.#locks) return;
    const locks = getExternalWorkflowHandle(this.#locks);
    this.#locks = this.#told = undefined;
    const said = { taskId: this.#record.view.id, ticket: this.#ticket };
    this.#ticket += 1;
    await CancellationScope.nonCancellable(() => locks.signal(leaveScopeSignal, said).catch(() => undefined));
  }
}

const sentenceOf = ({ first, others }: ScopeAnswer): string =>
  `it waits for task ${first}${others > 0 ? ` and ${others} more` : ''}, whose scope overlaps`;
