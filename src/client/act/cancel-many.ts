import { FleetError } from '../../domain/error.ts';
import { WORKFLOW_TYPE } from '../../domain/names.ts';
import type { TaskState } from '../../domain/task/state.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { cancelTask } from './decide.ts';
import { describeTask, stateOf } from '../read/view.ts';
import { mapBounded, type FleetConnection } from '../connection.ts';

const WIDTH = 8;

/** Open tasks with all of these labels, in one of these states; an empty list asks for nothing. */
export interface OpenTasks {
  labels: readonly string[];
  states: readonly TaskState[];
}

/** Their ids, `most` at most, as the server's index has them: it lags a little. No worker is asked. */
export async function findOpen({ client }: FleetConnection, wanted: OpenTasks, most: number): Promise<string[]> {
  const is = (name: string, value: string) => `${name} = '${value.replaceAll("'", "''")}'`;
  const states = wanted.states.map((state) => is(ATTRIBUTES.state.name, state));
  const query = [
    `WorkflowType = '${WORKFLOW_TYPE}' AND ExecutionStatus = 'Running'`,
    ...wanted.labels.map((label) => is(ATTRIBUTES.labels.name, label)),
    ...(states.length > 0 ? [`(${states.join(' OR ')})`] : []),
  ].join(' AND ');
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query, pageSize: Math.min(most, 1_000) })) {
    ids.push(workflowId);
    if (ids.length >= most) break;
  }
  return ids;
}

/** What became of each: `why` where it was left as it is. */
export interface Cancelled {
  id: string;
  why?: string;
}

/** Cancels each; with `states` only one that is in such a state when its turn comes. */
export function cancelMany(
  wire: FleetConnection,
  ids: readonly string[],
  { states = [] }: { states?: readonly TaskState[] } = {},
): Promise<Cancelled[]> {
  return mapBounded(ids, WIDTH, async (id) => {
    try {
      const state = states.length > 0 ? stateOf(await describeTask(wire, id)) : undefined;
      if (state && !states.includes(state)) return { id, why: `task ${id} is ${state} now` };
      await cancelTask(wire, id);
      return { id };
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      return { id, why: error.message };
    }
  });
}
