import type { ExitRecord } from '../../domain/run/outcome.ts';
import type { Failure } from '../../domain/agent/failure.ts';
import { unlessLost, type Deps } from '../worker/context.ts';

/** Holds the worker while something of a run lives that SIGKILL did not end, and lets it go on once nothing does. */
export async function holdWhileUnkillable({ keeper, holds }: Pick<Deps, 'keeper' | 'holds'>): Promise<void> {
  const runs = ((await keeper.list().catch(unlessLost)) ?? []).filter(({ unkillable }) => unkillable !== undefined);
  const sentences = runs.map(
    ({ taskId, runId, unkillable = [] }) =>
      `${who(unkillable)} of run ${runId} of ${taskId} cannot be killed: see in /proc/<pid>/stack what holds it ` +
      `(a hung mount, a frozen control group), end that or restart the machine`,
  );
  holds.set('unclean', sentences.join('; ') || null);
}

const who = (pids: readonly number[]): string =>
  pids.length === 0 ? 'something' : `process ${pids.slice(0, 5).join(', ')}${pids.length > 5 ? ', …' : ''}`;

/** What the run's end means where something of it still lives: its tree is no evidence yet. */
export const unclean = (exit: ExitRecord): Failure => ({
  reason: 'unclean-kill',
  message: `a process of the run was still alive 15 s after SIGKILL${exit.stopped ? ` (${exit.stopped})` : ''}`,
});
