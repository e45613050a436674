import type { Judgement, ReceiptKind } from './receipt.ts';
import { isChecked } from '../artifact/artifact.ts';
import type { Policy } from '../repository/repo-policy.ts';
import type { Task } from '../task/schema.ts';

/**
 * What makes a task done: the receipts that have to show it, or a person's yes. All of them have to; only `tools` and `person` in
 * the end of a list are one or the other: a person is asked where no tool call was seen that could have done it.
 */
export type DoneBy =
  | Extract<ReceiptKind, 'git' | 'acceptance' | 'held-out' | 'artifacts' | 'review' | 'tools'>
  | 'person';

/**
 * What a task will be done by. `seen`: whether its agent's tool calls can be seen on the way to its model, as far as that is known;
 * no worker starts the agent of a task that is for one outside the fleet.
 */
export function doneByOf(
  task: Pick<Task, 'type' | 'approval' | 'for'>,
  policy: Pick<Policy, 'verify' | 'artifacts' | 'review'> & { checks: Pick<Policy['checks'], 'heldOut'> },
  { seen = task.for === undefined }: { seen?: boolean } = {},
): DoneBy[] {
  const asked = task.approval === 'before-deliver' || task.approval === 'both';
  const shown = [
    task.type === 'code' && 'git',
    policy.verify.length > 0 && 'acceptance',
    policy.checks.heldOut.length > 0 && 'held-out',
    policy.artifacts.some(isChecked) && 'artifacts',
    policy.review !== null && 'review',
  ].filter((kind) => kind !== false) as DoneBy[];
  if (shown.length > 0) return asked ? [...shown, 'person'] : shown;
  return seen && !asked ? ['tools', 'person'] : ['person'];
}

/** As far as the task itself says: its repository may ask for more. */
export function doneByTask(task: Task): DoneBy[] {
  const { commands: verify = [], heldOut = [] } = task.verify ?? {};
  return doneByOf(task, { verify, checks: { heldOut }, artifacts: task.artifacts, review: task.review ?? null });
}

const PHRASES: Record<DoneBy, string> = {
  git: 'files were changed within its scope',
  acceptance: 'its verify commands pass',
  'held-out': 'its held-out checks pass',
  artifacts: 'its artifacts pass their checks',
  review: 'its reviewer has no objection',
  tools: 'its model is seen to make a tool call that could have done it',
  person: 'a person says yes',
};

/** `done when files were changed within its scope and its verify commands pass` */
export function doneWhen(doneBy: readonly DoneBy[]): string {
  const phrases = doneBy.map((kind) => PHRASES[kind]);
  if (doneBy.includes('tools')) return `done when ${phrases.join(', or else when ')}`;
  const last = phrases.at(-1)!;
  const all = phrases.length > 1 ? `${phrases.slice(0, -1).join(', ')} and ${last}` : last;
  return `done when ${all}`;
}

/** Whether nothing that the task names could show that it is done. */
export const needsPerson = (doneBy: readonly DoneBy[]): boolean =>
  doneBy.every((kind) => kind === 'person' || kind === 'tools');

const SHOWN: Partial<Record<ReceiptKind, string>> = {
  'held-out': 'held-out checks',
  artifacts: 'checked artifacts',
  review: 'a reviewer',
  tools: 'a tool call that its model made',
};

/** How an accepted result without acceptance commands was shown, to stand in brackets: `by checked artifacts`. */
export function shownBy({ doneBy }: Pick<Judgement, 'doneBy'>): string {
  if (doneBy.length === 0) return "by a person's yes";
  const others = doneBy.flatMap((kind) => SHOWN[kind] ?? []);
  return others.length > 0 ? `by ${others.join(' and ')}` : 'no acceptance command';
}
