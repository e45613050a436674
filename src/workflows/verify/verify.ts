import type { Failure } from '../../domain/agent/failure.ts';
import type { Verified } from '../../domain/view/task-view.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { verifyElsewhere } from './second-worker.ts';
import type { WorkerActivities } from '../worker/worker-activities.ts';

/** The verdict on a run: of its own worker and, where the policy asks for it, of a second one. `note` hears of each. */
export async function verifyRun(
  host: WorkerActivities,
  record: TaskRecord,
  note: (verified: Verified) => void,
): Promise<Verified | { failure: Failure }> {
  const verified = await host.call('verify receipts', (on) => on.verifyReceipts(host.ref));
  note(verified);
  if (!verified.elsewhere) return verified;
  const settled = await verifyElsewhere(host, (message) => record.say(message));
  record.say(null);
  if (!('failure' in settled)) note(settled);
  return settled;
}
