import type { Failure } from '../../domain/agent/failure.ts';
import type { RunView, Verified } from '../../domain/view/task-view.ts';
import type { Claim } from '../../domain/run/claim.ts';
import type { Task } from '../../domain/task/schema.ts';
import type { ProposedFollowUps } from '../../domain/run/accepted.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { handOff } from '../people/follow-ups.ts';
import type { WorkerActivities } from '../worker/worker-activities.ts';
import { outlastFault } from '../claim/outlast-fault.ts';

/**
 * Brings an accepted result to where the repository came from. `delivered`: as far as that is all, or there is nothing to
 * deliver; `kept`: it waits, without a slot, for a person's yes, or for what follows the branch.
 */
export async function deliverResult(
  host: WorkerActivities,
  given: {
    task: Task;
    record: TaskRecord;
    verified: Verified;
    run: Pick<Claim | RunView, 'runId' | 'hostQueue' | 'worker'>;
    proposed: ProposedFollowUps | null;
  },
): Promise<'delivered' | 'kept' | Failure> {
  const { task, record, verified, run, proposed } = given;
  const approve = needsApproval(task, verified);
  const { runId, hostQueue, worker } = run;
  const { word, approveWithinMs } = verified;
  const more = { ...(word ? { word } : {}), ...(approve && approveWithinMs ? { approveWithinMs } : {}) };
  const kept = { ...{ runId, hostQueue, worker, approve, proposed, ...more }, delivered: false };
  record.results.kept = kept;
  if (approve) {
    const held = verified.commit ? await outlastFault(() => keep(host)) : { ok: true as const };
    return held.ok ? 'kept' : held.failure;
  }
  if (proposed) await handOff(given, proposed);
  if (task.deliver !== 'none' && verified.commit) {
    record.enter('delivering');
    const order = { ...host.ref, ...record.results.before(verified) };
    const delivered = await outlastFault(() => host.call('deliver', (on) => on.deliver(order)));
    if (!delivered.ok) return delivered.failure;
    record.delivered(delivered, hostQueue);
    kept.delivered = true;
  }
  return kept.delivered && followsBranch(task) ? 'kept' : 'delivered';
}

const keep = async (host: WorkerActivities): Promise<{ ok: true }> => {
  await host.call('keep the result', (on) => on.keepAccepted(host.ref));
  return { ok: true };
};

/** Whether there is more to do than a branch. */
const followsBranch = ({ deliver }: Task): boolean => deliver === 'pr' || deliver === 'merge';

const ONLY_ITS_WORD = "nothing but its agent's word shows that it is done";
const NOT_KNOWN = 'a check of its artifacts could not tell whether it is done';

/** Why a person has to say yes before this result is delivered; null where nobody has to. */
function needsApproval({ approval }: Task, { irreversible, word }: Verified): string | null {
  const why = [irreversible, word && (word.unknown.length > 0 ? NOT_KNOWN : ONLY_ITS_WORD)].filter(
    (text) => text !== undefined,
  );
  if (why.length > 0) return why.join('; ');
  return approval === 'before-deliver' || approval === 'both'
    ? "the result was accepted, and waits for a person's yes"
    : null;
}
