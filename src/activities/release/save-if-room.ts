import type { RunRef } from '../../domain/view/task-view.ts';
import type { SavedWork } from '../../domain/agent/saved-work.ts';
import { concludeAbandoned } from '../launch/outcome.ts';
import type { Deps } from '../worker/context.ts';
import { persist, unlessDisk } from '../worker/persist.ts';
import { saveWork } from '../save/save-work.ts';

/** Saves a run's work once the disk has room. A run that filled the disk keeps what fits now; one over its limit keeps nothing. */
export async function saveIfRoom(deps: Deps, ref: RunRef, how: { share: boolean }): Promise<SavedWork | null> {
  const limit = deps.registry.find(ref)?.prepared?.policy.limits.diskBytes;
  if (limit && (await deps.disk.excess(ref, limit))) return null;
  const filled = (await concludeAbandoned(deps, ref))?.stopped === 'disk';
  if (!filled) return persist(deps, () => saveWork(deps, ref, how));
  deps.disk.giveUpReserve();
  return saveWork(deps, ref, how).catch((error: unknown) => {
    unlessDisk(error);
    return null;
  });
}
