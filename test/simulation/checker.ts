import type { RunRef, RunView, TaskView } from '../../src/domain/view/task-view.ts';
import type { TaskState } from '../../src/domain/task/state.ts';
import type { Agent } from './keeper.ts';
import type { WorkflowRecord } from './workflow-record.ts';
import type { Worker } from './worker.ts';

/** Where each state may lead; `cancelled` from anywhere that is open. `verifying` also for a late result. */
const NEXT: Readonly<Record<TaskState, readonly TaskState[]>> = {
  queued: ['setting-up', 'verifying', 'queued', 'awaiting-approval', 'parked', 'cancelled'],
  'setting-up': ['running', 'queued', 'awaiting-quota', 'parked', 'cancelled'],
  running: ['verifying', 'awaiting-answer', 'queued', 'awaiting-quota', 'parked', 'cancelled'],
  verifying: [
    'delivering',
    'awaiting-approval',
    'awaiting-answer',
    'done',
    'queued',
    'awaiting-quota',
    'parked',
    'cancelled',
  ],
  delivering: ['done', 'queued', 'parked', 'cancelled'],
  parked: ['parked', 'queued', 'verifying', 'delivering', 'done', 'failed', 'cancelled'],
  'awaiting-approval': ['queued', 'delivering', 'done', 'parked', 'cancelled'],
  'awaiting-answer': ['queued', 'verifying', 'parked', 'cancelled'],
  // Nobody waits for another task or a pull request in these schedules.
  blocked: [],
  'awaiting-quota': ['queued', 'verifying', 'cancelled'],
  'awaiting-checks': [],
  done: [],
  failed: [],
  cancelled: [],
};
const CLOSED: readonly TaskState[] = ['done', 'failed', 'cancelled'];
const INFRASTRUCTURE = ['host-lost', 'unclean-kill', 'killed', 'disk', 'rate-limited', 'overloaded', 'auth'];
const WAITS = ['rate-limited', 'overloaded', 'disk'];
const MOST_WAITS = 51;
const LINES = 400;

/** Watches all that happens in one schedule, and says so when a promise does not hold. */
export class Checker {
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly states = new Map<string, TaskState>();
  readonly deliveries = new Map<string, { runId: string; commit: string }[]>();
  readonly #runs = new Map<string, Pick<RunView, 'n' | 'reason' | 'counts'>[]>();
  readonly #live = new Map<string, Set<Agent>>();
  readonly #elapsed: () => number;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  say(line: string): void {
    this.trace.push(`${(this.#elapsed() / 1_000).toFixed(3).padStart(10)}  ${line}`);
    if (this.trace.length > 2 * LINES) this.trace.splice(0, LINES);
  }
  violation(text: string): void {
    this.say(`VIOLATION ${text}`);
    this.violations.push(text);
  }

  launched(agent: Agent): void {
    const { taskId, runId } = agent;
    const live = this.#live.get(taskId) ?? new Set();
    this.#live.set(taskId, live.add(agent));
    this.say(`agent of ${runId} of ${taskId} starts (${agent.plan.kind}, ${agent.plan.ms} ms)`);
    const alive = [...live].filter(({ keeper }) => !keeper.excused);
    if (alive.length > 1)
      this.violation(`${taskId} has ${alive.length} live agents: ${alive.map((one) => one.runId).join(', ')}`);
  }
  died(agent: Agent): void {
    this.#live.get(agent.taskId)?.delete(agent);
    this.say(`agent of ${agent.runId} of ${agent.taskId} is dead${agent.stopped ? ` (${agent.stopped})` : ''}`);
  }
  agentsOf(taskId: string): Agent[] {
    return [...(this.#live.get(taskId) ?? [])];
  }

  claimed({ name, used, slots }: Worker): void {
    if (used > slots) this.violation(`${name} holds ${used} runs with ${slots} slots`);
  }

  delivered({ taskId, runId }: RunRef, commit: string): void {
    const all = this.deliveries.get(taskId) ?? [];
    this.deliveries.set(taskId, [...all, { runId, commit }]);
    this.say(`branch of ${taskId} is now ${commit}`);
    if (all.length > 0) this.violation(`${taskId} was delivered ${all.length + 1} times`);
  }

  entered(taskId: string, state: TaskState): void {
    const before = this.states.get(taskId);
    this.states.set(taskId, state);
    this.say(`${taskId} is ${state}`);
    if (before && !NEXT[before].includes(state)) this.violation(`${taskId} went from ${before} to ${state}`);
  }

  observe(taskId: string, view: TaskView): void {
    if (this.states.get(taskId) !== view.state)
      this.violation(`${taskId} shows ${view.state} and is listed as ${this.states.get(taskId)}`);
    for (const run of view.runs) this.#ended(taskId, run, view.attempts.max);
    if (view.attempts.used > view.attempts.max)
      this.violation(`${taskId} used ${view.attempts.used} of ${view.attempts.max} attempts`);
    const open = view.runs.filter(({ endedAt }) => endedAt === null);
    if (open.length > 1) this.violation(`${taskId} has ${open.length} open runs`);
  }

  /** A person said `retry`: its attempts count from zero. */
  forgave(taskId: string): void {
    for (const run of this.#runs.get(taskId) ?? []) Object.assign(run, { counts: false, reason: null });
  }

  #ended(taskId: string, { runId, n, reason, counts, endedAt }: RunView, most: number): void {
    const runs = this.#runs.get(taskId) ?? [];
    this.#runs.set(taskId, runs);
    if (endedAt === null || runs.some((run) => run.n === n)) return;
    runs.push({ n, reason, counts });
    // Nobody but the task itself delivers here.
    if (reason === 'conflict') this.violation(`${taskId} has a result of its own in its way`);
    if (counts && reason && INFRASTRUCTURE.includes(reason))
      this.violation(`run ${runId} of ${taskId} used up an attempt by ${reason}`);
    const used = runs.filter((run) => run.counts).length;
    if (used > most) this.violation(`${taskId} used ${used} of ${most} attempts`);
    const waits = runs.length - 1 - runs.findLastIndex((run) => !run.reason || !WAITS.includes(run.reason));
    if (waits > MOST_WAITS) this.violation(`${taskId} waited ${waits} times in a row`);
  }

  closed({ id, closed }: WorkflowRecord): void {
    const state = this.states.get(id);
    if (!state || !CLOSED.includes(state)) this.violation(`${id} closed while ${state}`);
    const expected = { done: 'completed', failed: 'failed', cancelled: 'cancelled' }[state as 'done'];
    if (expected && closed?.as !== expected) this.violation(`${id} is ${state} and its workflow ${closed?.as}`);
    if (closed?.as === 'failed' && closed.type !== 'TaskFailed')
      this.violation(`${id} failed by itself: ${closed.message}`);
  }
}
