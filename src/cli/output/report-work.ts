import type { TaskReport } from '../../client.ts';
import { rescueRef, wipRef } from '../../domain/names.ts';
import { oneLine } from './text.ts';

/** What each run started from that was not the base, and where its work is that was not delivered. */
export function workLines({ id, state, runs }: TaskReport): string[] {
  const lines = runs.flatMap(({ runId, worker, resumedFrom, saved, savedGone, startedWithout }) => [
    ...(resumedFrom ? [`${runId} resumed from the work of run ${resumedFrom}`] : []),
    ...(startedWithout
      ? [
          oneLine(
            `${runId} started without the saved work of run ${startedWithout}: it was not found on ${worker}`,
            300,
          ),
        ]
      : []),
    ...(savedGone ? [oneLine(`${runId} saved its work, which was removed from ${worker} at ${savedGone}`, 300)] : []),
    ...(saved && !savedGone && state !== 'done'
      ? [
          oneLine(
            `${runId} saved its work at ${saved.at}: ${rescueRef(id, runId)} in the vault of ${worker}${saved.pushed ? `, and ${wipRef(id)} at the remote` : ''}${saved.session ? ', with its session' : ''}`,
            300,
          ),
        ]
      : []),
  ]);
  const open = runs.some(({ saved, savedGone }) => saved && !savedGone) && state !== 'done';
  return open
    ? [...lines, `fleet task ${id} work shows it, makes a branch of it, or continues it as a new task`]
    : lines;
}
