export { agentTask } from './agent-task.ts';
export { askWorker } from './worker/read-worker-log.ts';
export { fleetCredential } from './services/fleet-credential.ts';
export { fleetWorker } from './services/fleet-worker.ts';
export { mergeQueue } from './services/merge-queue.ts';
export { patrol } from './services/patrol.ts';
export { scheduledTask } from './services/scheduled-task.ts';
export { scopeLocks } from './services/scope-locks.ts';
