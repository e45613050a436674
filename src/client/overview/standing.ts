import { FleetError } from '../../domain/error.ts';
import type { TaskState } from '../../domain/task/state.ts';
import { describeTask, stateOf } from '../read/view.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';

const WIDTH = 12;

/** The state of those that the server knows, of some that may not be tasks. */
export async function standingOf(wire: FleetConnection, ids: readonly string[]): Promise<Map<string, TaskState>> {
  const found = await mapBounded([...new Set(ids)], WIDTH, async (id) => {
    try {
      return [[id, stateOf(await describeTask(wire, id))] as const];
    } catch (error) {
      if (error instanceof FleetError) return [];
      throw error;
    }
  });
  return new Map(found.flat());
}
