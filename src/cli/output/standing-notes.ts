import type { Fleet, StandingOrder } from '../../client.ts';
import { rollbackSentence } from '../../domain/worker/rollback.ts';
import { orderSentence } from '../../domain/worker/worker.ts';
import { oneLine } from './text.ts';

/** Under lists: what holds more than one task or worker. */
export async function standingNotes(fleet: Fleet): Promise<string[]> {
  const [standing, rollback] = await Promise.all([fleet.orders.list(), rollbackNotes(fleet)]);
  return [...rollback, ...standing.map((order) => oneLine(orderNote(order)))];
}

export async function rollbackNotes({ orders }: Fleet): Promise<string[]> {
  const notices = await orders.rollback();
  return notices.length > 0 ? [oneLine(`no worker takes new work: ${rollbackSentence(notices)}`)] : [];
}

function orderNote(order: StandingOrder): string {
  const { worker } = order;
  return worker === null
    ? `the fleet is ${orderSentence(order)}`
    : `worker ${worker} is ${orderSentence(order, worker)}`;
}
