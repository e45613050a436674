import type { Task } from './schema.ts';

/** What a rule may ask of a task. */
export interface TaskFacts extends Pick<Task, 'type' | 'labels' | 'queue' | 'priority'> {
  /** Characters of its objective. */
  size: number;
  repo: string | null;
  attempt: number;
  /** Variables that it asks for; missing: none. */
  env?: string[];
  /** Missing: triage has not been asked. */
  class?: string;
}

export const factsOf = (task: Task, attempt: number): TaskFacts => ({
  type: task.type,
  labels: task.labels,
  queue: task.queue,
  priority: task.priority,
  size: task.objective.length,
  repo: task.repo ?? null,
  attempt,
  ...(task.env.length > 0 ? { env: task.env } : {}),
});
