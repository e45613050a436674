import type { Client } from '@temporalio/client';
import { endRun, type Deps } from '../activities/context.ts';
import { releaseBases } from '../adapters/git/base-store.ts';
import type { RunRef } from '../domain/run.ts';
import { viewQuery } from '../workflows/messages.ts';

const EVERY_MS = 10_000;
/** Longer than the workflow needs from a claim to its next activity. */
const QUIET_MS = 20_000;
const DEADLINE_MS = 5_000;

/**
 * Frees what no open workflow owns any more: claims that the workflow never received, runs of tasks that were
 * terminated, and runs that were claimed elsewhere while this worker was away. What lives of them is killed.
 */
export function startReaper(deps: Deps, client: Client, log: (line: string) => void): { stop(): Promise<void> } {
  let reaping: Promise<void> | undefined;
  const timer = setInterval(() => {
    reaping ??= reap(deps, client, log)
      .catch((error: unknown) => log(`reaper: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => (reaping = undefined));
  }, EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await reaping;
    },
  };
}

export async function reap(deps: Deps, client: Client, log: (line: string) => void): Promise<void> {
  releaseBases({ home: deps.home, inUse: deps.registry.basesInUse() });
  for (const run of deps.registry.quietFor(QUIET_MS)) {
    // Another server's tasks are not this one's to judge.
    if (run.server !== deps.server) continue;
    if (await isOwned(client, run)) continue;
    log(`run ${run.runId} of ${run.taskId} is not this worker's any more: ending it`);
    await endRun(deps, run, 'superseded');
    await deps.registry.release(run);
  }
}

/** True also where it cannot be told now: what is in doubt is left alone. */
async function isOwned(client: Client, { taskId, runId }: RunRef): Promise<boolean> {
  const handle = client.workflow.getHandle(taskId);
  try {
    const description = await client.withDeadline(Date.now() + DEADLINE_MS, () => handle.describe());
    if (description.status.name !== 'RUNNING') return false;
    const view = await client.withDeadline(Date.now() + DEADLINE_MS, () => handle.query(viewQuery));
    const live = view.runs.at(-1);
    return live?.runId === runId && live.endedAt === null;
  } catch (error) {
    return !(error instanceof Error && error.name === 'WorkflowNotFoundError');
  }
}
