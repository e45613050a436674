import { ApplicationFailure, CancellationScope, condition, setHandler } from '@temporalio/workflow';
import type { Failure, Reason } from '../../domain/agent/failure.ts';
import type { TaskView } from '../../domain/view/task-view.ts';
import type { Task } from '../../domain/task/schema.ts';
import { alert } from '../state/alert.ts';
import { Approvals } from '../people/approval.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { cleanUpTask } from './clean-up.ts';
import { noteGone, noteLate, settleLate } from './late-result.ts';
import {
  acceptUpdate,
  giveUpUpdate,
  lateResultSignal,
  retryUpdate,
  savedGoneSignal,
  viewQuery,
  type ParkedWord,
} from '../messages.ts';
import { listenToOthers } from '../people/task-messages.ts';
import { Questions } from '../people/question.ts';
import { deliverKept, followBranch } from '../deliver/post-verdict.ts';

export interface Person {
  approvals: Approvals;
  questions: Questions;
  /** What a person last decided about the parked task; taken once. */
  take(): NonNullable<TaskView['decision']> | undefined;
  waiting(): boolean;
}

/** Held for a person. `delivered`: it is done by `accept`, or a late result; `kept`: of that, more is to be done; else run again. */
export async function park(
  task: Task,
  record: TaskRecord,
  { decision, person }: { decision: { reason: Reason; message: string }; person: Person },
): Promise<'delivered' | 'kept' | 'again'> {
  let held = decision;
  for (;;) {
    record.enter('parked', held);
    const alerting = new CancellationScope();
    void alerting.run(() => alert(record.view));
    await condition(() => person.waiting() || record.candidate !== undefined);
    alerting.cancel();
    const late = await settleLate(task, record);
    if (late === 'delivered' || late === 'kept') {
      // What was said was said to what is over.
      person.take();
      return late;
    }
    if (late) held = late;
    const said = person.take();
    if (!said) continue;
    record.view.decision = said;
    if (said.action === 'give-up') {
      record.enter('failed', { reason: held.reason, message: `given up: ${said.why || held.message}` });
      await cleanUpTask(record, 'failed');
      throw ApplicationFailure.create({
        message: `${held.reason}: ${held.message}`,
        type: 'TaskFailed',
        nonRetryable: true,
        details: [record.view],
      });
    }
    if (said.action === 'retry') {
      record.resetAttempts();
      record.dependencies.lookAgain();
      record.queueAgain({ reason: held.reason, message: held.message }, 0);
      return 'again';
    }
    const failure = await deliverRescued(task, record);
    if (!failure) return 'delivered';
    held = failure;
  }
}

/** Delivers what a rejected run left, on a person's word: that stands for an approval as well. */
async function deliverRescued(task: Task, record: TaskRecord): Promise<Failure | undefined> {
  const run = record.rescued;
  if (!run?.commit) return { reason: 'repo-unavailable', message: 'no run of this task left a result to accept' };
  return (await deliverKept(task, record, { run, wait: false })) ?? followBranch(task, record);
}

export function listenToPeople(record: TaskRecord): Person {
  let decided: TaskView['decision'] = null;
  const onlyParked = (_said: ParkedWord): void => {
    if (record.view.state !== 'parked') throw refused(`the task is ${record.view.state}, not parked`, 'NotParked');
    if (decided) throw refused(`${decided.by ?? 'somebody'} said ${decided.action} a moment ago`, 'NotParked');
  };
  const say = (action: NonNullable<TaskView['decision']>['action'], { why, by }: ParkedWord): void => {
    decided = { action, why, ...(by === undefined ? {} : { by }) };
  };
  setHandler(viewQuery, () => record.view);
  setHandler(lateResultSignal, (late) => noteLate(record.view, late));
  setHandler(savedGoneSignal, (gone) => {
    noteGone(record.view, gone);
    record.say(record.view.message);
  });
  setHandler(retryUpdate, (said) => say('retry', said), { validator: onlyParked });
  setHandler(giveUpUpdate, (said) => say('give-up', said), { validator: onlyParked });
  setHandler(acceptUpdate, (said) => say('accept', said), {
    validator: (said: ParkedWord) => {
      onlyParked(said);
      if (!record.rescued) throw refused('no run of this task left a result to accept', 'NothingToAccept');
    },
  });
  listenToOthers(record);
  return {
    approvals: new Approvals(record),
    questions: new Questions(record),
    waiting: () => decided !== null,
    take: () => {
      const said = decided ?? undefined;
      decided = null;
      return said;
    },
  };
}

const refused = (message: string, type: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, type);
