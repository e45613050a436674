import { FleetError } from '../../domain/error.ts';
import { admitTasks } from './admit.ts';
import { standingOf } from '../overview/standing.ts';
import { startTask } from './start.ts';
import type { FleetConnection } from '../connection.ts';

/** `refused`: why it cannot be, where that is the task's fault: nothing mends it by itself. */
export type Enqueued = { is: 'created' } | { is: 'there' } | { is: 'refused'; why: string };

/**
 * Puts a task into the queue, once for each id, however often it is called.
 * @throws what may go well in a while: to be called again
 */
export async function enqueueOnce(
  wire: FleetConnection,
  { id, input }: { id: string; input: unknown },
): Promise<Enqueued> {
  if ((await standingOf(wire, [id])).has(id)) return { is: 'there' };
  try {
    const [admitted] = await admitTasks(wire, [{ input, id }]);
    await startTask(wire, admitted!);
    return { is: 'created' };
  } catch (error) {
    if (!(error instanceof FleetError) || error.code === 'unavailable') throw error;
    // Another call was faster.
    return (await standingOf(wire, [id])).has(id) ? { is: 'there' } : { is: 'refused', why: error.message };
  }
}
