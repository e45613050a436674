import { saveRescue } from '../../adapters/git/rescue/rescue.ts';
import type { Prepared } from '../../adapters/state/run-registry.ts';
import { rescueRef } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { Deps } from '../worker/context.ts';

/** Keeps in the vault what was rejected, or could not be delivered, for a person to decide on. */
export async function keepResult(
  { home }: Deps,
  ref: RunRef,
  { prepared, commit }: { prepared: Prepared; commit: string },
): Promise<void> {
  const saved = await saveRescue({
    vaultDir: home.vaultOf(prepared.repoKey),
    gitDir: home.run(ref.taskId, ref.runId).result,
    commit,
    ref: rescueRef(ref.taskId, ref.runId),
  });
  if (!saved.ok) throw new Error(saved.failure.message);
}
