export { agentTask } from './agent-task.ts';
export { askWorker } from './ask-worker.ts';
export { fleetCredential } from './fleet-credential.ts';
export { fleetWorker } from './fleet-worker.ts';
