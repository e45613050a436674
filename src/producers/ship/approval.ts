import { wrongInput } from '../../domain/error.ts';

/** Which approval of a file a person has given: 1 is the first; 0: none. */
export type Approval = number;

const MUST = 'approved must be true, false, or the number of the approval (2 for the second)';

/**
 * @param said the file's own `approved`; undefined where it has none
 * @param folders those that it lies in: one called `approved` approves what says nothing else
 * @throws FleetError (2)
 */
export function approvalOf({ said, folders }: { said: unknown; folders: readonly string[] }): Approval {
  if (said === undefined) return folders.some((name) => name.toLowerCase() === 'approved') ? 1 : 0;
  if (typeof said === 'boolean') return said ? 1 : 0;
  if (typeof said === 'number' && Number.isInteger(said) && said >= 0 && said <= 1_000_000) return said;
  throw wrongInput(MUST);
}

/** Whether the head of a file that cannot be read as a task means to approve it. */
export const seemsApproved = (head: string): boolean => /^approved[ \t]*:[ \t]*(?!false|0\b|no\b)\S/im.test(head);
