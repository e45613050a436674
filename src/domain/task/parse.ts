import { firstIssue } from '../artifact/first-issue.ts';
import { branch, taskInput, type Task } from './schema.ts';
import { taskFault } from './validation.ts';

export type Parsed = { ok: true; task: Task } | { ok: false; message: string };

/** The first thing wrong, as one sentence that names the field, e.g. `priority must be at most 100`. */
export function parseTask(input: unknown): Parsed {
  const result = taskInput.safeParse(input);
  if (!result.success) return { ok: false, message: firstIssue(result.error) };
  const task = result.data;
  const message = taskFault(task);
  return message === undefined ? { ok: true, task } : { ok: false, message };
}

/** What is wrong with a branch that somebody names for work that nobody accepted, as one sentence; undefined where nothing is. */
export function branchFault(name: string): string | undefined {
  if (/^fleet(\/|$)/.test(name)) return `branch ${name} must not be below fleet/, where accepted results are`;
  const checked = branch.safeParse(name);
  return checked.success
    ? undefined
    : `branch ${JSON.stringify(name)} ${checked.error.issues[0]?.message ?? 'is wrong'}`;
}
