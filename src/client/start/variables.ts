import { isGivenToAll } from '../../domain/values/given-to-all.ts';
import { firstClaimQueue } from '../../domain/list/task-row.ts';
import type { Task } from '../../domain/task/schema.ts';
import { canClaim } from '../explain/explain.ts';
import { isAttached, type FleetWorker } from '../fleet/workers.ts';

/** Why no attached worker that could claim the task gives it all variables that it asks for; undefined: one does, or none could claim it. */
export function variableRefused(task: Task, workers: readonly FleetWorker[]): string | undefined {
  // Nothing of ours runs for an agent outside the fleet.
  const queue = firstClaimQueue(task);
  const able = workers.filter((worker) => task.for === undefined && isAttached(worker) && canClaim(worker, queue));
  const lacks = ({ env = [] }: FleetWorker) => task.env.find((name) => !env.includes(name) && !isGivenToAll(name));
  const lacking = able.map(lacks);
  const name = lacking[0];
  if (name === undefined || lacking.includes(undefined)) return undefined;
  const [who, whose] =
    able.length === 1 ? [`worker ${able[0]!.name} gives`, 'its'] : ['the workers that could take it give', 'their'];
  return `env must not have ${name}: ${who} it to no task; worker.env of ${whose} configuration lists what a task may ask for, and no credential can be in it`;
}
