export { agentTask } from './agent-task.ts';
export { askWorker } from './ask-worker.ts';
export { fleetCredential } from './fleet-credential.ts';
export { fleetWorker } from './fleet-worker.ts';
export { mergeQueue } from './merge-queue.ts';
export { patrol } from './patrol.ts';
export { scheduledTask } from './scheduled-task.ts';
export { scopeLocks } from './scope-locks.ts';
