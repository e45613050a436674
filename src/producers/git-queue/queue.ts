import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '../../adapters/sha256.ts';
import { isDamaged } from '../../adapters/git/damage.ts';
import { redact } from '../../adapters/git/git.ts';
import type { Identity } from '../../adapters/git/init.ts';
import type { Failed } from '../../adapters/git/failures.ts';
import { lockQueue } from '../../adapters/git/queue/lock.ts';
import { lookAtQueue, type QueuePlace, type Tip } from '../../adapters/git/queue/look.ts';
import { readQueue, type QueueFault, type QueueFile } from '../../adapters/git/queue/read.ts';
import { writeQueue } from '../../adapters/git/queue/write.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import { FleetError, wrongInput, notFound } from '../../domain/error.ts';
import { isOpen, QUEUE_FOLDER, readTask, type QueueTask } from '../../domain/produce/git-queue.ts';
import { repositoryName } from '../../domain/repository/repository-name.ts';
import { homeLayout } from '../../domain/names.ts';

export interface OpenQueue {
  /** A URL or an absolute path. */
  url: string;
  /** FLEET_HOME. */
  home: string;
  branch?: string | undefined;
  folder?: string | undefined;
  /** Who commits. */
  identity: Identity;
}

export interface GitQueue {
  place: QueuePlace;
  /** However its URL is spelled, with the folder where that is another one. */
  name: string;
  identity: Identity;
}

/** The file of one task, as the last look found it. */
export interface Seen extends QueueFile {
  task: QueueTask;
}

export interface Snapshot {
  tip: Tip;
  /** By path; none that is broken, and no open one whose id another file has too. */
  tasks: Map<string, Seen>;
  faults: QueueFault[];
  /** All paths, of broken ones too. */
  paths: Set<string>;
}

/** Works with a queue while no other process of this FLEET_HOME does. @throws FleetError: one sentence */
export async function withQueue<T>(open: OpenQueue, work: (queue: GitQueue) => Promise<T>): Promise<T> {
  const { url, folder = QUEUE_FOLDER, branch } = open;
  if (!/^(?![-/.])(?!.*(^|\/)\.{0,2}(\/|$))[^\p{Cc}"*?[\\:]{1,200}$/u.test(folder))
    throw wrongInput(
      `the folder of a queue must be a relative path such as ${QUEUE_FOLDER}, not ${JSON.stringify(folder)}`,
    );
  if (/^https?:\/\/[^/]*@/i.test(url))
    throw wrongInput('the URL of a queue must not carry a user name or password: use a credential helper');
  const name = repositoryName(url);
  const key = `${name.split('/').at(-1)!.slice(0, 40)}-${digest(url, 10)}`;
  const gitDir = homeLayout(open.home).queueOf(key.replace(/[^\w.-]/g, '-'));
  using lock = await lockQueue(gitDir);
  if (!lock)
    throw new FleetError('conflict', `another command has been working with ${redact(url)} for minutes: try again`);
  return work({
    place: { url, branch, folder, gitDir },
    name: folder === QUEUE_FOLDER ? name : `${name}/${folder}`,
    identity: open.identity,
  });
}

/** As {@link lookAt}, of a branch that has to be there. */
export async function lookAtTasks(queue: GitQueue): Promise<Snapshot> {
  const snapshot = await lookAt(queue);
  const { url, branch } = queue.place;
  if (snapshot.tip.commit || branch === undefined) return snapshot;
  throw notFound(`${redact(url)} has no branch ${branch}: fleet sync add --branch ${branch} makes it`);
}

/** The queue as it is now. @throws FleetError where it cannot be reached */
export async function lookAt({ place }: GitQueue): Promise<Snapshot> {
  const { tip, ...read } = await readTip(place);
  const faults = [...read.faults];
  const tasks = new Map<string, Seen>();
  for (const file of read.files) {
    const parsed = readTask(file.text, file.stem);
    if (parsed.ok) tasks.set(file.path, { ...file, task: parsed.task });
    else faults.push({ path: file.path, message: parsed.message });
  }
  const paths = new Set([...tasks.keys(), ...faults.map(({ path }) => path)]);
  for (const [{ path, task }, other] of sharedIds(tasks)) {
    if (!isOpen(task)) continue;
    faults.push({ path, message: `has the id of ${other}: it is not taken` });
    tasks.delete(path);
  }
  return { tip, tasks, faults, paths };
}

/** Everything in the copy comes from the remote: one that cannot be read is fetched again. */
async function readTip(place: QueuePlace): Promise<{ tip: Tip; files: QueueFile[]; faults: QueueFault[] }> {
  const { gitDir, folder } = place;
  const once = async () => {
    const tip = orThrow(await lookAtQueue(place));
    const read = tip.commit ? await readQueue({ gitDir, commit: tip.commit, folder }) : { files: [], faults: [] };
    return { tip, ...read };
  };
  return once().catch(async (error: unknown) => {
    if (!(await isDamaged(gitDir, error))) throw error;
    await removeTree(gitDir);
    return once();
  });
}

/** Those whose id stands in another file too, with that. */
export function sharedIds(tasks: ReadonlyMap<string, Seen>): [seen: Seen, other: string][] {
  const byId = new Map<string, Seen[]>();
  for (const seen of tasks.values()) {
    const same = byId.get(seen.task.id);
    if (same) same.push(seen);
    else byId.set(seen.task.id, [seen]);
  }
  return [...byId.values()]
    .filter((same) => same.length > 1)
    .flatMap((same) => same.map((one): [Seen, string] => [one, same.find((each) => each !== one)!.path]));
}

/** What becomes of one file. Asked again, on what is there then, whenever somebody else was first. */
export interface Change<T> {
  path: string;
  /** The new text; null where there is nothing (more) to write. `outcome` is what the caller gets, once it is written. */
  make(seen: Seen | undefined, snapshot: Snapshot): { text: string | null; outcome: T };
  /** For the commit: `fix-login`. */
  id: string;
}

const TRIES = 40;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Brings the changes to the remote, in one commit on whatever it has by then.
 * @throws FleetError where the remote refuses, cannot be reached, or is changed by others all the time
 */
export async function bring<T>(
  queue: GitQueue,
  from: Snapshot,
  { changes, verb }: { changes: readonly Change<T>[]; verb: string },
): Promise<{ snapshot: Snapshot; outcomes: T[] }> {
  let snapshot = from;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const made = changes.map((change) => ({ change, ...change.make(snapshot.tasks.get(change.path), snapshot) }));
    const outcomes = made.map(({ outcome }) => outcome);
    const edits = made.flatMap(({ change, text }) => (text === null ? [] : { change, text }));
    if (!edits.length) return { snapshot, outcomes };
    const { place, identity } = queue;
    const files = edits.map(({ change, text }) => {
      return { path: change.path, mode: snapshot.tasks.get(change.path)?.mode ?? '100644', text };
    });
    const message = messageOf(
      verb,
      edits.map(({ change }) => change.id),
    );
    const written = await writeQueue({ place, on: snapshot.tip, files, message, identity });
    if (written.ok) return { snapshot: { ...snapshot, tip: { ...snapshot.tip, commit: written.commit } }, outcomes };
    if (!written.moved) throw new FleetError('failed', written.failure.message);
    await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, 50 * (tries + 1)));
    snapshot = await lookAt(queue);
  }
  throw new FleetError('conflict', `${redact(queue.place.url)} is changed by others all the time: try again`);
}

function messageOf(verb: string, ids: readonly string[]): string {
  return ids.length === 1 ? `${verb} ${ids[0]}` : `${verb} ${ids.length} tasks\n\n${ids.join('\n')}`;
}

/** Hex digits that stand for a text. */
export const digest = (text: string, length: number): string => sha256(text).slice(0, length);

function orThrow<T extends { ok: boolean }>(outcome: T | Failed): Extract<T, { ok: true }> {
  if (!outcome.ok) throw new FleetError('unavailable', (outcome as Failed).failure.message);
  return outcome as Extract<T, { ok: true }>;
}
