import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { DeliveryServices, Merger } from '../../activities/services/delivery-services.ts';
import type { Activities } from '../../activities/index.ts';
import {
  halves,
  mayPass,
  nextBatch,
  pauseAfter,
  refusalOf,
  type MergeEntry,
  type MergeOutcome,
  type MergeQueueRecord,
  type MergeTries,
} from '../../domain/deliver/merge.ts';
import { machineFaultIn } from '../worker/worker-activities.ts';
import { MergeState } from './merge-record.ts';
import { enterMergeSignal, leaveMergeSignal } from '../messages.ts';

const desk = proxyLocalActivities<DeliveryServices>({ startToCloseTimeout: '30s', localRetryThreshold: '10s' });
/** An empty queue is there for so long. */
const IDLE = '10m';
/** Events after which it goes on in a new history. */
const LONG_HISTORY = 2_000;

/**
 * Merges results into one target branch: some at a time, in the order of their priority and waiting time. They are checked
 * together; where that fails, in halves, until it is known whose fault it is. No slot is used.
 */
export async function mergeQueue(kept: MergeQueueRecord): Promise<void> {
  const book = new MergeState(kept);
  setHandler(enterMergeSignal, (entry) => book.enter(entry));
  setHandler(leaveMergeSignal, ({ id }) => book.quit(id));
  void book.attend();

  for (;;) {
    await goOn(book);
    const batch = nextBatch(book.ordered());
    if (batch.length > 0) await mergeAll(book, batch);
    else if (!(await condition(() => book.record.waiting.length > 0, IDLE))) return;
  }
}

/** In a new history, once this one is long: what waits is all that it needs to know. */
async function goOn(book: MergeState): Promise<void> {
  if (workflowInfo().historyLength > LONG_HISTORY) await continueAsNew<typeof mergeQueue>(book.record);
}

/** Until each of them is merged or told why not; one that only conflicts with another of them goes on waiting. */
async function mergeAll(book: MergeState, members: readonly MergeEntry[]): Promise<void> {
  const wanted = members.filter((member) => book.wants(member));
  if (wanted.length === 0) return;
  book.begin(wanted);
  const outcome = await tryMerge(book, wanted);
  if (outcome === 'left' || outcome === 'unsure') {
    book.ended({ unsure: outcome === 'unsure' });
    return mergeAll(book, wanted);
  }
  const { into } = book.record;
  if (!outcome.ok) {
    const why = refusalOf(outcome.failure);
    for (const { id } of wanted) await book.tell(id, { merged: false, target: '', ...why });
    return book.ended();
  }
  const { target, merged, refused, red } = outcome;
  for (const { id, commit } of merged) await book.tell(id, { merged: true, commit });
  for (const { id, ...why } of refused) await book.tell(id, { merged: false, target, ...why });
  book.ended();
  if (!red) return;
  const blamed = wanted.filter(({ id }) => red.ids.includes(id));
  const [only] = blamed;
  if (blamed.length === 1 && only) {
    const message = `merged with ${into} (${target.slice(0, 12)}), it does not pass: ${red.message}`;
    return book.tell(only.id, { merged: false, reason: 'merge-failed', message, target });
  }
  for (const half of halves(blamed)) await mergeAll(book, half);
}

/**
 * On a worker that is there, for as long as it takes to find one. `left`: one of them was taken out meanwhile, and none was
 * pushed; `unsure`: but an earlier try may have pushed them.
 */
async function tryMerge(book: MergeState, members: readonly MergeEntry[]): Promise<MergeOutcome | 'left' | 'unsure'> {
  const { repo, into, queue, machine } = book.record;
  const prefer = [...new Set(members.map(({ hostQueue }) => hostQueue))];
  const left = () => members.some((member) => !book.wants(member));
  const tries: MergeTries = { nobody: 0, lost: 0, failed: 0 };
  const taken = () => (tries.lost + tries.failed > 0 ? 'unsure' : 'left');
  let avoid: string | null = null;
  for (;;) {
    const worker: Merger | null = await desk.findMerger({ queue, machine, prefer, avoid });
    const order = { repo, into, members: [...members] };
    const end: Tried | 'nobody' = worker ? await mergeOn(book, worker, order) : 'nobody';
    if (end === 'left') return taken();
    if (typeof end === 'object' && (end.ok || !mayPass(end.failure))) return end;
    const what = typeof end === 'object' ? 'failed' : end;
    tries[what] += 1;
    const pauseMs = pauseAfter(what, tries);
    if (pauseMs === null) return typeof end === 'object' ? end : allLost(tries.lost);
    // Whatever it was, another worker may do better.
    avoid = worker?.hostQueue ?? null;
    if (await condition(left, pauseMs)) return taken();
    await goOn(book);
  }
}

type Tried = MergeOutcome | 'lost' | 'left';

const allLost = (lost: number): MergeOutcome => ({
  ok: false,
  failure: { reason: 'repo-unavailable', message: `${lost} times the worker was lost that was to merge it` },
});

async function mergeOn(
  book: MergeState,
  { name, hostQueue, lease }: Merger,
  order: Parameters<Activities['mergeBatch']>[0],
): Promise<Tried> {
  const { mergeBatch } = proxyActivities<Activities>({
    taskQueue: hostQueue,
    summary: `merge ${order.members.map(({ id }) => id).join(', ')} into ${order.into}`.slice(0, 200),
    startToCloseTimeout: '60d',
    heartbeatTimeout: lease.heartbeatMs,
    scheduleToStartTimeout: lease.heartbeatMs + lease.graceMs,
    retry: { maximumAttempts: 1 },
    // What was pushed must be known.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
  const scope = new CancellationScope();
  const merging = scope.run(() => mergeBatch(order));
  const left = condition(() => order.members.some((member) => !book.wants(member))).then(() => scope.cancel());
  try {
    return await Promise.race([merging, left.then(() => merging)]);
  } catch (error) {
    if (isCancellation(error) && !CancellationScope.current().consideredCancelled) return 'left';
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const leaving = cause instanceof ApplicationFailure && cause.type === 'WorkerShutdown';
    if (leaving || cause instanceof TimeoutFailure) return 'lost';
    const message = `worker ${name} could not merge: ${cause?.message ?? error.message}`;
    return { ok: false, failure: machineFaultIn(cause) ?? { reason: 'repo-unavailable', message } };
  }
}
