import { heldFor } from '../../domain/scheduling/budget.ts';
import { isClosed } from '../../domain/scheduling/dependencies.ts';
import { formatDuration } from '../../domain/values/duration.ts';
import { shownBy, type DoneBy } from '../../domain/evidence/done-by.ts';
import { FAILURES } from '../../domain/agent/failure.ts';
import { loginAdvice } from '../../domain/list/inbox.ts';
import { claimQueues, coderOfQueue } from '../../domain/names.ts';
import { TRUSTED } from '../../domain/people/external-agent.ts';
import { forgottenSentence } from '../../domain/worker/rollback.ts';
import { isPath } from '../../domain/repository/repository-name.ts';
import { isOnWorker } from '../../domain/list/task-row.ts';
import { orderSentence, type FleetOrder } from '../../domain/worker/worker.ts';
import { sinceText, waitingSentence } from './explain-waiting.ts';
import { unheardSentence } from './explain-worker.ts';
import { lookUpTask } from '../read/look-up.ts';
import { listOrders } from '../fleet/orders.ts';
import { countQueued } from '../fleet/queues.ts';
import { viewTask, type TaskReport } from '../read/view.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';
import { isAttached, listWorkers, type FleetWorker } from '../fleet/workers.ts';

export interface Explanation {
  id: string;
  state: TaskReport['state'];
  reason: TaskReport['reason'];
  /** Why it is not running, or not done. */
  sentence: string;
  /** What it will be done by, while it is open; null where nobody knows yet. */
  doneBy: DoneBy[] | null;
}

/** What the sentence of a task is made from that waits for a slot, or is on a worker. */
export interface Waiting {
  workers: readonly FleetWorker[];
  /** What stands for all workers. */
  order: FleetOrder | null;
  /** Tasks that wait for a slot in its queue, this one included. */
  queued: number;
}

const NOBODY: Waiting = { workers: [], order: null, queued: 0 };
const WIDTH = 8;

export async function explainTask(wire: FleetConnection, id: string): Promise<Explanation> {
  return explainReport(wire, await viewTask(wire, id));
}

export async function explainReport(wire: FleetConnection, report: TaskReport): Promise<Explanation> {
  const { id, state, reason, dependsOn = [] } = report;
  const waiting = await waitingOf(wire, report);
  // What it has heard of them may not be all.
  const known =
    state === 'blocked'
      ? await mapBounded(dependsOn, WIDTH, (one) =>
          isClosed(one.state) ? Promise.resolve(one) : lookUpTask(wire, one.id),
        )
      : dependsOn;
  const sentence = sentenceOf({ ...report, dependsOn: known }, waiting, Date.now());
  const doneBy = isClosed(state) ? null : (report.doneBy ?? null);
  return { id, state, reason, sentence, doneBy };
}

async function waitingOf(wire: FleetConnection, report: TaskReport): Promise<Waiting> {
  const { state, queue } = report;
  if (state !== 'queued') {
    const workers = isOnWorker(report) ? await listWorkers(wire) : [];
    return { ...NOBODY, workers, order: await stopOf(wire, state) };
  }
  const [workers, orders, queued] = await Promise.all([listWorkers(wire), listOrders(wire), countQueued(wire, queue)]);
  return { workers, order: orders.find(({ worker }) => worker === null) ?? null, queued };
}

/** What holds results back. */
async function stopOf(wire: FleetConnection, state: TaskReport['state']): Promise<FleetOrder | null> {
  if (state !== 'delivering' && state !== 'awaiting-checks') return null;
  const orders = await listOrders(wire);
  return orders.find(({ worker, mode }) => worker === null && mode === 'stop') ?? null;
}

/** Pure: one sentence for every state. */
export function sentenceOf(report: TaskReport, waiting: Waiting, nowMs: number): string {
  if (report.forgotten) return forgottenSentence(report.forgotten);
  const held = waiting.order && report.state !== 'queued' ? `; the fleet is ${orderSentence(waiting.order)}` : '';
  const said = `${stateSentence(report, waiting, nowMs)}${choiceOf(report)}${held}`;
  return report.partial && report.state !== 'queued' ? `${said} (${report.message})` : said;
}

/** ` (codex / o3 by routes[1] (big), class code by triage.command)`, where a rule of a worker's chose. */
function choiceOf({ redirect, runs, triaged }: TaskReport): string {
  const run = runs.at(-1);
  const { coder, model, rule } = redirect ?? run ?? {};
  if (!rule) return '';
  const what = [coder, model].filter(Boolean).join(' / ');
  return ` (${what} by ${rule}${triaged ? `, class ${triaged.class} by ${triaged.by}` : ''})`;
}

function stateSentence(report: TaskReport, waiting: Waiting, nowMs: number): string {
  return (
    waitingSentence(report, nowMs) ??
    unheardSentence(report, waiting.workers, nowMs) ??
    workingSentence(report, waiting, nowMs)
  );
}

function workingSentence(report: TaskReport, waiting: Waiting, nowMs: number): string {
  const { id, state, worker, message, live } = report;
  const run = report.runs.at(-1);
  const since = run ? `for ${formatDuration(nowMs - Date.parse(run.startedAt))}` : 'now';
  const on = worker ? `worker ${worker}` : 'its worker';
  switch (state) {
    case 'queued':
      return queuedSentence(report, waiting, nowMs);
    case 'setting-up':
      return `${on} makes its worktree and runs the repository's setup commands, ${since}`;
    case 'running': {
      const last = live?.lastEvent ? `: last event ${ago(live.lastEventAt, nowMs)}: ${live.lastEvent}` : '';
      const doing = live?.doing ? `; ${live.doing}` : '';
      return `the agent runs on ${on}, ${since}${last}${doing}`;
    }
    case 'verifying':
      return message && !report.partial
        ? `${on} accepted the result: ${message}`
        : `the agent has ended, and ${on} gathers the receipts`;
    case 'delivering':
      return `the result was accepted, and ${on} delivers it`;
    case 'blocked':
    case 'awaiting-approval':
    case 'awaiting-answer':
    case 'awaiting-quota':
    case 'awaiting-checks':
      return message ?? 'it waits';
    case 'parked':
      return `it is parked${sinceText(report.since, nowMs)} (${whyOf(report)}): ${loginFirst(report)}type fleet task ${id} retry${run?.commit ? `, accept --why '…'` : ''} or give-up`;
    case 'done':
      return doneSentence(report);
    case 'failed':
      return `it failed: ${whyOf(report)}`;
    case 'cancelled':
      return message === 'terminated'
        ? 'it was cancelled (terminated)'
        : `it was cancelled${message ? ` (${message})` : ''}`;
  }
}

function queuedSentence(report: TaskReport, { workers, order, queued }: Waiting, nowMs: number): string {
  const { retryAt, claimQueue, message } = report;
  if (retryAt && Date.parse(retryAt) > nowMs) {
    const rest = formatDuration(Date.parse(retryAt) - nowMs);
    return `it waits ${rest}, until ${retryAt}, for its next run, as the last one ended with ${whyOf(report)}`;
  }
  if (order) return `waiting: the fleet is ${orderSentence(order)}`;
  const claiming = workers.filter((worker) => isAttached(worker) && canClaim(worker, claimQueue));
  if (!claiming.length) {
    const silent = workers.flatMap(({ state, name, queues }) =>
      ['silent', 'lost'].includes(state) && queues.includes(report.queue) ? name : [],
    );
    const also = silent.length ? ` (${silent.join(', ')} ${silent.length > 1 ? 'do' : 'does'} not answer)` : '';
    if (report.redirect)
      return `waiting: a rule leads to coder ${report.redirect.coder}, which no attached worker has for queue ${report.queue}${also}; start one that has it, or change the rule`;
    return `waiting: no attached worker claims from queue ${claimQueue}${pins(report)}${also}; start one with ${startWith(report)}`;
  }
  const why = claiming.flatMap(({ name, view }) => {
    if (view?.holds.length) return `worker ${name} takes no new work: ${view.holds.join('; ')}`;
    const over = heldFor(view?.budgets ?? [], report);
    return over ? `worker ${name} takes no run of it: ${over.said}` : [];
  });
  const able = claiming.filter(({ view }) => !view?.holds.length && !heldFor(view?.budgets ?? [], report));
  if (!able.length) {
    return `waiting: ${why.join('; ')}`;
  }
  const closed = able.flatMap((worker) => closedFor(worker, claimQueue) ?? []);
  if (closed.length === able.length) {
    const said = closed.map(({ name, why }) => `worker ${name} takes none for ${why}`);
    return `waiting: ${said.join('; ')}`;
  }
  const open = able.filter((worker) => !closedFor(worker, claimQueue));
  const free = open.filter(({ view }) => view && view.slots.used < view.slots.total).map(({ name }) => name);
  if (free.length) return `worker ${free.join(', ')} has a free slot and should claim it within seconds`;
  const slots = able.reduce((sum, worker) => sum + worker.slots, 0);
  const others = Math.max(0, queued - 1);
  const ahead =
    others === 0 ? '' : `, and about ${others} other${others === 1 ? ' waits' : 's wait'} in queue ${report.queue}`;
  const slotsTaken = slots === 1 ? 'the only slot' : `all ${slots} slots`;
  return `${slotsTaken} of ${able.map(({ name }) => name).join(', ')} ${slots === 1 ? 'is' : 'are'} taken${ahead}${message && report.partial ? ` (${message})` : ''}`;
}

/** Why that worker has no seat for what waits in the queue. */
function closedFor({ name, view }: FleetWorker, queue: string): { name: string; why: string } | undefined {
  const coder = coderOfQueue(queue) ?? view?.defaultCoder;
  const closed = view?.closed?.find((one) => one.coder === coder);
  return closed && { name, why: `${closed.coder}: ${closed.why}` };
}

/** Whether that worker claims from a queue. */
export function canClaim(worker: Pick<FleetWorker, 'queues' | 'machine' | 'coders'>, queue: string): boolean {
  const { queues, machine, coders } = worker;
  return claimQueues({ queues, machine, coders: coders.map(({ name }) => name) }).includes(queue);
}

function pins({ claimQueue, queue, coder, repo, redirect }: TaskReport): string {
  const machine = /@([^/]+)/.exec(claimQueue.slice(queue.length))?.[1];
  const needs = [
    machine && isPath(repo) ? `machine ${machine}, where ${repo} is` : '',
    claimQueue.includes('/') ? `coder ${redirect?.coder ?? coder}` : '',
  ];
  const said = needs.filter(Boolean).join(' and ');
  return said && ` (it needs ${said})`;
}

const startWith = ({ queue }: TaskReport): string => `fleet worker${queue === 'fleet' ? '' : ` --queue ${queue}`}`;

function doneSentence(report: TaskReport): string {
  const { branch, commit, merged, receipts, verdict, decision, handedIn, approvals = [] } = report;
  const on = branch ? `, and the result is on branch ${branch}${commit ? ` at ${commit.slice(0, 10)}` : ''}` : '';
  const where = merged ? `, and the result is merged into ${merged.into} at ${merged.commit.slice(0, 10)}` : on;
  if (decision?.action === 'accept')
    return `it is done: a person accepted it${decision.why ? ` (${decision.why})` : ''}${where}`;
  if (handedIn && !verdict) {
    const by = approvals.at(-1)?.by;
    const yes = !by || by === TRUSTED ? 'whom the configuration trusts' : `and ${by} approved it`;
    return `it is done: ${handedIn.as} said so, ${yes}`;
  }
  const yes = approvals.findLast(({ stage, approved }) => stage === 'before-deliver' && approved);
  if (verdict?.doneBy.length === 0 && yes)
    return `it is done: ${yes.by} approved it${yes.why ? ` (${yes.why})` : ''}, as no receipt shows it${where}`;
  const note = verdict && !verdict.acceptance ? ` (${shownBy(verdict)})` : '';
  const what = `all ${receipts.length} receipts are ok${note}`;
  return `it is done: ${what}${where}`;
}

/** A retry without it would meet the same. */
function loginFirst({ reason, runs }: TaskReport): string {
  const advice = reason === 'auth' ? loginAdvice(runs.at(-1)) : undefined;
  return advice ? `${advice}; ` : '';
}

/** `receipts-rejected: git: no change`, each part where known. */
function whyOf({ reason, message }: TaskReport): string {
  if (!reason) return message ?? 'no reason given';
  return `${reason}: ${message ?? FAILURES[reason].meaning}`;
}

const ago = (iso: string | undefined, nowMs: number): string =>
  iso ? `${formatDuration(nowMs - Date.parse(iso))} ago` : 'just now';
