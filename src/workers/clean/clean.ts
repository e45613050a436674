import type { Client } from '@temporalio/client';
import { folderBytes } from '../../adapters/git/folder-size.ts';
import { pruneMarked } from '../../adapters/git/rescue/vault.ts';
import { keptTasks, names, removeKept, trimCleaned, type KeptTask } from '../../adapters/state/retained-tasks.ts';
import { readJson } from '../../adapters/disk/json-file.ts';
import { mapBounded } from '../../client/connection.ts';
import type { Config } from '../../config.ts';
import { toMs } from '../../domain/values/duration.ts';
import { isOpen, keepClassOf, KEEP_CLASSES, type KeepClass, type TaskOrigin } from '../../domain/worker/retention.ts';
import type { HomeLayout } from '../../domain/names.ts';
import { standingOf, standingsOf } from '../coders/standings.ts';
import { leftovers, setAsideRuns, unusedStores, type Unused } from './unused.ts';

const WIDTH = 4;
const AGE_OF = {
  unused: 'orphaned',
  accepted: 'accepted',
  orphaned: 'orphaned',
  rejected: 'rejected',
  'set-aside': 'setAside',
} as const satisfies Record<KeepClass, keyof Config['keep']>;
/** However short the disk is: whoever asked for a task has so long to look at it. */
const FRESH_MS = 10 * 60_000;

export interface Cleaning {
  home: HomeLayout;
  keep: Config['keep'];
  /** Undefined: no server answers, and what a task may still need cannot be told. */
  server: { client: Client; name: string } | undefined;
  /** Base stores in use, as the worker of this home knows them; `null` where another process is that worker. */
  basesInUse: ReadonlySet<string> | null;
  /** Remove this class only. */
  only?: KeepClass | undefined;
  /** Milliseconds instead of the ages of the configuration. */
  olderThanMs?: number | undefined;
}

/** Something that may go. */
export interface CleanItem {
  class: KeepClass;
  what: string;
  ageMs: number;
  bytes: number;
  /** False: it was needed again. */
  remove(): Promise<boolean>;
}

/** All that is past its age, in the order in which it goes: by class, oldest first. Removes nothing. */
export async function findCleanable(cleaning: Cleaning): Promise<CleanItem[]> {
  const { home, only, basesInUse } = cleaning;
  const stores = basesInUse === null ? [] : await unusedStores(home, basesInUse);
  const found = [
    ...(await cleanableTasks(cleaning)),
    ...[...(await leftovers(home)), ...stores].map((item) => ofUnused(item, 'unused')),
    ...(await cleanableSetAside(cleaning)),
  ];
  const old = found
    .filter((item) => (!only || item.class === only) && (item.rubbish || item.ageMs >= keptMs(cleaning, item.class)))
    .sort((a, b) => KEEP_CLASSES.indexOf(a.class) - KEEP_CLASSES.indexOf(b.class) || b.ageMs - a.ageMs);
  return mapBounded(old, WIDTH, async ({ path, rubbish: _, ...item }) => ({
    ...item,
    bytes: await folderBytes(path),
  }));
}

/** Removes them in order, until it is enough; gives what has gone. @throws at the end, where some could not be removed */
export async function clean(
  cleaning: Cleaning,
  items: readonly CleanItem[],
  enough: () => Promise<boolean> = async () => false,
): Promise<CleanItem[]> {
  const gone: CleanItem[] = [];
  const failed: unknown[] = [];
  const each = (work: Promise<unknown>) => work.catch((error: unknown) => failed.push(error));
  for (const item of items) {
    if (await enough()) break;
    await each(item.remove().then((went) => went && gone.push(item)));
  }
  const { home, basesInUse } = cleaning;
  if (basesInUse !== null) {
    for (const name of (await names(home.vault)).filter((entry) => entry.endsWith('.git')))
      await each(pruneMarked(`${home.vault}/${name}`));
    await each(trimCleaned(home));
  }
  if (failed.length > 0) throw new Error(`not everything could be removed: ${String(failed[0])}`, { cause: failed[0] });
  return gone;
}

/** Ages and classes for a disk that is short: finished things go at once, but for what a person is to look at. */
export const hurried = (cleaning: Cleaning): Cleaning => ({ ...cleaning, olderThanMs: FRESH_MS });

type Candidate = Omit<CleanItem, 'bytes'> & { path: string; rubbish?: true };

async function cleanableTasks(cleaning: Cleaning): Promise<Candidate[]> {
  const { home, server, only } = cleaning;
  if (!server) return [];
  const youngest = Math.min(...KEEP_CLASSES.filter((one) => !only || one === only).map((one) => keptMs(cleaning, one)));
  const kept = (await keptTasks(home)).filter(({ touchedAt }) => Date.now() - touchedAt >= youngest);
  const standings = await standingsOf(
    server.client,
    kept.map(({ taskId }) => taskId),
  );
  return kept.flatMap((task) => {
    const known = { origin: task.origin, server: server.name };
    const kind = keepClassOf(standings.get(task.taskId) ?? null, known);
    return kind ? [ofTask(cleaning, task, kind)] : [];
  });
}

function ofTask({ home, server }: Cleaning, task: KeptTask, kind: KeepClass): Candidate {
  const { taskId, origin, rescues, dir, touchedAt } = task;
  const ageMs = Date.now() - touchedAt;
  const remove = async () => {
    // An unknown one may have been enqueued since it was listed.
    const now = await standingOf(server!.client, taskId);
    if (keepClassOf(now, { origin, server: server!.name }) !== kind) return false;
    return removeKept(home, task, { taskId, class: kind, at: new Date().toISOString(), ageMs });
  };
  return {
    class: kind,
    what: `task ${taskId}${rescues.length ? ' with its rescued work' : ''}`,
    ageMs,
    path: dir,
    remove,
  };
}

/** Of tasks of this server that are not open: what was set aside is all that there is of such a run. */
async function cleanableSetAside({ home, server }: Cleaning): Promise<Candidate[]> {
  if (!server) return [];
  const all = await setAsideRuns(home);
  const origins = await Promise.all(all.map(({ taskId }) => readJson<TaskOrigin>(home.task(taskId).origin)));
  // An open task's origin is always there: what has none was cleaned, or damaged, and is for this server to judge.
  const runs = all.filter((_, i) => (origins[i]?.server ?? server.name) === server.name);
  if (runs.length === 0) return [];
  const standings = await standingsOf(server.client, [...new Set(runs.map(({ taskId }) => taskId))]);
  return runs
    .filter(({ taskId }) => !isOpen(standings.get(taskId) ?? null))
    .map(({ taskId, ...run }) => {
      const candidate = ofUnused(run, 'set-aside');
      const remove = async () => !isOpen(await standingOf(server.client, taskId)) && candidate.remove();
      return { ...candidate, remove };
    });
}

const ofUnused = ({ touchedAt, remove, ...item }: Unused, kind: KeepClass): Candidate => ({
  ...{ ...item, class: kind, ageMs: Date.now() - touchedAt },
  remove: () => remove().then(() => true),
});

function keptMs({ keep, olderThanMs }: Cleaning, kind: KeepClass): number {
  return olderThanMs ?? toMs(keep[AGE_OF[kind]]);
}
