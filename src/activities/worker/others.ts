import { Context } from '@temporalio/activity';
import { setTimeout as pause } from 'node:timers/promises';
import { heldFor } from '../../domain/scheduling/budget.ts';
import type { Wanting } from '../../domain/run/claim.ts';
import { isOutside } from '../../domain/people/external-agent.ts';
import { isPath } from '../../domain/repository/repository-name.ts';
import type { Deps } from './context.ts';
import type { Attached } from './services.ts';

/** How long the server may take to list attached workers: the claim itself has three seconds. */
const LOOK_MS = 1_000;
/** How long after its last run a task is left to other workers: a full one may get free, one that takes nothing is not waited for. */
const LEFT_MS = 5 * 60_000;

type Asking = Pick<Deps, 'attached' | 'worker'>;

/** The attached workers that could have a run of the task, this one left out; none where nobody says so in time. */
export async function othersFor({ attached, worker }: Asking, wanting: Wanting): Promise<Attached[]> {
  const all = await Promise.race([attached().catch(() => []), pause(LOOK_MS, [], { ref: false })]);
  return all.filter(
    (other) =>
      other.hostQueue !== worker.hostQueue &&
      (!isPath(wanting.repo ?? undefined) || other.machine === worker.machine) &&
      takes(other, wanting),
  );
}

/** What is taken at the moment gets free again: that its slots are full, or the seats of a credential, is no reason. */
function takes({ queues, coders, view }: Attached, { queue, repo, coder, credential }: Wanting): boolean {
  if (!queues.includes(queue) || heldFor(view?.budgets ?? [], { queue, repo })) return false;
  if (coder !== undefined && isOutside(coder)) return true;
  const closed = (view?.closed ?? []).flatMap((one) => (one.full ? [] : one.coder));
  const open = coders.filter(({ name }) => !closed.includes(name) && (coder === undefined || name === coder));
  return open.length > 0 && (credential === undefined || (view?.credentials ?? []).includes(credential));
}

/** Whether none of the task's runs has met there what may be a worker's own. */
export const isUnmet = ({ name }: Pick<Attached, 'name'>, { met }: Wanting): boolean => !met?.workers.includes(name);

/** Whether this worker has met what may be its own, and there is another one that the task is still left to. */
export async function isForOthers(deps: Asking, wanting: Wanting): Promise<boolean> {
  const { met } = wanting;
  if (!met || isUnmet(deps.worker, wanting)) return false;
  // Both times are the server's.
  if (Context.current().info.currentAttemptScheduledTimestampMs - Date.parse(met.at) > LEFT_MS) return false;
  return (await othersFor(deps, wanting)).some((other) => isUnmet(other, wanting));
}
