import { Context } from '@temporalio/activity';
import type { SecondWorker } from '../../domain/worker/second-verdict.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import { isPath } from '../../domain/repository/repository-name.ts';
import { requirePrepared, type Deps } from '../worker/context.ts';
import type { Attached } from '../worker/services.ts';
import { heartbeating } from '../worker/heartbeat.ts';

const EVERY_MS = 30_000;

export interface SecondInput extends RunRef {
  /** Host queue of one that was lost just now: taken where there is no other. */
  avoid: string | null;
  /** Until there is one. */
  wait: boolean;
}

/** Another attached worker that can verify the run's result as well: on another machine, if there is one. */
export async function findSecondWorker(deps: Deps, order: SecondInput): Promise<SecondWorker | null> {
  const { task } = requirePrepared(deps, order).prepared;
  const context = Context.current();
  return heartbeating(
    () => ({ runId: order.runId, state: 'verifying', lastEvent: 'waits for a second worker' }),
    async () => {
      for (;;) {
        const found = choose(await deps.attached(), { deps, task, avoid: order.avoid });
        if (found || !order.wait) return found ?? null;
        await context.sleep(EVERY_MS);
      }
    },
  );
}

/** A path repository is only there on its own machine. */
function choose(
  workers: readonly Attached[],
  { deps, task, avoid }: { deps: Deps; task: { queue: string; repo?: string | undefined }; avoid: string | null },
): SecondWorker | undefined {
  const { machine, hostQueue: own } = deps.worker;
  const anywhere = !isPath(task.repo);
  const rank = (worker: SecondWorker) =>
    (worker.hostQueue === avoid ? 2 : 0) + (anywhere && worker.machine === machine ? 1 : 0);
  const [best] = workers
    .flatMap((worker) => (worker.publicKey ? [{ ...worker, publicKey: worker.publicKey }] : []))
    .filter(({ hostQueue, queues }) => hostQueue !== own && queues.includes(task.queue))
    .filter((worker) => anywhere || worker.machine === machine)
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  if (!best) return undefined;
  const { name, hostQueue, publicKey, lease } = best;
  return { name, machine: best.machine, hostQueue, publicKey, lease };
}
