import type { RunRef, SavedWork } from '../domain/run.ts';
import type { Deps } from './context.ts';

/**
 * Saves what a run has made so far: its tree, its commits and its coder's session, on `rescueRef` in the vault, and on
 * `wipRef` at the repository's remote where that takes it. Works beside a live agent as well. Null: nothing changed.
 */
export async function saveWork(_deps: Deps, _ref: RunRef): Promise<SavedWork | null> {
  return null;
}
