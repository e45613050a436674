import { fnv1a } from '../values/fnv1a.ts';

/** A digest of a task as JSON: the second argument of `agentTask`. Not a signature: who may start workflows may make one. */
export const taskDigest = (task: unknown): string => fnv1a(JSON.stringify(task) ?? '');
