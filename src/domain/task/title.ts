/** In lists: what its owner called a task, or how its objective begins. */
export const titleOf = (task: { title?: string | undefined; objective: string }): string =>
  task.title ?? (task.objective.split('\n', 1)[0] ?? '').slice(0, 80);
