import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { ScheduleServices } from '../../activities/services/schedule-services.ts';
import type { PatrolMemory, PatrolRound } from '../../domain/produce/patrol.ts';

/** One round, started by its schedule, which starts no other meanwhile. What it found is told to the next: an alert goes out once. */
export async function patrol(): Promise<PatrolRound> {
  const { patrol: look } = proxyLocalActivities<ScheduleServices>({
    startToCloseTimeout: '5m',
    retry: { maximumAttempts: 3, maximumInterval: '30s' },
    localRetryThreshold: '10s',
  });
  return look((workflowInfo().lastResult as PatrolMemory | undefined) ?? null);
}
