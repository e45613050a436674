import { isCancellation } from '@temporalio/workflow';
import type { Task } from '../domain/task.ts';
import type { TaskBook } from './book.ts';
import { deliverResult } from './deliver.ts';
import { Host } from './host.ts';

/**
 * Puts the late result of a lost worker, if there is one, through its receipts: neither trusted nor thrown away.
 * True: it was accepted and delivered, and the task is done.
 */
export async function settleLate(task: Task, book: TaskBook): Promise<boolean> {
  const run = book.candidate;
  const claim = run && book.claimOf(run);
  if (!claim) return false;
  const host = new Host(book.view.id, claim);
  try {
    book.enter('verifying');
    const verified = await host.call('verify receipts of a late result', (on) => on.verifyReceipts(host.ref));
    book.lateVerified(run, verified);
    if (!verified.verdict.accepted) return false;
    return (await deliverResult(host, { task, book, verified })) === undefined;
  } catch (error) {
    if (isCancellation(error)) throw error;
    // Gone again: it tells of the run anew when it is back.
    run.late = null;
    return false;
  }
}
