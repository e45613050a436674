import { matches } from '../../adapters/glob.ts';
import type { Policy } from '../../domain/repository/repo-policy.ts';
import { fold } from '../../domain/evidence/path-collisions.ts';
import type { Change } from '../../ports.ts';

/** Whether a path is protected: also one that is the same on a file system that folds. */
export function protecting({ protect }: Pick<Policy, 'protect'>): (path: string) => boolean {
  const exact = matches(protect);
  const twin = matches(protect.map(fold));
  return (path) => exact(path) || twin(fold(path));
}

/** The changes below what is protected: violations, and new files, which bind nothing that the base has. */
export function protectedChanges(
  policy: Pick<Policy, 'protect' | 'newProtected'>,
  changes: readonly Change[],
): { refused: string[]; fresh: string[] } {
  const isProtected = protecting(policy);
  const below = changes.filter(({ path }) => isProtected(path));
  const isFresh = ({ kind }: Change) => kind === 'added' && policy.newProtected !== 'refuse';
  const paths = (some: readonly Change[]) => some.map(({ path }) => path);
  return { refused: paths(below.filter((one) => !isFresh(one))), fresh: paths(below.filter(isFresh)) };
}
