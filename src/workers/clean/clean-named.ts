import { existsSync } from 'node:fs';
import { folderBytes } from '../../adapters/git/folder-size.ts';
import { isUnderWay, keptOf, removeKept, savedRuns, type KeptTask } from '../../adapters/state/retained-tasks.ts';
import { isNotFound } from '../../client/connection.ts';
import { FleetError, wrongInput, notFound, wrongState } from '../../domain/error.ts';
import { isOpen } from '../../domain/worker/retention.ts';
import { isTaskId } from '../../domain/names.ts';
import type { TaskState } from '../../domain/task/state.ts';
import { savedGoneSignal } from '../../workflows/messages.ts';
import type { Cleaning, CleanItem } from './clean.ts';
import { standingOf } from '../coders/standings.ts';

/** What is kept of a task that somebody named. */
export interface NamedItem extends Omit<CleanItem, 'class'> {
  taskId: string;
  /** Null: the server knows of no such task. */
  state: TaskState | null;
  /** The task may yet need it. */
  open: boolean;
  /** Ids of the runs of which there is saved work. */
  runs: string[];
}

/**
 * What this home keeps of these tasks, whatever its age. An open task is told what it has lost.
 * @throws FleetError where nothing is kept of one, a run of it is under way here, or no server answers
 */
export async function findNamed({ home, server }: Cleaning, ids: readonly string[]): Promise<NamedItem[]> {
  for (const id of ids) {
    if (!isTaskId(id) || !(existsSync(home.task(id).dir) || isUnderWay(home, id)))
      throw notFound(`this machine keeps nothing of a task ${id}`);
    if (isUnderWay(home, id)) throw wrongState(`task ${id} has a run here: fleet task ${id} cancel ends it`);
  }
  if (!server)
    throw new FleetError('unavailable', 'without a Temporal server nobody can tell which of these tasks are open');
  const kept = await keptOf(home, [...new Set(ids)]);
  return Promise.all(
    kept.map(async (task): Promise<NamedItem> => {
      const { taskId, dir, touchedAt, origin } = task;
      if (origin && origin.server !== server.name)
        throw wrongInput(`task ${taskId} is of the server ${origin.server}: set TEMPORAL_ADDRESS to that one`);
      const standing = await standingOf(server.client, taskId);
      const runs = await savedRuns(task);
      const ageMs = Date.now() - touchedAt;
      return {
        ...{ taskId, ageMs, runs, state: standing?.state ?? null, open: isOpen(standing) },
        what: `task ${taskId}${runs.length > 0 ? ' with its saved work' : ''}`,
        bytes: await folderBytes(dir),
        remove: () => removeNamed({ home, server }, { task, runs, ageMs }),
      };
    }),
  );
}

/** The task hears of it first: whatever happens then, it does not count on what may be gone. */
async function removeNamed(
  { home, server }: Pick<Cleaning, 'home'> & { server: NonNullable<Cleaning['server']> },
  { task, runs, ageMs }: { task: KeptTask; runs: string[]; ageMs: number },
): Promise<boolean> {
  const { taskId } = task;
  // A run may have begun here since it was listed.
  if (isUnderWay(home, taskId)) return false;
  const at = new Date().toISOString();
  try {
    if (runs.length > 0) await server.client.workflow.getHandle(taskId).signal(savedGoneSignal, { runIds: runs, at });
  } catch (error) {
    // It is closed.
    if (!isNotFound(error)) throw error;
  }
  return removeKept(home, task, { taskId, class: 'named', at, ageMs });
}
