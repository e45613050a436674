import type { Client } from '@temporalio/client';
import { concludeAbandoned } from '../../activities/launch/outcome.ts';
import { endRun, type Deps } from '../../activities/worker/context.ts';
import { withdrawResults } from '../../activities/verify/offer-result.ts';
import { saveIfRoom } from '../../activities/release/save-if-room.ts';
import { unshareWork } from '../../activities/save/push-wip.ts';
import { releaseBases } from '../../adapters/git/source/base-store.ts';
import { releasePackages } from '../../adapters/state/packages.ts';
import type { RunRecord } from '../../adapters/state/run-registry.ts';
import { isDiskTrouble } from '../../adapters/disk/free-space.ts';
import { toMs } from '../../domain/values/duration.ts';
import type { Debt } from '../../domain/worker/worker.ts';
import { lateResultSignal, viewQuery } from '../../workflows/messages.ts';
import { Forgetting } from '../clean/forgetting.ts';
import { payDebts } from '../record.ts';
import { TroubleLog } from './trouble-log.ts';

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
  const forgetting = new Forgetting(deps, client);
  const troubles = new TroubleLog(log);
  const round = 'what this worker holds and owes cannot be looked through';
  const timer = setInterval(() => {
    reaping ??= reap(deps, client, troubles)
      .then((owed) => forgetting.begin(owed))
      .then(() => troubles.worked(round))
      .catch((error: unknown) => troubles.failed(round, error))
      .finally(() => (reaping = undefined));
  }, EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await reaping;
      await forgetting.stop();
    },
  };
}

/** Gives the tasks that this worker still has to forget. */
export async function reap(deps: Deps, client: Client, troubles: TroubleLog): Promise<Debt[]> {
  releaseBases({ home: deps.home, inUse: deps.registry.basesInUse() });
  await releasePackages(deps.home.packages);
  // A server that has lost its memory is no witness.
  const looked = await deps.rollback.look().then(
    () => true,
    () => false,
  );
  if (!looked || deps.rollback.noticed) return [];
  // What one run fails at is tried again, and holds up no other.
  const each = async (runs: RunRecord[], tend: (run: RunRecord) => Promise<void>) => {
    for (const run of runs) {
      const what = `run ${run.runId} of task ${run.taskId} cannot be tended`;
      await tend(run).then(
        () => troubles.worked(what),
        (error: unknown) => troubles.failed(what, error),
      );
    }
  };
  await each(deps.registry.quietFor(QUIET_MS), async (run) => {
    const task = await standing(client, run);
    if (task === 'owns' || task === 'unknown') return;
    if (task === 'candidate') return deps.registry.retire(run);
    troubles.say(`run ${run.runId} of ${run.taskId} is not this worker's any more: ending it`);
    await deps.registry.using(run, () => abandon(deps, client, { run, open: task !== 'closed' }));
  });
  await each(deps.registry.retired(), async (run) => {
    const task = await standing(client, run);
    if (task === 'settled' || task === 'closed') {
      if (run.prepared) await withdrawResults(deps, run, run.prepared);
      await deps.registry.release(run);
    }
    // This worker was lost once more before its result was verified.
    // While people have stopped the fleet it would only be lost again.
    if (task === 'lost' && !deps.holds.stopsAgents)
      await deps.registry.using(run, () => abandon(deps, client, { run, open: true }));
  });
  const owed = await owedBy(deps, client, troubles);
  // Last: with a full disk this takes its time.
  const longAgo = Date.now() - toMs(deps.config.keep.orphaned);
  const left = deps.registry.ofOthers().filter(({ leftAt }) => leftAt !== undefined && Date.parse(leftAt) < longAgo);
  await each(left, async (run) => {
    const { stuck } = await save(deps, run, { share: false });
    await clear(deps, run, { stuck });
  });
  return owed;
}

/** Where the server does not tell, nothing is owed for now. */
async function owedBy(deps: Deps, client: Client, troubles: TroubleLog): Promise<Debt[]> {
  const what = `the record of worker ${deps.worker.name} cannot be read`;
  try {
    const owed = await payDebts(deps, client);
    troubles.worked(what);
    return owed;
  } catch (error) {
    troubles.failed(what, error);
    return [];
  }
}

/**
 * Ends what runs for another server than the one that this worker is attached to now: nothing would fence it. What it
 * made is saved, and told to its task when the worker is attached there again.
 */
export async function endOthers(deps: Deps, log: (line: string) => void): Promise<void> {
  const runs = deps.registry.ofOthers();
  if (runs.length) {
    const they = runs.length === 1 ? '1 run here is' : `${runs.length} runs here are`;
    log(`${they} of another Temporal server: what lives of it is stopped, and its work is kept`);
  }
  await deps.registry.noteLeft().catch((error: unknown) => log(`runs of other servers: ${String(error)}`));
  for (const run of runs) {
    await endRun(deps, run, 'host-lost');
    // Its folder stays for `keep.orphaned`; the reaper saves it again before that goes, or sets it aside.
    await saveIfRoom(deps, run, { share: false }).catch((error: unknown) => log(unsaved(run, error)));
  }
}

const unsaved = ({ taskId, runId }: RunRecord, error: unknown): string =>
  `the work of run ${runId} of ${taskId} cannot be saved: ${String(error)}`;

/** Kills what lives of a run, saves what it made, and tells the task of it, or clears the remote where that is closed. */
async function abandon(deps: Deps, client: Client, { run, open }: { run: RunRecord; open: boolean }): Promise<void> {
  const { taskId, runId } = run;
  await endRun(deps, run, 'superseded');
  const outcome = await concludeAbandoned(deps, run);
  const { saved, stuck } = await save(deps, run, { share: open });
  if (run.prepared) await withdrawResults(deps, run, run.prepared);
  if (deps.tally.counts(run)) await deps.tally.ended(run, 'handedOver');
  const finished = open && outcome !== undefined && outcome.stopped === null;
  if (open) await client.workflow.getHandle(taskId).signal(lateResultSignal, { runId, saved, finished });
  // After a crash here the task itself says that it waits for this result.
  if (finished) return deps.registry.retire(run);
  if (!open) await unshareWork(deps, run);
  await clear(deps, run, { stuck });
}

/** What a run made, in the vault; `stuck` where that cannot be done, now or later. */
async function save(deps: Deps, run: RunRecord, how: { share: boolean }) {
  try {
    return { saved: await saveIfRoom(deps, run, how), stuck: false };
  } catch (error) {
    if (isDiskTrouble(error)) throw error;
    deps.log(unsaved(run, error));
    return { saved: null, stuck: true };
  }
}

/** Removes a run's folder; what could not be saved is moved out of the way instead. */
async function clear(deps: Deps, run: RunRecord, { stuck }: { stuck: boolean }): Promise<void> {
  if (stuck) deps.log(`it was moved to ${await deps.registry.setAside(run)}`);
  await deps.registry.release(run);
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
