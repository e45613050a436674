import type { Reason } from '../../domain/agent/failure.ts';
import type { Released, RunEnding, RunRef } from '../../domain/view/task-view.ts';
import { outcomeOf } from '../../domain/worker/worker.ts';
import { failpoint } from '../../adapters/failpoint.ts';
import { endRun, type Deps } from '../worker/context.ts';
import { withdrawResults } from '../verify/offer-result.ts';
import { heartbeating } from '../worker/heartbeat.ts';
import { dropJoined } from '../prepare/join-results.ts';
import { wirePlace } from '../output/model-calls.ts';
import { noteWork } from '../worker/ledger-entry.ts';
import { persist } from '../worker/persist.ts';
import { saveIfRoom } from './save-if-room.ts';
import { forgetWork } from '../save/save-work.ts';
import { returnSeat } from '../credentials/seat.ts';
import { unshareWork } from '../save/push-wip.ts';

export type ReleaseInput = RunRef & { ending: RunEnding; /** Why it was not accepted. */ reason?: Reason | null };

/** Ends what may still live of the run, saves what was not delivered, frees the slot and removes the run's folder. */
export async function releaseRun(deps: Deps, order: ReleaseInput): Promise<Released> {
  if (!deps.registry.find(order)) return { saved: null };
  return heartbeating(
    () => ({ runId: order.runId, state: 'delivering' }),
    () => release(deps, order),
  );
}

async function release(deps: Deps, order: ReleaseInput): Promise<Released> {
  await noteWork(deps, order);
  const prepared = deps.registry.find(order)?.prepared;
  await endRun(deps, order, 'superseded');
  await persist(deps, () => deps.proxy.close(wirePlace(deps, order)));
  const over = order.ending === 'done' || order.ending === 'cancelled';
  const saved =
    order.ending === 'done' ? null : await saveIfRoom(deps, order, { share: !over && order.reason !== 'secret-found' });
  if (over) await unshareWork(deps, order);
  if (prepared) await withdrawResults(deps, order, prepared);
  if (prepared && over) await dropJoined(deps, order, prepared);
  if (prepared && order.ending === 'done') await forgetWork(deps, order.taskId, prepared);
  failpoint('release.ended');
  await deps.tally.ended(order, outcomeOf(order.ending, order.reason ?? null));
  await returnSeat(deps, order);
  await deps.registry.release(order);
  failpoint('release.removed');
  return { saved };
}
