import type { ForgottenBy, RollbackNotice } from '../../domain/worker/rollback.ts';
import type { FleetOrder } from '../../domain/worker/worker.ts';
import {
  giveOrder,
  listOrders,
  untilObeyed,
  untilStopped,
  withdrawOrder,
  workersNamed,
  type StandingOrder,
  type Stopped,
} from '../fleet/orders.ts';
import { acceptRollback, readNotices } from '../fleet/rollback.ts';
import type { FleetConnection } from '../connection.ts';
import type { FleetWorker } from '../fleet/workers.ts';

export type { FleetOrder, StandingOrder, Stopped };

/** An order as a person gives it; `by` is shown to everybody. */
export type Said = Omit<FleetOrder, 'at'>;
export interface OrderGiven {
  order: FleetOrder | null;
  /** Those of that name, attached or not. */
  workers: FleetWorker[];
  withdrawn: boolean;
  /** What stands for all workers. */
  fleetOrder: FleetOrder | null;
}

/** What people order workers, one or all: it stands until it is withdrawn. */
export class Orders {
  readonly #wire: FleetConnection;

  constructor(wire: FleetConnection) {
    this.#wire = wire;
  }

  /** What people ordered workers, and stands. */
  list = (): Promise<StandingOrder[]> => listOrders(this.#wire);
  /** Replaces the last order to all; workers obey within seconds, those that attach later at once. */
  async all(said: Said): Promise<FleetOrder> {
    const order = { ...said, at: new Date().toISOString() };
    await giveOrder(this.#wire, { ...order, worker: null });
    return order;
  }
  /** As `all`, for one worker. @throws FleetError (2) where none of that name was ever attached */
  async one(worker: string, said: Said): Promise<OrderGiven> {
    const workers = await workersNamed(this.#wire, worker);
    const order = { ...said, at: new Date().toISOString() };
    await giveOrder(this.#wire, { ...order, worker });
    return { order, workers, withdrawn: false, fleetOrder: null };
  }
  /** Withdraws the order to all; `orders` are those of single workers, which stand. */
  async resumeAll(by: string): Promise<{ withdrawn: boolean; orders: StandingOrder[] }> {
    const withdrawn = await withdrawOrder(this.#wire, { worker: null, by });
    return { withdrawn, orders: (await this.list()).filter(({ worker }) => worker !== null) };
  }
  /** Withdraws the order to one worker. @throws FleetError (2) where none of that name was ever attached */
  async resumeOne(worker: string, by: string): Promise<OrderGiven> {
    const workers = await workersNamed(this.#wire, worker);
    const withdrawn = await withdrawOrder(this.#wire, { worker, by });
    const [fleetOrder = null] = (await this.list()).filter((order) => order.worker === null);
    return { order: null, workers, withdrawn, fleetOrder };
  }
  /** What workers noticed of a rollback of the server's database, for which none takes new work. */
  rollback = (): Promise<RollbackNotice[]> => readNotices(this.#wire.client);
  /** Goes on with the older database; gives the runs that are not waited for any more, newest first. */
  acceptRollback = (said: { by: string; why: string }): Promise<ForgottenBy[]> => acceptRollback(this.#wire, said);
  /** Until every attached worker has said that its agents are down, for 30 s at most. */
  untilStopped = (order: FleetOrder): Promise<Stopped> => untilStopped(this.#wire, order);
  /** Until those workers have obeyed the order, or its withdrawal: they hold, left, were lost, or take new work again. */
  untilObeyed = (awaited: { hostQueues: readonly string[]; order: FleetOrder | null }): Promise<FleetWorker[]> =>
    untilObeyed(this.#wire, awaited);
}
