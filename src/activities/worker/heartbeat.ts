import { Context } from '@temporalio/activity';
import type { Progress } from '../../domain/view/task-view.ts';
import type { WorkerView } from '../../domain/worker/worker.ts';

/** Beats four times within the heartbeat timeout, and at least every 2 s: that is how soon a cancellation is heard. A local activity has nobody to beat for. */
export async function heartbeating<T>(
  progress: () => Progress | WorkerView | null,
  work: () => Promise<T>,
): Promise<T> {
  const context = Context.current();
  if (context.info.isLocal) return work();
  const beat = () => context.heartbeat(progress());
  beat();
  const timer = setInterval(beat, Math.min(2_000, (context.info.heartbeatTimeoutMs ?? 8_000) / 4));
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * One heartbeated step of a run. It ends at once when the activity is cancelled, by whomever: the work then stops at its
 * next look at the signal, and a later attempt waits for that. Once `bound` says so it comes to its end first.
 */
export async function cancellable<T>(
  progress: () => Progress,
  work: (signal: AbortSignal) => Promise<T>,
  { bound = () => false }: { bound?: () => boolean } = {},
): Promise<T> {
  const { cancelled, cancellationSignal } = Context.current();
  return heartbeating(progress, () => {
    const working = work(cancellationSignal);
    return Promise.race([working, cancelled.catch((why: unknown) => (bound() ? working : Promise.reject(why)))]);
  });
}

/** Whether a person cancelled the task; false where the worker shuts down or the lease was lost. */
export const isTaskCancelled = (): boolean => Context.current().cancellationDetails?.cancelRequested === true;
