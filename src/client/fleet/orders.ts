import { setTimeout as pause } from 'node:timers/promises';
import { notFound } from '../../domain/error.ts';
import { ORDER_QUEUE, ORDER_TYPE, orderId } from '../../domain/names.ts';
import { orderSentence, type FleetOrder } from '../../domain/worker/worker.ts';
import { isNotFound, type FleetConnection } from '../connection.ts';
import { isAttached, listWorkers, workerNames, type FleetWorker } from './workers.ts';

/** An order that stands. */
export interface StandingOrder extends FleetOrder {
  /** Null: for all. */
  worker: string | null;
}

/** An order is an open workflow with a fixed id, on a queue that nobody polls: durable, and given by the server alone. */
export async function giveOrder({ client }: FleetConnection, order: StandingOrder): Promise<void> {
  const { worker, ...memo } = order;
  await client.workflow.start(ORDER_TYPE, {
    workflowId: orderId(worker ?? undefined),
    taskQueue: ORDER_QUEUE,
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    memo: { ...memo },
    staticSummary: `${worker ?? 'all workers'}: ${orderSentence(memo, worker ?? undefined)}`.slice(0, 200),
  });
}

/** False where no such order stood. */
export async function withdrawOrder(
  { client }: FleetConnection,
  said: { worker: string | null; by: string },
): Promise<boolean> {
  try {
    await client.workflow.getHandle(orderId(said.worker ?? undefined)).terminate(`withdrawn by ${said.by}`);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** The orders that stand, the one for all first. */
export async function listOrders({ client }: FleetConnection): Promise<StandingOrder[]> {
  const orders: StandingOrder[] = [];
  const query = `WorkflowType = '${ORDER_TYPE}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId, memo } of client.workflow.list({ query })) {
    const worker = workflowId === orderId() ? null : workflowId.slice(orderId('').length);
    if (memo) orders.push({ ...(memo as unknown as FleetOrder), worker });
  }
  return orders.sort((one, other) => (one.worker ?? '').localeCompare(other.worker ?? ''));
}

/** The workers of that name. @throws FleetError (2) where none was ever seen */
export async function workersNamed(wire: FleetConnection, name: string): Promise<FleetWorker[]> {
  const names = await workerNames(wire);
  if (names.includes(name)) return (await listWorkers(wire)).filter((worker) => worker.name === name);
  const known = names.length ? `known are ${names.join(', ')}` : 'none has ever been attached';
  throw notFound(`there is no worker ${name}: ${known}`);
}

/** What `fleet stop --now` did. */
export interface Stopped {
  agents: number;
  /** Workers that say that none of their agents lives. */
  workers: number;
  seconds: number;
  /** Names of workers that did not say so in time. */
  silent: string[];
}

/** Longer than a look at the orders, the fence ladder, and two beats take. */
const STOPPED_MS = 30_000;
const LOOK_MS = 250;

/** Waits until every attached worker has said that its agents are down. */
export async function untilStopped(wire: FleetConnection, { at }: FleetOrder): Promise<Stopped> {
  const startedAt = performance.now();
  for (;;) {
    const workers = (await listWorkers(wire)).filter((worker) => isAttached(worker) || worker.state === 'silent');
    const down = workers.filter(({ view }) => view?.stopped?.at === at);
    const spentMs = performance.now() - startedAt;
    if (down.length === workers.length || spentMs > STOPPED_MS) {
      return {
        agents: down.reduce((sum, { view }) => sum + (view?.stopped?.agents ?? 0), 0),
        workers: down.length,
        seconds: Math.round(spentMs / 100) / 10,
        silent: workers.filter((worker) => !down.includes(worker)).map(({ name }) => name),
      };
    }
    await pause(LOOK_MS);
  }
}

/** Waits until the named workers have obeyed: they hold, left, or take new work again; those that were lost are named. */
export async function untilObeyed(
  wire: FleetConnection,
  awaited: { hostQueues: readonly string[]; order: FleetOrder | null },
): Promise<FleetWorker[]> {
  const { hostQueues, order } = awaited;
  for (;;) {
    const workers = (await listWorkers(wire)).filter(({ hostQueue }) => hostQueues.includes(hostQueue));
    if (workers.every((worker) => hasObeyed(worker, order))) return workers;
    await pause(LOOK_MS);
  }
}

function hasObeyed({ state, view }: FleetWorker, order: FleetOrder | null): boolean {
  if (state === 'lost' || state === 'detached') return true;
  if (!view || order?.mode === 'drain') return false;
  return order ? view.order !== null && view.order.at >= order.at : view.order === null;
}
