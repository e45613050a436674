import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { TaskView } from '../../src/domain/view/task-view.ts';
import type { TaskState } from '../../src/domain/task/state.ts';
import { ActivityTask } from './activity-task.ts';
import type { Timer } from './clock.ts';
import { Execution, fromPayload, startArguments, toPayload, type Command, type Job } from './execution.ts';
import type { Server } from './server.ts';

export type Closed =
  | { as: 'completed'; view: TaskView }
  | { as: 'failed'; message: string; type: string }
  | { as: 'cancelled' };

/** One workflow as the server holds it: what waits for its next workflow task, and what it has asked for. */
export class WorkflowRecord {
  closed: Closed | undefined;
  closedAt: number | undefined;
  /** While no worker at all was there for its workflow tasks. */
  waitedMs = 0;
  readonly #execution: Execution;
  readonly #pending: Job[] = [];
  readonly #activities = new Map<number, ActivityTask>();
  readonly #timers = new Map<number, Timer>();
  readonly #updates = new Map<string, (accepted: boolean) => void>();
  #scheduled = false;
  #ids = 0;

  readonly server: Server;
  readonly id: string;

  constructor(server: Server, id: string, input: unknown) {
    this.server = server;
    this.id = id;
    this.#execution = new Execution(id, () => server.clock.now);
    this.push({
      initializeWorkflow: { workflowType: 'agentTask', workflowId: id, arguments: startArguments(input), headers: {} },
    });
  }

  get view(): TaskView | undefined {
    return this.#execution.view;
  }

  signal(name: string, arg: unknown): void {
    this.push({ signalWorkflow: { signalName: name, input: [toPayload(arg)], headers: {} } });
  }
  cancel(): void {
    this.push({ cancelWorkflow: {} });
  }
  update(name: string, arg: unknown, answered: (accepted: boolean) => void): void {
    const id = `u${++this.#ids}`;
    this.#updates.set(id, answered);
    this.push({
      doUpdate: { id, protocolInstanceId: id, name, input: [toPayload(arg)], headers: {}, runValidator: true },
    });
  }

  /** A job for the next workflow task; several that come at about the same time share one. */
  push(job: Job): void {
    if (this.closed) return;
    this.#pending.push(job);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.server.workflowTask(this);
  }

  async activate(): Promise<void> {
    this.#scheduled = false;
    if (this.closed) return;
    try {
      for (const command of await this.#execution.activate(this.#pending.splice(0))) this.#obey(command);
    } catch (error) {
      this.server.checker.violation(
        `workflow task of ${this.id} failed: ${error instanceof Error ? error.stack : String(error)}`,
      );
      this.#close({ as: 'failed', message: 'workflow task', type: 'WorkflowTask' });
    }
    if (this.view) this.server.checker.observe(this.id, this.view);
  }

  #obey(command: Command): void {
    const { server } = this;
    if (command.scheduleActivity) {
      const task = new ActivityTask(server, this, command.scheduleActivity);
      this.#activities.set(task.seq, task);
    } else if (command.requestCancelActivity)
      this.#activities.get(command.requestCancelActivity.seq ?? 0)?.requestCancel();
    else if (command.startTimer)
      this.#startTimer(command.startTimer.seq ?? 0, optionalTsToMs(command.startTimer.startToFireTimeout) ?? 0);
    else if (command.cancelTimer) this.#timers.get(command.cancelTimer.seq ?? 0)?.cancel();
    else if (command.upsertWorkflowSearchAttributes) this.#upsert(command);
    else if (command.signalExternalWorkflowExecution)
      this.#signalOther(command.signalExternalWorkflowExecution.seq ?? 0);
    else if (command.updateResponse) this.#answer(command);
    else if (command.completeWorkflowExecution)
      this.#close({ as: 'completed', view: fromPayload(command.completeWorkflowExecution.result) });
    else if (command.cancelWorkflowExecution) this.#close({ as: 'cancelled' });
    else if (command.failWorkflowExecution) {
      const failure = command.failWorkflowExecution.failure;
      this.#close({ as: 'failed', message: failure?.message ?? '', type: failure?.applicationFailureInfo?.type ?? '' });
    } else if (!command.setPatchMarker && !command.modifyWorkflowProperties) {
      throw new Error(`the simulated server knows no command ${Object.keys(command).join()}`);
    }
  }

  #startTimer(seq: number, ms: number): void {
    this.#timers.set(
      seq,
      this.server.clock.after(ms, () => this.push({ fireTimer: { seq } })),
    );
  }

  #upsert(command: Command): void {
    const fields = command.upsertWorkflowSearchAttributes?.searchAttributes;
    const state = (fields as { indexedFields?: Record<string, unknown> } | undefined)?.indexedFields?.['FleetState'];
    if (state) this.server.checker.entered(this.id, fromPayload<TaskState>(state));
  }

  /** To a worker's record: what becomes of it there is not simulated. */
  #signalOther(seq: number): void {
    this.server.clock.after(5, () => this.push({ resolveSignalExternalWorkflow: { seq } }));
  }

  #answer({ updateResponse }: Command): void {
    const id = updateResponse?.protocolInstanceId ?? '';
    if (updateResponse?.accepted) return;
    this.#updates.get(id)?.(!updateResponse?.rejected);
    this.#updates.delete(id);
  }

  #close(closed: Closed): void {
    if (this.closed) this.server.checker.violation(`${this.id} closed twice`);
    this.closed = closed;
    this.closedAt = this.server.clock.now;
    this.server.say(
      `server: ${this.id} ${closed.as}${closed.as === 'failed' ? ` ${closed.type}: ${closed.message}` : ''}`,
    );
    for (const activity of this.#activities.values()) if (activity.state !== 'closed') activity.close();
    for (const timer of this.#timers.values()) timer.cancel();
    for (const answered of this.#updates.values()) answered(false);
    this.server.checker.closed(this);
  }
}
