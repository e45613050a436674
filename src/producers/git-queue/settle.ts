import { failpoint } from '../../adapters/failpoint.ts';
import type { TaskReport } from '../../client.ts';
import { writeClosed, writeNote } from '../../domain/produce/git-queue.ts';
import { isOwn, type Claimant } from './own.ts';
import { bring, type Change, type GitQueue, type Seen, type Snapshot } from './queue.ts';
import { closedAs, noteOf, resultOf, waitsForPerson } from './result.ts';

/** A claim of ours, and the fleet's task. */
export interface Followed {
  seen: Seen;
  report: TaskReport;
}

export interface Settled {
  id: string;
  task: string;
  /** As the file now says: done, failed, cancelled, or claimed where it waits for a person, or no more. */
  status: string;
  state: string;
  message: string | null;
}

/** Writes what became of the fleet's tasks: closed ones are closed, and one that waits for a person says so. */
export async function settle(
  queue: GitQueue,
  snapshot: Snapshot,
  { claimant, followed }: { claimant: Claimant; followed: readonly Followed[] },
): Promise<{ snapshot: Snapshot; settled: Settled[] }> {
  const at = new Date().toISOString();
  const changes = followed.map((one) => changeOf(claimant, one, at));
  const closing = followed.some(({ report }) => closedAs(report));
  const brought = await bring(queue, snapshot, { changes, verb: closing ? 'Report' : 'Note' });
  const settled = brought.outcomes.flatMap((outcome) => outcome ?? []);
  if (settled.length) failpoint('sync.result-pushed');
  return { snapshot: brought.snapshot, settled };
}

function changeOf(claimant: Claimant, { seen, report }: Followed, at: string): Change<Settled | undefined> {
  const nothing = { text: null, outcome: undefined };
  return {
    path: seen.path,
    id: seen.task.id,
    make(now) {
      // Somebody took it out of our hands, or another process of ours was first.
      if (!now || !isOwn(claimant, now.task) || now.task.fleetTask !== report.id) return nothing;
      const told = { id: now.task.id, task: report.id, state: report.state, message: report.message };
      const status = closedAs(report);
      if (status)
        return { text: writeClosed(now.task, { status, result: resultOf(report), at }), outcome: { ...told, status } };
      const note = waitsForPerson(report) ? noteOf(report) : null;
      return JSON.stringify(note) === JSON.stringify(now.task.result)
        ? nothing
        : { text: writeNote(now.task, note), outcome: { ...told, status: 'claimed' } };
    },
  };
}
