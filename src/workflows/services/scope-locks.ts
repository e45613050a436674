import {
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { TaskServices } from '../../activities/services/task-services.ts';
import { isClosed } from '../../domain/scheduling/dependencies.ts';
import { asked, granted, left, news, type ScopeAnswer, type ScopeLocks } from '../../domain/scheduling/scope-locks.ts';
import { askScopeSignal, grantedSignal, leaveScopeSignal, locksQuery } from '../messages.ts';

/** Without anybody in it. */
const IDLE = '1m';
/** A task that was terminated does not say that it leaves: looked for only while somebody waits. */
const LOOK = '30s';
const LONG_HISTORY = 2_000;
/** At a time: all that a workflow task asks for goes to the server in one message. */
const MOST_TOLD = 100;

/** Who of one repository's tasks may run, of those that serialise by their scopes: see `domain/scheduling/scope-locks.ts`. */
export async function scopeLocks(kept: ScopeLocks): Promise<void> {
  let locks = kept;
  let changed = true;
  const change = (to: ScopeLocks) => {
    locks = to;
    changed = true;
  };
  setHandler(askScopeSignal, (ask) => change(asked(locks, ask)));
  setHandler(leaveScopeSignal, (who) => change(left(locks, [who])));
  setHandler(locksQuery, () => locks);

  for (;;) {
    changed = false;
    const told = news(granted(locks), MOST_TOLD);
    locks = told.locks;
    const gone = (await Promise.all(told.tell.map(tell))).flat();
    if (gone.length > 0) change(left(locks, gone));
    if (workflowInfo().historyLength > LONG_HISTORY) await continueAsNew<typeof scopeLocks>(locks);
    if (changed || told.tell.length === MOST_TOLD) continue;
    const woken = () => changed;
    if (locks.holders.length === 0 && locks.waiting.length === 0) {
      if (!(await condition(woken, IDLE))) return;
    } else if (locks.waiting.length === 0) await condition(woken);
    else if (!(await condition(woken, LOOK))) await forgetClosed();
  }

  async function forgetClosed(): Promise<void> {
    const { lookUpTasks } = proxyLocalActivities<TaskServices>({ startToCloseTimeout: '1m' });
    const found = await lookUpTasks(locks.holders.map(({ taskId }) => taskId));
    const closed = new Set(found.flatMap(({ id, state }) => (isClosed(state) ? id : [])));
    const gone = locks.holders.filter(({ taskId }) => closed.has(taskId));
    if (gone.length > 0) change(left(locks, gone));
  }
}

/** Gives who is not there any more. */
async function tell({
  taskId,
  ...said
}: ScopeAnswer & { taskId: string }): Promise<{ taskId: string; ticket: number }[]> {
  try {
    await getExternalWorkflowHandle(taskId).signal(grantedSignal, said);
    return [];
  } catch {
    return [{ taskId, ticket: said.ticket }];
  }
}
