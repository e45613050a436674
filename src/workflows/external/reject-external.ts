import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import type { Submission, LeaseRequest } from '../../domain/people/external-agent.ts';
import type { TaskRecord } from '../state/task-record.ts';
import { askUpdate, completeUpdate, failUpdate, holdUpdate } from '../messages.ts';

/** Refuses external agents on a task that workers claim. */
export function refuseOutside({ view }: TaskRecord): void {
  const refuse = (): void => {
    throw refused('it is for no agent outside the fleet: workers claim it');
  };
  setHandler(holdUpdate, () => view, { validator: (_said: LeaseRequest) => refuse() });
  setHandler(completeUpdate, () => undefined, { validator: (_said: Submission) => refuse() });
  setHandler(failUpdate, () => undefined, { validator: (_said: { as: string; why: string }) => refuse() });
  setHandler(askUpdate, () => ({ question: '' }), { validator: (_said) => refuse() });
}

export const refused = (message: string, type = 'NotHeld'): ApplicationFailure =>
  ApplicationFailure.nonRetryable(message, type);
