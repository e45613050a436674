import {
  patched,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { OutsideCalls } from '../../activities/services/external-calls.ts';
import { callsQueue } from '../../domain/names.ts';

type Limits = Pick<ActivityOptions, 'summary' | 'startToCloseTimeout' | 'scheduleToCloseTimeout' | 'retry'>;

/** Histories of version 0.1 have these as local activities, which take a worker's time for other tasks. */
export const callsApart = (): boolean => patched('calls-apart');

/** What waits for an answer from outside of the fleet: done by any worker of the queue, beside all else. */
export function outsideCalls(limits: Limits & Pick<ActivityOptions, 'heartbeatTimeout'>): OutsideCalls {
  const { heartbeatTimeout: _, ...local } = limits;
  if (!callsApart()) return proxyLocalActivities<OutsideCalls>(local as Limits);
  return proxyActivities<OutsideCalls>({ ...limits, taskQueue: callsQueue(workflowInfo().taskQueue) });
}
