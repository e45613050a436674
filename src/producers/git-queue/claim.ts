import { failpoint } from '../../adapters/failpoint.ts';
import type { Admitted, Fleet } from '../../client.ts';
import { mapBounded } from '../../client/connection.ts';
import { hasCode, isBadUse } from '../../domain/error.ts';
import {
  inputOf,
  isForFleet,
  isOpen,
  writeClaim,
  type InputOptions,
  type QueueTask,
} from '../../domain/produce/git-queue.ts';
import { isOwn, nextId, type Claimant } from './own.ts';
import { bring, type Change, type GitQueue, type Seen, type Snapshot } from './queue.ts';

export interface Claiming extends Pick<InputOptions, 'repo' | 'approval'> {
  fleet: Fleet;
  claimant: Claimant;
  /** What was refused lately, by the content of the file: not looked at again in each round. */
  refused: Map<string, { message: string; untilMs: number }>;
}

export interface Problem {
  path: string;
  message: string;
}

export interface Claimed {
  id: string;
  task: string;
}

/** What could be claimed: the task as the fleet would run it. */
interface Ready {
  seen: Seen;
  admitted: Admitted;
}

const WIDTH = 4;
const REFUSED_MS = 5 * 60_000;

/**
 * Claims at most `room` open tasks, and starts those whose claim has reached the remote. What the fleet could not run is
 * not claimed. `lost`: somebody else was first.
 */
export async function claimTasks(
  queue: GitQueue,
  snapshot: Snapshot,
  claiming: Claiming & { room: number },
): Promise<{ claimed: Claimed[]; problems: Problem[]; lost: number }> {
  const { fleet, claimant } = claiming;
  const { ready, problems } = await chooseTasks(snapshot, claiming);
  const at = new Date().toISOString();
  const changes = ready.map((one) => claimOf(claimant, one, at));
  const { outcomes } = await bring(queue, snapshot, { changes, verb: `For ${claimant.name}: claim` });
  const won = ready.filter((_, index) => outcomes[index]);
  if (won.length) failpoint('sync.claim-pushed');
  await fleet.startAdmitted(won.map(({ admitted }) => admitted));
  if (won.length) failpoint('sync.enqueued');
  const claimed = won.map(({ seen, admitted }) => ({ id: seen.task.id, task: admitted.id }));
  return { claimed, problems, lost: ready.length - won.length };
}

/** The most urgent first, then the oldest. */
async function chooseTasks(
  { tasks }: Snapshot,
  claiming: Claiming & { room: number },
): Promise<{ ready: Ready[]; problems: Problem[] }> {
  const { room, claimant, refused } = claiming;
  const open = [...tasks.values()]
    .filter(({ task }) => isOpen(task) && isForFleet(task, claimant.name))
    .map((seen) => ({ seen, priority: priorityOf(seen.task) }))
    .sort(byUrgency)
    .map(({ seen }) => seen);
  const ready: Ready[] = [];
  const problems: Problem[] = [];
  for (let next = 0; ready.length < room && next < open.length;) {
    const some = open.slice(next, next + room - ready.length);
    next += some.length;
    for (const one of await mapBounded(some, WIDTH, (seen) => examine(claiming, seen))) {
      if ('admitted' in one) ready.push(one);
      else problems.push(one);
    }
  }
  for (const [blob, { untilMs }] of refused) if (untilMs < Date.now()) refused.delete(blob);
  return { ready, problems };
}

async function examine(claiming: Claiming, seen: Seen): Promise<Ready | Problem> {
  const { fleet, claimant, refused } = claiming;
  const key = `${seen.path} ${seen.id}`;
  const before = refused.get(key);
  if (before && before.untilMs > Date.now()) return { path: seen.path, message: before.message };
  const id = await nextId(fleet, claimant, seen.task);
  if ('running' in id) {
    const message = `was opened again while the fleet still has it as ${id.running}: see fleet task ${id.running}`;
    return { path: seen.path, message };
  }
  const admitted = await admit(claiming, { task: seen.task, id: id.id });
  if (!('message' in admitted)) return { seen, admitted };
  refused.set(key, { message: admitted.message, untilMs: Date.now() + REFUSED_MS });
  return { path: seen.path, message: admitted.message };
}

/** Everything that can be known to be wrong, before it is claimed. */
export async function admit(
  { fleet, claimant, repo, approval }: Claiming,
  { task, id }: { task: QueueTask; id: string },
): Promise<Admitted | { message: string }> {
  const asked = inputOf(task, { queue: claimant.queue, repo, approval });
  if (!asked.ok) return { message: asked.message };
  try {
    const [admitted] = await fleet.admit([{ input: asked.input }]);
    return { ...admitted!, id };
  } catch (error) {
    // A repository that is away holds up its own task alone.
    if (isBadUse(error) || hasCode(error, 'unavailable')) return { message: error.message };
    throw error;
  }
}

/** True: the claim is there, and ours. */
function claimOf(claimant: Claimant, { seen, admitted }: Ready, at: string): Change<boolean> {
  return {
    path: seen.path,
    id: seen.task.id,
    make(now) {
      const ours = now && isOwn(claimant, now.task) && now.task.fleetTask === admitted.id;
      if (ours) return { text: null, outcome: true };
      // Any change of it is looked at anew in the next round.
      if (!now || now.id !== seen.id) return { text: null, outcome: false };
      return {
        text: writeClaim(now.task, { name: claimant.name, at, fleetTask: admitted.id }),
        outcome: true,
      };
    },
  };
}

type Urgency = { seen: Seen; priority: number };
function byUrgency(a: Urgency, b: Urgency): number {
  const oldest = compare(a.seen.task.createdAt, b.seen.task.createdAt);
  return a.priority - b.priority || oldest || compare(a.seen.path, b.seen.path);
}

const priorityOf = ({ task }: QueueTask): number => (typeof task['priority'] === 'number' ? task['priority'] : 50);
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
