import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  TimeoutFailure,
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { sameDebt, type Owed, type WorkerRecord, type WorkerView } from '../../domain/worker/worker.ts';
import { attachSignal, detachUpdate, oweSignal, paidSignal, troubleSignal, workerQuery } from '../messages.ts';
import { renderRecord } from '../state/summary.ts';

/** A worker that left, or was lost, and owes nothing is remembered for so long. */
const REMEMBERED = '7 days';
/** Events after which the record goes on in a new history. */
const LONG_HISTORY = 2_000;

/**
 * The durable record of one worker, carried on by whichever workers poll its first queue.
 *
 *     attached ──► detached   it ended as it should
 *      ▲    └────► lost       `workerHeartbeat` missed its heartbeats for the worker's lease: one alert
 *      └── it is back, by itself or as a new process
 *
 * The one activity `workerHeartbeat` on the worker's own queue lasts for as long as its process does: what changes from beat to beat
 * are its heartbeat's details, and nothing in this history.
 */
export async function fleetWorker(kept: WorkerRecord): Promise<void> {
  const book = new WorkerState(kept);
  setHandler(workerQuery, () => book.record);
  setHandler(attachSignal, (facts) => {
    book.change({ ...facts, state: 'attached' });
    book.attend();
  });
  setHandler(detachUpdate, ({ since, report }) => {
    if (since !== book.record.since) return;
    book.change({ state: 'detached', report });
    book.leave();
  });
  setHandler(oweSignal, (ref) => book.owe(ref));
  setHandler(paidSignal, (ref) => book.pay(ref));
  setHandler(troubleSignal, (said) => book.alert({ ...said, state: 'holding' }));
  // A record that goes on in a new history has no attach to wait for.
  if (kept.state === 'attached' && !book.attending) book.attend();

  for (;;) {
    book.publish();
    if (workflowInfo().historyLength > LONG_HISTORY && !book.alerting)
      await continueAsNew<typeof fleetWorker>(book.record);
    const idle = book.record.state !== 'attached' && book.record.debts.length === 0 && !book.alerting;
    const changed = () => book.changed || (idle && book.alerting);
    if (!idle) await condition(changed);
    else if (!(await condition(changed, REMEMBERED))) return;
  }
}

/** One place that changes the record, its memo, and what the Web UI shows. */
class WorkerState {
  record: WorkerRecord;
  changed = true;
  #scope: CancellationScope | undefined;
  readonly #alerts = new Map<CancellationScope, 'lost' | 'holding'>();

  constructor(kept: WorkerRecord) {
    this.record = kept;
  }

  get attending(): boolean {
    return this.#scope !== undefined;
  }
  get alerting(): boolean {
    return this.#alerts.size > 0;
  }

  change(part: Partial<WorkerRecord>): void {
    const changedAt =
      part.state === undefined || part.state === this.record.state ? this.record.changedAt : new Date().toISOString();
    this.record = { ...this.record, ...part, changedAt };
    this.changed = true;
  }

  /** Clients read the memo: for that, no worker needs to answer. */
  publish(): void {
    this.changed = false;
    upsertMemo({ record: this.record });
    setCurrentDetails(renderRecord(this.record));
  }

  owe(owed: Owed): void {
    if (this.record.debts.some((debt) => sameDebt(debt, owed))) return;
    const { taskId, runId, forget, repo } = owed;
    const what = forget ? { forget, ...(repo ? { repo } : {}) } : {};
    const debt = { taskId, runId, ...what, since: new Date().toISOString() };
    this.change({ debts: [...this.record.debts, debt] });
  }

  pay(owed: Owed): void {
    this.change({ debts: this.record.debts.filter((debt) => !sameDebt(debt, owed)) });
  }

  leave(): void {
    this.#scope?.cancel();
    this.#scope = undefined;
  }

  /** Anew for each attach: an earlier one may have gone to a poll that nobody listens to any more. */
  attend(): void {
    this.leave();
    for (const [alert, state] of this.#alerts) if (state === 'lost') alert.cancel();
    const scope = new CancellationScope();
    this.#scope = scope;
    void this.#attend(scope);
  }

  async #attend(scope: CancellationScope): Promise<void> {
    const { hostQueue, since, lease } = this.record;
    const leaseMs = lease.heartbeatMs + lease.graceMs;
    const { workerHeartbeat } = proxyActivities<Activities>({
      taskQueue: hostQueue,
      summary: 'attached',
      startToCloseTimeout: '3650d',
      scheduleToStartTimeout: leaseMs,
      heartbeatTimeout: leaseMs,
      retry: { maximumAttempts: 1 },
      cancellationType: ActivityCancellationType.TRY_CANCEL,
    });
    try {
      await scope.run(() => workerHeartbeat({ since }));
    } catch (error) {
      // Another attach, or the worker's farewell, came first.
      if (this.#scope !== scope) return;
      this.#scope = undefined;
      const cause = error instanceof ActivityFailure ? error.cause : error;
      if (cause instanceof TimeoutFailure) this.#lose(cause);
      else this.change({ state: 'detached' });
    }
  }

  #lose(timeout: TimeoutFailure): void {
    const { name, machine, lease, since } = this.record;
    const runs = (timeout.lastHeartbeatDetails as WorkerView | undefined)?.runs.length ?? 0;
    const had = runs === 0 ? '' : `; it had ${runs} run${runs === 1 ? '' : 's'}, which go elsewhere`;
    const silentS = Math.round((lease.heartbeatMs + lease.graceMs) / 1_000);
    this.change({ state: 'lost' });
    this.alert({
      key: `lost/${since}/${this.record.changedAt}`,
      state: 'lost',
      message: `worker ${name} on machine ${machine} was not heard of for ${silentS} s${had}`,
    });
  }

  /** By a local activity: whichever worker carries this record on sends it, also one that is full or paused. */
  alert(said: { key: string; state: 'lost' | 'holding'; message: string }): void {
    const { name: worker, machine } = this.record;
    const { sendAlert } = proxyLocalActivities<Activities>({
      startToCloseTimeout: '1m',
      scheduleToCloseTimeout: '1d',
      retry: { maximumInterval: '10m' },
      localRetryThreshold: '10s',
    });
    const alert = { ...said, key: `${workflowInfo().workflowId}/${said.key}`, worker, machine };
    const scope = new CancellationScope();
    this.#alerts.set(scope, said.state);
    const over = () => {
      this.#alerts.delete(scope);
      this.changed = true;
    };
    void scope.run(() => sendAlert(alert)).then(over, over);
  }
}
