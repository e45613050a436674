import type { ActivityTask } from './activity-task.ts';
import type { Checker } from './checker.ts';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';
import { WorkflowRecord } from './workflow-record.ts';

/** A worker as the server sees it. */
export interface Poller {
  /** Whether a poll of that queue is open, as far as the server can know. */
  polls(queue: string): boolean;
  /** Takes a task that the server has given to that poll. */
  take(task: ActivityTask): void;
  /** An activity that it was given has ended, or is to be cancelled: it hears so with its next heartbeat. */
  hears(task: ActivityTask): void;
  /** Workflow tasks go to any worker in contact. */
  readonly inContact: boolean;
  /** A poll for workflow tasks that nobody reads any more. */
  readonly parked: boolean;
}

/** A Temporal server as far as the task's workflow and the workers can tell: queues, timeouts, retries, workflow tasks. */
export class Server {
  readonly workflows = new Map<string, WorkflowRecord>();
  readonly pollers: Poller[] = [];
  readonly clock: Clock;
  readonly random: Random;
  readonly checker: Checker;
  readonly #queues = new Map<string, ActivityTask[]>();
  readonly #holders = new Map<ActivityTask, Poller>();
  #waiting: { workflow: WorkflowRecord; since: number }[] = [];

  constructor({ clock, random, checker }: { clock: Clock; random: Random; checker: Checker }) {
    this.clock = clock;
    this.random = random;
    this.checker = checker;
  }

  say(line: string): void {
    this.checker.say(line);
  }

  start(id: string, input: unknown): WorkflowRecord {
    const workflow = new WorkflowRecord(this, id, input);
    this.workflows.set(id, workflow);
    return workflow;
  }

  workflowTask(workflow: WorkflowRecord): void {
    // A poll that nobody reads any more swallows it for the workflow task's own timeout.
    const swallowed = this.random.chance(0.3) && this.pollers.some((poller) => poller.parked);
    this.clock.after(swallowed ? 10_000 : this.random.between(1, 15), () => {
      if (this.pollers.some((poller) => poller.inContact)) return workflow.activate();
      this.#waiting.push({ workflow, since: this.clock.now });
      return undefined;
    });
  }

  queued(task: ActivityTask): void {
    const queue = this.#queues.get(task.queue);
    if (queue) queue.push(task);
    else this.#queues.set(task.queue, [task]);
    this.clock.after(this.random.between(0, 3), () => this.pump(task.queue));
  }

  /** Gives what waits in a queue to the polls that are open on it. */
  pump(name: string): void {
    const queue = this.#queues.get(name) ?? [];
    for (;;) {
      const task = queue[0];
      const open = task ? this.pollers.filter((poller) => poller.polls(name)) : [];
      if (!task || open.length === 0) return;
      queue.shift();
      const poller = this.random.pick(open);
      this.#holders.set(task, poller);
      task.started();
      poller.take(task);
    }
  }

  /** A worker can reach the server again, or has a free slot. */
  pumpAll(): void {
    for (const [name, queue] of this.#queues) if (queue.length > 0) this.pump(name);
    for (const { workflow, since } of this.#waiting.splice(0)) {
      workflow.waitedMs += this.clock.now - since;
      this.workflowTask(workflow);
    }
  }

  /** That it is to be cancelled, or not this attempt any more. */
  tell(task: ActivityTask): void {
    this.#holders.get(task)?.hears(task);
  }

  closed(task: ActivityTask): void {
    const queue = this.#queues.get(task.queue);
    const at = queue?.indexOf(task) ?? -1;
    if (at >= 0) queue?.splice(at, 1);
    this.tell(task);
    this.#holders.delete(task);
  }
}
