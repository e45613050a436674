import { standingFor } from '../../domain/scheduling/dependencies.ts';
import { FleetError } from '../../domain/error.ts';
import type { Dependency } from '../../domain/people/waiting.ts';
import { viewTask } from './view.ts';
import type { FleetConnection } from '../connection.ts';

/** How a task stands for those that depend on it; one that the server does not know counts as cancelled. */
export async function lookUpTask(wire: FleetConnection, id: string): Promise<Dependency> {
  try {
    return standingFor(await viewTask(wire, id));
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    const gone = 'the server does not know it, or not any more';
    return { id, state: 'cancelled', reason: null, message: gone, repo: null, commit: null };
  }
}
