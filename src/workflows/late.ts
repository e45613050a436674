import { isCancellation } from '@temporalio/workflow';
import type { Failure } from '../domain/failure.ts';
import type { RunView } from '../domain/run.ts';
import type { Task } from '../domain/task.ts';
import type { TaskBook } from './book.ts';
import { deliverResult } from './deliver.ts';
import { Host, HostLost } from './host.ts';
import { verifyRun } from './verify.ts';

/**
 * Puts the late result of a lost worker, if there is one, through its receipts: neither trusted nor thrown away.
 * `done`: it was accepted and delivered. A failure: it was accepted and could not be delivered. Else the task is where
 * it was before.
 */
export async function settleLate(task: Task, book: TaskBook): Promise<'done' | Failure | undefined> {
  const run = book.candidate;
  const claim = run && book.claimOf(run);
  if (!claim) return undefined;
  const goBack = book.remember();
  try {
    const failure = await settle(Host.of(book.view.id, claim), { task, book, run });
    if (failure === 'done') return 'done';
    goBack();
    return failure;
  } catch (error) {
    if (isCancellation(error)) throw error;
    // Gone again: it tells of the run anew when it is back. One that is there and cannot do it would tell for ever.
    run.late = error instanceof HostLost && !error.answers ? null : 'rejected';
    goBack();
    return undefined;
  }
}

async function settle(
  host: Host,
  { task, book, run }: { task: Task; book: TaskBook; run: RunView },
): Promise<'done' | Failure | undefined> {
  book.enter('verifying');
  const verified = await verifyRun(host, book, (found) => book.lateVerified(run, found));
  if ('failure' in verified) {
    run.late = 'rejected';
    return undefined;
  }
  if (!verified.verdict.accepted) return undefined;
  const failure = await deliverResult(host, { task, book, verified });
  book.lateEnded(run, verified, failure);
  return failure ?? 'done';
}
