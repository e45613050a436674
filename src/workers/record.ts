import type { Client } from '@temporalio/client';
import { identityOf } from '../activities/worker/worker-heartbeat.ts';
import type { Deps } from '../activities/worker/context.ts';
import { givenVariables } from '../activities/prepare/variables.ts';
import { leaseOf } from '../config.ts';
import { RECORD_TYPE, workerRecordId } from '../domain/names.ts';
import { leftBehind, type Debt, type Tally, type WorkerFacts, type WorkerRecord } from '../domain/worker/worker.ts';
import { attachSignal, detachUpdate, paidSignal, troubleSignal } from '../workflows/messages.ts';

const EVERY_MS = 3_000;
const DEADLINE_MS = 3_000;
/** An attach that has led to no `workerHeartbeat` for so long went to a poll of a broken connection. */
const ATTEND_MS = 10_000;

/** So many in a row, and the record itself is stuck, as a later version may leave it: its memo has all that counts. */
const UNHEARD = 3;

/** Keeps this worker's durable record: see the workflow `fleetWorker`. */
export interface KeptRecord {
  /** To be awaited before this worker stops to work on workflows; once is enough. */
  detach(report: Tally): Promise<void>;
  stop(): Promise<void>;
}

export async function startRecord(deps: Deps, client: Client): Promise<KeptRecord> {
  const facts = factsOf(deps);
  const troubles = new Troubles(deps, client);
  let attachedAt = Number.NEGATIVE_INFINITY;
  let unheard = 0;
  const keep = async () => {
    if (deps.presence.attended) unheard = 0;
    if (!deps.presence.attended && performance.now() - attachedAt >= ATTEND_MS) {
      unheard += 1;
      await attachRecord(client, facts, { anew: unheard > UNHEARD });
      attachedAt = performance.now();
    }
    await troubles.tell();
  };
  // Where the server does not answer just now, the timer goes on trying.
  await keep().catch(() => undefined);
  let keeping: Promise<void> | undefined;
  const timer = setInterval(() => {
    keeping ??= keep()
      .catch(() => undefined)
      .finally(() => (keeping = undefined));
  }, EVERY_MS);
  const stop = async () => {
    clearInterval(timer);
    await keeping;
  };
  return {
    stop,
    detach: async (report) => {
      await stop();
      const said = { since: facts.since, report: leftBehind(report) };
      const record = client.workflow.getHandle(workerRecordId(facts.hostQueue));
      await client
        .withDeadline(Date.now() + DEADLINE_MS, () => record.executeUpdate(detachUpdate, { args: [said] }))
        .catch(() => undefined);
    },
  };
}

function factsOf(deps: Deps): WorkerFacts {
  const { config } = deps;
  const { heartbeatMs, graceMs } = leaseOf(config);
  return {
    ...identityOf(deps),
    ...deps.keys.shared,
    slots: config.worker.slots,
    lease: { heartbeatMs, graceMs },
    env: givenVariables(deps),
  };
}

/** Starts the record, or tells it that the worker is there. Debts outlive a record that was ended, is stuck, or waits in another queue. */
export async function attachRecord(client: Client, facts: WorkerFacts, { anew = false } = {}): Promise<void> {
  const workflowId = workerRecordId(facts.hostQueue);
  const taskQueue = facts.queues[0]!;
  const known = await knownRecord(client, workflowId);
  const record: WorkerRecord = {
    ...facts,
    state: 'attached',
    changedAt: new Date().toISOString(),
    debts: known?.record.debts ?? [],
    report: known?.record.report ?? null,
  };
  const options = { workflowId, taskQueue, args: [record], memo: { record }, staticSummary: `worker ${facts.name}` };
  await client.withDeadline(Date.now() + DEADLINE_MS, async () => {
    if (anew || (known && known.taskQueue !== taskQueue))
      await client.workflow.start(RECORD_TYPE, { ...options, workflowIdConflictPolicy: 'TERMINATE_EXISTING' });
    else await client.workflow.signalWithStart(RECORD_TYPE, { ...options, signal: attachSignal, signalArgs: [facts] });
  });
}

async function knownRecord(
  client: Client,
  workflowId: string,
): Promise<{ record: WorkerRecord; taskQueue: string } | undefined> {
  try {
    const { memo, taskQueue } = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    return { record: memo!['record'] as WorkerRecord, taskQueue };
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowNotFoundError') return undefined;
    throw error;
  }
}

/** Tells the record which of its runs are cleaned up: no folder of such a one is left here. The tasks that are still to be forgotten. */
export async function payDebts({ registry, worker }: Deps, client: Client): Promise<Debt[]> {
  const debts = (await knownRecord(client, workerRecordId(worker.hostQueue)))?.record.debts ?? [];
  const paid = debts.filter((debt) => !debt.forget && registry.find(debt) === undefined);
  for (const debt of paid) await tellPaid({ worker }, client, debt);
  return debts.filter(({ forget }) => forget);
}

export async function tellPaid({ worker }: Pick<Deps, 'worker'>, client: Client, debt: Debt): Promise<void> {
  const { since: _, ...owed } = debt;
  await client.workflow.getHandle(workerRecordId(worker.hostQueue)).signal(paidSignal, owed);
}

/** One alert for each cause that holds this worker up and that no person ordered. */
class Troubles {
  readonly #client: Client;
  readonly #workflowId: string;
  readonly #known = new Set<string>();
  readonly #untold = new Map<string, { key: string; message: string }>();

  constructor({ holds, worker }: Deps, client: Client) {
    this.#client = client;
    this.#workflowId = workerRecordId(worker.hostQueue);
    const note = (cause: string) => {
      const reason = holds.trouble(cause);
      if (reason === undefined) {
        this.#known.delete(cause);
        this.#untold.delete(cause);
      } else if (!this.#known.has(cause)) {
        this.#known.add(cause);
        const message = `worker ${worker.name} takes no new work: ${reason}`;
        this.#untold.set(cause, { key: `${cause}/${new Date().toISOString()}`, message });
      }
    };
    holds.onChange(note);
    for (const cause of holds.causes) note(cause);
  }

  async tell(): Promise<void> {
    const record = this.#client.workflow.getHandle(this.#workflowId);
    for (const [cause, said] of [...this.#untold]) {
      await this.#client.withDeadline(Date.now() + DEADLINE_MS, () => record.signal(troubleSignal, said));
      if (this.#untold.get(cause) === said) this.#untold.delete(cause);
    }
  }
}
