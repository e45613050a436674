import { toMs } from '../values/duration.ts';
import { needsFiles } from '../artifact/artifact.ts';
import type { Task, TaskType } from './schema.ts';

export const needsRepo = (type: TaskType): boolean => type === 'code' || type === 'review';

/** What fields of a task, each right by itself, cannot mean together: one sentence that begins with a field. */
export function taskFault(task: Task): string | undefined {
  const { repo, type, verify, artifacts, limits } = task;
  if (!repo && needsRepo(type)) return `repo is required for a task of type ${type}`;
  if (!repo && task.cwd !== undefined) return 'cwd must not be set without a repo: it is a folder of one';
  if (!repo && task.continueFrom !== undefined)
    return 'continueFrom must not be set without a repo: it is a commit of one';
  if (!repo && verify?.where === 'other')
    return 'verify.where must be here for a task without a repo: another worker could not fetch it';
  const files = repo ? undefined : needsFiles(artifacts);
  if (files) return files;
  const idle = idleFault(limits);
  if (idle) return `limits ${idle}`;
  if (task.for === undefined) return undefined;
  const elsewhere = 'of a task that is for an agent outside the fleet';
  if (task.coder !== undefined) return `coder must not be set ${elsewhere}: no worker starts one`;
  if (task.continueFrom !== undefined) return `continueFrom must not be set ${elsewhere}: it begins where it likes`;
  if (!repo && verify) return `verify must not be set ${elsewhere} without a repo: there is nothing to try it on`;
  if (!repo && artifacts.length > 0)
    return `artifacts must be empty ${elsewhere} without a repo: nobody sees its files`;
  return undefined;
}

/** The rule that these limits break, as what follows their name: an agent would be out of time before it is taken for idle. */
export const idleFault = (
  { total, idle }: { total?: string | undefined; idle?: string | undefined },
  { totalOf = '', idleOf = '' } = {},
): string | undefined =>
  total !== undefined && idle !== undefined && toMs(total) <= toMs(idle)
    ? `must have total above idle: ${total}${totalOf} is not more than ${idle}${idleOf}`
    : undefined;
