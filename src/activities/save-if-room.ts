import { isDiskTrouble } from '../adapters/space.ts';
import type { RunRef, SavedWork } from '../domain/run.ts';
import { concludeAbandoned } from './conclude.ts';
import type { Deps } from './context.ts';
import { persist } from './persist.ts';
import { saveWork } from './save-work.ts';

/** As `saveWork`, once there is room for it. Of the run that itself filled the disk, only what finds room now. */
export async function saveIfRoom(deps: Deps, ref: RunRef, how: { share: boolean }): Promise<SavedWork | null> {
  const filled = (await concludeAbandoned(deps, ref))?.stopped === 'disk';
  if (!filled) return persist(deps, () => saveWork(deps, ref, how));
  deps.disk.giveUpReserve();
  return saveWork(deps, ref, how).catch((error: unknown) => {
    if (!isDiskTrouble(error)) throw error;
    return null;
  });
}
