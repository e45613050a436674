import { isChecked } from '../artifact/artifact.ts';
import type { Task } from '../task/schema.ts';

type Asking = Pick<Task, 'approval'>;
const ORDER = ['never', 'before-run', 'before-deliver', 'both'] as const;

export const asks = (above: Asking, child: Asking, stage: 'before-run' | 'before-deliver'): boolean =>
  [above, child].some(({ approval }) => approval === stage || approval === 'both');

/** When a person says yes to a follow-up: of both, and before it runs where no rule allows it. */
export function approvalOf(
  above: Asking,
  child: Task,
  { ruled, by }: { ruled: boolean; by: 'agent' | 'person' },
): Task['approval'] {
  const first = asks(above, child, 'before-run') || !ruled;
  // A check that an agent writes for its own follow-up, and that no person has seen, is no evidence of it.
  const unseen = by === 'agent' && ruled && child.type !== 'code' && checksItself(child);
  const last = asks(above, child, 'before-deliver') || unseen;
  return ORDER[(first ? 1 : 0) + (last ? 2 : 0)]!;
}

const checksItself = ({ verify, artifacts }: Task): boolean => verify !== undefined || artifacts.some(isChecked);
