import type { Client } from '@temporalio/client';
import { concludeAbandoned } from '../activities/conclude.ts';
import { endRun, type Deps } from '../activities/context.ts';
import { saveIfRoom } from '../activities/save-if-room.ts';
import { releaseBases } from '../adapters/git/base-store.ts';
import type { RunRecord } from '../adapters/run-registry.ts';
import { lateResultSignal, viewQuery } from '../workflows/messages.ts';

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
    const task = await standing(client, run);
    if (task === 'owns' || task === 'unknown') continue;
    if (task === 'candidate') {
      await deps.registry.retire(run);
      continue;
    }
    log(`run ${run.runId} of ${run.taskId} is not this worker's any more: ending it`);
    await deps.registry.using(run, () => abandon(deps, client, { run, open: task !== 'closed' }));
  }
  for (const run of deps.registry.retired()) {
    const task = await standing(client, run);
    if (task === 'settled' || task === 'closed') await deps.registry.release(run);
    // This worker was lost once more before its result was verified.
    if (task === 'lost') await deps.registry.using(run, () => abandon(deps, client, { run, open: true }));
  }
}

/** Kills what lives of a run, saves what it made, and tells the task of it where that is still open. */
async function abandon(deps: Deps, client: Client, { run, open }: { run: RunRecord; open: boolean }): Promise<void> {
  const { taskId, runId } = run;
  await endRun(deps, run, 'superseded');
  const outcome = await concludeAbandoned(deps, run);
  const saved = await saveIfRoom(deps, run, { share: open });
  const finished = open && outcome !== undefined && outcome.stopped === null;
  if (open) await client.workflow.getHandle(taskId).signal(lateResultSignal, { runId, saved, finished });
  // After a crash here the task itself says that it waits for this result.
  if (finished) await deps.registry.retire(run);
  else await deps.registry.release(run);
}

/**
 * What a task says of a run: it `owns` it, has `lost` it and knows of no result, waits for its late result as a
 * `candidate`, is done with it (`settled`), or is itself closed. In doubt: `unknown`.
 */
async function standing(
  client: Client,
  { taskId, runId, retired }: RunRecord,
): Promise<'owns' | 'candidate' | 'lost' | 'settled' | 'closed' | 'unknown'> {
  const handle = client.workflow.getHandle(taskId);
  try {
    const description = await client.withDeadline(Date.now() + DEADLINE_MS, () => handle.describe());
    if (description.status.name !== 'RUNNING') return 'closed';
    const view = await client.withDeadline(Date.now() + DEADLINE_MS, () => handle.query(viewQuery));
    const run = view.runs.find((other) => other.runId === runId);
    if (run?.endedAt === null) return 'owns';
    if (run?.late === 'candidate') return 'candidate';
    // A task that does not list a run any more takes nothing of it: it is told once.
    const settled = run ? run.late || run.reason !== 'host-lost' : retired;
    return settled ? 'settled' : 'lost';
  } catch (error) {
    return error instanceof Error && error.name === 'WorkflowNotFoundError' ? 'closed' : 'unknown';
  }
}
