import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import type { TaskState } from '../../domain/task/state.ts';
import type { TaskRecord } from '../state/task-record.ts';
import {
  dependantSignal,
  dependencySignal,
  needsUpdate,
  noteSignal,
  nudgeSignal,
  priorityUpdate,
} from '../messages.ts';

/** Between runs: what is changed then counts for the next one. */
const BETWEEN: readonly TaskState[] = [
  'blocked',
  'queued',
  'awaiting-approval',
  'awaiting-quota',
  'awaiting-answer',
  'parked',
];
const MOST_NOTES = 20;
const MOST_NEEDS = 100;

/** What other tasks say, and what people change about the queue. */
export function listenToOthers(record: TaskRecord): void {
  const { dependencies, dependants, view } = record;
  setHandler(dependantSignal, ({ id }) => dependants.add(id));
  setHandler(dependencySignal, (said) => dependencies.hear(said));
  setHandler(nudgeSignal, () => {
    dependencies.lookAgain();
    record.place.moved = true;
  });
  setHandler(noteSignal, ({ from, text }) => {
    if (record.notes.length < MOST_NOTES) record.notes.push(`task ${from}: ${text}`);
  });
  setHandler(priorityUpdate, ({ priority }) => record.prioritised(priority), {
    validator: ({ priority }: { priority: number }) => {
      if (!Number.isInteger(priority) || priority < 0 || priority > 100)
        throw refused(`priority must be a whole number from 0 to 100, not ${priority}`);
    },
  });
  setHandler(needsUpdate, (change) => record.needs(change), {
    validator: ({ add, drop }: { add: string[]; drop: string[] }) => {
      if (!BETWEEN.includes(view.state))
        throw refused(`the task is ${view.state}: what it needs can be changed between runs`);
      const unknown = drop.find((id) => !dependencies.list.some((known) => known.id === id));
      if (unknown) throw refused(`it does not depend on ${unknown}`);
      if (add.includes(view.id)) throw refused('a task cannot depend on itself');
      if (dependencies.list.length + add.length - drop.length > MOST_NEEDS)
        throw refused(`a task may depend on ${MOST_NEEDS} others at most`);
    },
  });
}

const refused = (message: string): ApplicationFailure => ApplicationFailure.nonRetryable(message, 'Refused');
