import { Worker } from '@temporalio/worker';
import type { WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';

/** A thread that runs the workflows of several SDK workers. */
export interface WorkflowThread {
  Worker: typeof Worker;
  /** To be called when all of them have stopped. */
  end(): Promise<void>;
}

/** The SDK starts a thread for each of its workers: 0.5 s of CPU and 40 MB. `activities`: all that any of them has. */
export function workflowThread(activities: object): WorkflowThread {
  const names = new Map(Object.entries(activities));
  let creator: Promise<WorkflowCreator> | undefined;
  class OneThreadWorker extends Worker {
    static override async createWorkflowCreator(
      ...[bundle, options, logger]: Parameters<typeof Worker.createWorkflowCreator>
    ): Promise<WorkflowCreator> {
      const thread = await (creator ??= super.createWorkflowCreator(bundle, { ...options, activities: names }, logger));
      return { createWorkflow: (workflow) => thread.createWorkflow(workflow), destroy: async () => {} };
    }
  }
  return { Worker: OneThreadWorker, end: async () => (await creator)?.destroy() };
}
