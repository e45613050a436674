import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
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
import {
  givenBack,
  gone,
  holds,
  leased,
  mended,
  named,
  refusalOf,
  renewal,
  reported,
  seatsOf,
  type CredentialRecord,
  type Seat,
} from '../../domain/scheduling/seats.ts';
import { giveBackSignal, leaseUpdate, mendedSignal, namedSignal, reportSignal } from '../messages.ts';
import { renderCredential } from '../state/summary.ts';

/** One that no worker names any more is remembered for so long. */
const REMEMBERED = '30 days';
/** Events after which it goes on in a new history. */
const LONG_HISTORY = 2_000;

/**
 * The durable state of one credential, carried on by any worker that has credentials. A seat is leased by run id, and is
 * free again when the run is over, or its worker is lost: `holdSeats` on the worker's own queue lasts for as long as that
 * worker's process does, so that no lease needs to be renewed here.
 */
export async function fleetCredential(kept: CredentialRecord): Promise<void> {
  const book = new CredentialState(kept);
  setHandler(namedSignal, ({ holder, runs }) => {
    book.change(named(book.record, { holder, runs, now: now() }));
    book.watch(holder.hostQueue);
  });
  setHandler(leaseUpdate, (seat) => book.lease(seat), {
    // What is refused leaves nothing in this history.
    validator: ({ runId }) => {
      const refusal = holds(book.record, { runId }) ? undefined : refusalOf(book.record, Date.now());
      if (refusal) throw ApplicationFailure.nonRetryable(refusal.why, 'NoSeat');
    },
  });
  setHandler(giveBackSignal, (back) => book.change(givenBack(book.record, { ...back, nowMs: Date.now() })));
  setHandler(reportSignal, (report) => {
    const { bad } = book.record;
    book.change(reported(book.record, report, Date.now()));
    if (book.record.bad && !bad) book.alert(book.record.bad);
  });
  setHandler(mendedSignal, () => book.change(mended(book.record, now())));
  for (const { hostQueue } of kept.holders) book.watch(hostQueue);

  for (;;) {
    book.publish();
    if (workflowInfo().historyLength > LONG_HISTORY && book.alerts === 0)
      await continueAsNew<typeof fleetCredential>(book.record);
    const idle = book.record.holders.length === 0 && book.alerts === 0;
    const changed = () => book.changed;
    if (!idle) await condition(changed);
    else if (!(await condition(changed, REMEMBERED))) return;
  }
}

/** One place that changes the record and its memo. */
class CredentialState {
  record: CredentialRecord;
  changed = true;
  alerts = 0;
  readonly #watched = new Map<string, CancellationScope>();

  constructor(kept: CredentialRecord) {
    this.record = kept;
  }

  change(record: CredentialRecord): void {
    if (record === this.record) return;
    this.record = record;
    this.changed = true;
  }

  /** Clients and workers read the memo: for that, nobody needs to answer. */
  publish(): void {
    this.changed = false;
    upsertMemo({ record: this.record });
    setCurrentDetails(renderCredential(this.record));
  }

  lease(seat: Omit<Seat, 'since'>): { free: number } {
    this.change(leased(this.record, { ...seat, since: now() }));
    return { free: seatsOf(this.record) - this.record.seats.length };
  }

  /** Anew each time: an earlier one may have gone to a poll that nobody listens to any more. */
  watch(hostQueue: string): void {
    this.#watched.get(hostQueue)?.cancel();
    const scope = new CancellationScope();
    this.#watched.set(hostQueue, scope);
    void this.#watch(hostQueue, scope);
  }

  async #watch(hostQueue: string, scope: CancellationScope): Promise<void> {
    const holder = this.record.holders.find((other) => other.hostQueue === hostQueue);
    if (!holder) return;
    const { leaseMs, since } = holder;
    const { holdSeats } = proxyActivities<Activities>({
      taskQueue: hostQueue,
      summary: `seats of ${this.record.name}`,
      startToCloseTimeout: '3650d',
      scheduleToStartTimeout: leaseMs,
      heartbeatTimeout: leaseMs,
      retry: { maximumAttempts: 1 },
      cancellationType: ActivityCancellationType.TRY_CANCEL,
    });
    const replaced = () => this.#watched.get(hostQueue) !== scope;
    const lost = await scope
      .run(() => holdSeats({ credential: this.record.name, since }))
      .then(
        () => false,
        (error: unknown) => error instanceof ActivityFailure && error.cause instanceof TimeoutFailure,
      );
    if (replaced()) return;
    if (!lost) {
      const holders = this.record.holders.map((other) =>
        other.hostQueue === hostQueue ? { ...other, leaving: true as const } : other,
      );
      this.change({ ...this.record, holders });
      // The agents that it left behind run on for the next worker there: for its lease at most.
      if (await condition(replaced, leaseMs)) return;
    }
    this.#watched.delete(hostQueue);
    this.change(gone(this.record, hostQueue));
  }

  /** By a local activity, as the worker whose run met it may be gone. */
  alert({ why, at }: NonNullable<CredentialRecord['bad']>): void {
    const { name, coder } = this.record;
    const { sendAlert } = proxyLocalActivities<Activities>({
      startToCloseTimeout: '1m',
      scheduleToCloseTimeout: '1d',
      retry: { maximumInterval: '10m' },
      localRetryThreshold: '10s',
    });
    const message = `credential ${name} of ${coder} was refused: ${why}; ${renewal(this.record)}`;
    this.alerts += 1;
    const over = () => {
      this.alerts -= 1;
      this.changed = true;
    };
    void sendAlert({
      key: `${workflowInfo().workflowId}/bad/${at}`,
      credential: name,
      coder,
      state: 'bad',
      message,
    }).then(over, over);
  }
}

const now = (): string => new Date().toISOString();
