import type { Fleet, TaskReport } from '../../client.ts';
import { hasCode } from '../../domain/error.ts';
import { isClaimed, type QueueTask } from '../../domain/produce/git-queue.ts';
import { digest } from './queue.ts';

/** Who a fleet is to a queue: its name, and the one database that has its tasks. */
export interface Claimant {
  name: string;
  /** The server's id. */
  serverId: string;
  /** The queue's key. */
  queue: string;
}

const SLUG_MAX = 48;

/**
 * The id of the first run of a queue's task in a fleet: the same for every process of the fleet, and on another server, or
 * for another queue, another one. So a claim that is read from the queue says by its id whose it is.
 */
export function firstId({ serverId, queue }: Claimant, id: string): string {
  const slug = id.slice(0, SLUG_MAX).replace(/[._-]+$/, '');
  return `${slug}-${digest([serverId, queue, id].join('\n'), 8)}`;
}

/** Which time it is that the fleet has this task, from 1; undefined where it is none of the fleet's ids. */
export function turnOf(claimant: Claimant, { id, fleetTask }: Pick<QueueTask, 'id' | 'fleetTask'>): number | undefined {
  const first = firstId(claimant, id);
  if (fleetTask === first) return 1;
  const turn = fleetTask?.startsWith(`${first}-`) ? fleetTask.slice(first.length + 1) : '';
  return /^[1-9]\d{0,3}$/.test(turn) ? Number(turn) : undefined;
}

/** A claim that this fleet made, by any of its processes. */
export const isOwn = (claimant: Claimant, task: QueueTask): task is QueueTask & { fleetTask: string } =>
  isClaimed(task) && task.claimedBy === claimant.name && turnOf(claimant, task) !== undefined;

export async function viewIfThere(fleet: Fleet, id: string): Promise<TaskReport | undefined> {
  try {
    return await fleet.view(id);
  } catch (error) {
    if (hasCode(error, 'not-found')) return undefined;
    throw error;
  }
}

const MOST_TURNS = 50;

/**
 * The id for a claim: the first that the fleet never had. `running`: somebody opened the task again while the fleet still
 * has it.
 */
export async function nextId(
  fleet: Fleet,
  claimant: Claimant,
  task: QueueTask,
): Promise<{ id: string } | { running: string }> {
  const first = firstId(claimant, task.id);
  for (let turn = turnOf(claimant, task) ?? 1; turn <= MOST_TURNS; turn += 1) {
    const id = turn === 1 ? first : `${first}-${turn}`;
    const report = await viewIfThere(fleet, id);
    if (!report) return { id };
    if (!report.endedAt) return { running: id };
  }
  return { running: `${first}-${MOST_TURNS}` };
}
