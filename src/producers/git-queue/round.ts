import type { Fleet } from '../../client.ts';
import { mapBounded } from '../../client/connection.ts';
import { isClaimed, isForFleet, isOpen } from '../../domain/produce/git-queue.ts';
import { admit, claimTasks, type Claimed, type Claiming, type Problem } from './claim.ts';
import { isOwn, viewIfThere, type Claimant } from './own.ts';
import { lookAt, lookAtTasks, sharedIds, type GitQueue, type Seen, type Snapshot } from './queue.ts';
import { closedAs, waitsForPerson } from './result.ts';
import { settle, type Settled } from './settle.ts';

export interface RoundOptions extends Pick<Claiming, 'fleet' | 'repo' | 'approval' | 'refused'> {
  /** This fleet's name, as `claimed_by` has it. */
  name: string;
  /** How many claims may be under way; default: twice the slots of the attached workers. */
  most?: number | undefined;
}

export interface Round {
  queue: string;
  claimed: Claimed[];
  /** Claims of an earlier round that had not come to be enqueued. */
  mended: Claimed[];
  settled: Settled[];
  problems: Problem[];
  /** After it: of all files that can be read. `left` are open and for this fleet. */
  counts: { open: number; left: number; here: number; elsewhere: number; closed: number };
  /** How many claims may be under way. */
  most: number;
}

/** A claim is not made up for so near to the end of the server's memory: it may have been forgotten. */
const MARGIN_MS = 60 * 60_000;
const WIDTH = 8;
const AGAIN = 5;

/** Once around: what became of our tasks is reported, claims without a task are mended, and open tasks claimed and started. */
export async function goRound(queue: GitQueue, options: RoundOptions): Promise<Round> {
  const { fleet, name } = options;
  const server = await fleet.identify();
  const claimant: Claimant = { name, serverId: server.id, queue: queue.name };
  const claiming: Claiming = { ...options, claimant };
  const problems: Problem[] = [];
  let snapshot = await lookAtTasks(queue);

  // 1. Claims that are ours, and whether the fleet has their tasks.
  const own = [...snapshot.tasks.values()].filter(({ task }) => isOwn(claimant, task));
  const reports = await mapBounded(own, WIDTH, ({ task }) => viewIfThere(fleet, task.fleetTask!));
  const lacking = own.filter((_, index) => !reports[index]);
  const shared = new Map(sharedIds(snapshot.tasks));
  const followed = own.flatMap((seen, index) => (reports[index] ? [{ seen, report: reports[index] }] : []));
  // 2. What became of them.
  const { settled, ...after } = await settle(queue, snapshot, { claimant, followed });
  snapshot = after.snapshot;
  // 3. A crash between claim and enqueueing is made up for, as far as there is room.
  const most = options.most ?? (await roomOf(fleet));
  const running = followed.filter(({ report }) => !closedAs(report) && !waitsForPerson(report)).length;
  const { retentionMs } = server;
  const mended = await mend(claiming, { lacking, shared, problems, retentionMs, room: most - running });
  // 4. New claims, into what room is left.
  const busy = running + mended.length;
  const claimed: Claimed[] = [];
  let refusals: Problem[] = [];
  for (let tries = 0, lost = 1; lost > 0 && tries < AGAIN; tries += 1) {
    const room = most - busy - claimed.length;
    if (room <= 0) break;
    if (tries > 0) snapshot = await lookAt(queue);
    const found = await claimTasks(queue, snapshot, { ...claiming, room });
    claimed.push(...found.claimed);
    ({ lost, problems: refusals } = found);
  }
  problems.push(...refusals, ...snapshot.faults, ...namesakes(snapshot, claimant));
  const counts = countsOf(snapshot, { claimant, claimed, settled });
  return { queue: queue.name, claimed, mended, settled, problems, counts, most };
}

interface Mending {
  lacking: readonly Seen[];
  /** Files whose id another one has too, with that: which of them is the fleet's cannot be known. */
  shared: ReadonlyMap<Seen, string>;
  problems: Problem[];
  retentionMs: number;
  room: number;
}

/** What there is no room for waits for a later round. */
async function mend(claiming: Claiming, mending: Mending): Promise<Claimed[]> {
  const { lacking, problems, room } = mending;
  const mended: Claimed[] = [];
  for (const seen of lacking) {
    const { path, task } = seen;
    const id = task.fleetTask!;
    const message = whyNotMended(seen, mending);
    if (message) {
      problems.push({ path, message });
      continue;
    }
    if (mended.length >= room) continue;
    const admitted = await admit(claiming, { task, id });
    if ('message' in admitted) {
      problems.push({ path, message: `is claimed here, and cannot be enqueued: ${admitted.message}` });
      continue;
    }
    await claiming.fleet.startAdmitted([admitted]);
    mended.push({ id: task.id, task: id });
  }
  return mended;
}

function whyNotMended(seen: Seen, { shared, retentionMs }: Mending): string | undefined {
  const [{ fleetTask, claimedAt }, other] = [seen.task, shared.get(seen)];
  if (other) return `has the id of ${other}: it is claimed here as ${fleetTask}, and not enqueued`;
  const ageMs = Date.now() - Date.parse(claimedAt ?? '');
  if (ageMs < (retentionMs || Infinity) - MARGIN_MS) return undefined;
  return `is claimed here as ${fleetTask}, which the server does not know (any more): set its status to pending to have it done again`;
}

async function roomOf(fleet: Fleet): Promise<number> {
  const workers = await fleet.workers();
  return workers.reduce((sum, { state, slots }) => sum + (state === 'attached' ? 2 * slots : 0), 0);
}

/** Claims under our name that are not ours: what another fleet does is not for us to touch. */
function namesakes({ tasks }: Snapshot, claimant: Claimant): Problem[] {
  return [...tasks.values()]
    .filter(({ task }) => isClaimed(task) && task.claimedBy === claimant.name && !isOwn(claimant, task))
    .map(({ path, task }) => {
      const why = task.fleetTask ? 'for another server, or by another URL of the queue' : 'by hand';
      return { path, message: `is claimed as ${claimant.name} ${why}: it is left alone` };
    });
}

function countsOf(
  { tasks }: Snapshot,
  { claimant, claimed, settled }: { claimant: Claimant; claimed: readonly Claimed[]; settled: readonly Settled[] },
): Round['counts'] {
  const taken = new Set(claimed.map(({ id }) => id));
  const closed = new Set(settled.flatMap(({ id, status }) => (status === 'claimed' ? [] : id)));
  const counts = { open: 0, left: 0, here: 0, elsewhere: 0, closed: 0 };
  for (const { task } of tasks.values()) {
    if (taken.has(task.id)) counts.here += 1;
    else if (closed.has(task.id)) counts.closed += 1;
    else if (isOpen(task)) {
      counts.open += 1;
      if (isForFleet(task, claimant.name)) counts.left += 1;
    } else if (isOwn(claimant, task)) counts.here += 1;
    else if (isClaimed(task)) counts.elsewhere += 1;
    else counts.closed += 1;
  }
  return counts;
}
