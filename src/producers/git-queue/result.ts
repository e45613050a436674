import { shownBy } from '../../domain/evidence/done-by.ts';
import type { TaskReport } from '../../client.ts';
import { CLOSED, type Closing } from '../../domain/produce/git-queue.ts';

/** What a queue's file is told of the fleet's task. Only the state of the task itself counts: `done` takes a verdict, or a person. */

/** For a person to go on with. */
const WAITS = ['parked', 'awaiting-approval', 'awaiting-answer'];
const SUMMARY_MAX = 2_000;

export const closedAs = ({ state }: TaskReport): Closing['status'] | undefined =>
  CLOSED.find((closed) => closed === state);

export const waitsForPerson = ({ state }: TaskReport): boolean => WAITS.includes(state);

/** What the file of a closed task gets. */
export function resultOf(report: TaskReport): object {
  const { id, state, branch, commit, verdict, attempts, pull } = report;
  return {
    ...{ state, task: id, summary: summaryOf(report) },
    ...(state === 'done' ? { branch, commit } : {}),
    ...(pull ? { pull: pull.url } : {}),
    ...(verdict
      ? {
          verdict: {
            accepted: verdict.accepted,
            acceptance: verdict.acceptance,
            doneBy: verdict.doneBy,
            digest: verdict.digest,
          },
        }
      : {}),
    attempts: attempts.used,
  };
}

/** What the file of a task gets that waits for a person: it stays claimed. */
export function noteOf(report: TaskReport): object {
  const { id, state, reason } = report;
  return { state, task: id, ...(reason ? { reason } : {}), summary: summaryOf(report) };
}

function summaryOf({ state, message, decision, verdict }: TaskReport): string {
  if (state === 'done' && decision?.action === 'accept')
    return `accepted by a person: ${decision.why}`.slice(0, SUMMARY_MAX);
  if (state === 'done' && verdict)
    return verdict.acceptance ? 'accepted on its receipts' : `accepted on its receipts (${shownBy(verdict)})`;
  return (message ?? state).slice(0, SUMMARY_MAX);
}
