import type { GraphNode } from '../../domain/scheduling/graph.ts';
import { listRows } from './rows.ts';
import type { FleetConnection } from '../connection.ts';

/** Tasks with what they wait for, oldest first, from the server's list alone. */
export async function listGraph(wire: FleetConnection): Promise<GraphNode[]> {
  const rows = await listRows(wire);
  return rows.map(({ id, state, dependsOn }) => ({ id, state, dependsOn })).toReversed();
}
