import { proxyActivities, workflowInfo, type ActivityOptions } from '@temporalio/workflow';
import type { OutsideCalls } from '../../activities/services/external-calls.ts';
import { callsQueue } from '../../domain/names.ts';

type Limits = Pick<ActivityOptions, 'summary' | 'startToCloseTimeout' | 'scheduleToCloseTimeout' | 'retry'>;

/** Calls to services outside of the fleet, by any worker of the task's queue. */
export const outsideCalls = (limits: Limits & Pick<ActivityOptions, 'heartbeatTimeout'>): OutsideCalls =>
  proxyActivities<OutsideCalls>({ ...limits, taskQueue: callsQueue(workflowInfo().taskQueue) });
