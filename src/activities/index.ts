import { sendAlert, type Alert } from './services/send-alert.ts';
import { readLog } from './services/read-log.ts';
import { workerHeartbeat } from './worker/worker-heartbeat.ts';
import { fetchExternalCommit, type OutsideInput } from './prepare/fetch-external-commit.ts';
import { findRun, registerRun } from './claim/register-run.ts';
import { releaseRun, type ReleaseInput } from './release/release-run.ts';
import type { ClaimInput } from '../domain/run/claim.ts';
import type { Deps } from './worker/context.ts';
import { deliver, deliverRescued, keepAccepted, type DeliverInput } from './deliver/deliver.ts';
import { findSecondWorker, type SecondInput } from './verify/find-second-worker.ts';
import { cleanUpTask, type ForgetInput } from './save/clean-up-task.ts';
import { gateTask, type GateInput } from './verify/gate-task.ts';
import { offerResult } from './verify/offer-result.ts';
import { holdSeats } from './credentials/hold-seats.ts';
import { launchAgent, type LaunchInput } from './launch/launch-agent.ts';
import { mergeBatch } from './deliver/merge-batch.ts';
import { createWorktree, type WorktreeInput } from './prepare/create-worktree.ts';
import { replayResult } from './verify/replay-result.ts';
import { compareReplay, type SettleInput } from './verify/compare-replay.ts';
import { triageTask, type TriageInput } from './claim/triage-task.ts';
import { withdrawResult } from './deliver/withdraw-result.ts';
import { verifyReceipts } from './verify/verify-receipts.ts';
import { beforeAgent, onSoundMachine } from './worker/blame.ts';
import type { MergeInput } from '../domain/deliver/merge.ts';
import type { Question } from '../domain/people/question.ts';
import type { ReplayInput } from '../domain/worker/second-verdict.ts';
import type { RunRef } from '../domain/view/task-view.ts';

/** Nothing that an activity answers, and a history keeps, has a secret in it. */
function masked<T extends Record<string, (input: never) => Promise<unknown>>>({ secrets }: Deps, activities: T): T {
  const mask = (act: (input: never) => Promise<unknown>) => async (input: never) =>
    secrets.redaction.deep(await act(input));
  return Object.fromEntries(Object.entries(activities).map(([name, act]) => [name, mask(act)])) as T;
}

/** The activities of one worker. Expected outcomes are values; an exception means broken infrastructure. */
export function createActivities(deps: Deps) {
  const using = <T>(ref: RunRef, work: () => Promise<T>) => deps.registry.using(ref, work);
  const step = <T>(work: () => Promise<T>) => onSoundMachine(deps, work);
  /** A step that another worker can have instead. */
  const movable = <T>(ref: RunRef, work: () => Promise<T>) => onSoundMachine(deps, work, deps.registry.find(ref));
  return masked(deps, {
    registerRun: (order: ClaimInput) => registerRun(deps, order),
    triageTask: (order: TriageInput) => triageTask(deps, order),
    createWorktree: async (order: WorktreeInput) => {
      await deps.tally.tookIn(order);
      return movable(order, () => beforeAgent(deps, order, () => createWorktree(deps, order)));
    },
    gateTask: (order: GateInput) => step(() => gateTask(deps, order)),
    launchAgent: (order: LaunchInput) => using(order, () => movable(order, () => launchAgent(deps, order))),
    fetchExternalCommit: (order: OutsideInput) => movable(order, () => fetchExternalCommit(deps, order)),
    verifyReceipts: (ref: RunRef) => step(() => verifyReceipts(deps, ref)),
    findSecondWorker: (order: SecondInput) => step(() => findSecondWorker(deps, order)),
    offerResult: (ref: RunRef) => step(() => offerResult(deps, ref)),
    replayResult: (order: ReplayInput) => step(() => replayResult(deps, order)),
    compareReplay: (order: SettleInput) => step(() => compareReplay(deps, order)),
    mergeBatch: (order: MergeInput) => step(() => mergeBatch(deps, order)),
    keepAccepted: (ref: RunRef) => step(() => keepAccepted(deps, ref)),
    deliver: (order: DeliverInput) => step(() => deliver(deps, order)),
    releaseRun: (order: ReleaseInput) => using(order, () => releaseRun(deps, order)),
    findRun: (ref: RunRef) => findRun(deps, ref),
    deliverRescued: (order: RunRef & { replaces?: string }) => deliverRescued(deps, order),
    workerHeartbeat: (whose: { since: string }) => workerHeartbeat(deps, whose),
    holdSeats: (whose: { credential: string; since: string }) => holdSeats(deps, whose),
    cleanUpTask: (order: ForgetInput) => cleanUpTask(deps, order),
    withdrawResult: (order: { taskId: string; commit: string }) => withdrawResult(deps, order),
    sendAlert: (alert: Alert) => sendAlert(deps, alert),
    readLog: (question: Question) => readLog(deps, question),
  });
}

export type Activities = ReturnType<typeof createActivities>;
