import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { isTaskId, type HomeLayout } from '../../domain/names.ts';
import type { Cleaned, TaskOrigin } from '../../domain/worker/retention.ts';
import { markForPruning } from '../git/rescue/vault.ts';
import { readJson, writeText } from '../disk/json-file.ts';
import { removeTree } from '../disk/remove-tree.ts';

/** What a worker keeps of a task beyond its runs. */
export interface KeptTask {
  taskId: string;
  dir: string;
  origin: TaskOrigin | undefined;
  /** Milliseconds since the epoch: when something was last written there. */
  touchedAt: number;
  /** Folders of rescue refs in the vault. */
  rescues: string[];
}

const CLEANED_LINES = 20_000;

/** All tasks of which something is kept and no run is under way here. */
export async function keptTasks(home: HomeLayout): Promise<KeptTask[]> {
  return keptOf(
    home,
    (await names(home.tasks)).filter((id) => isTaskId(id) && !isUnderWay(home, id)),
  );
}

/** What is kept of these tasks. */
export async function keptOf(home: HomeLayout, ids: readonly string[]): Promise<KeptTask[]> {
  const rescues = await rescueFolders(home);
  return Promise.all(
    ids.map(async (taskId) => {
      const { dir, origin } = home.task(taskId);
      return {
        ...{ taskId, dir, origin: await readJson<TaskOrigin>(origin), touchedAt: await newest(dir) },
        rescues: rescues.filter((folder) => folder.endsWith(`/${taskId}`)),
      };
    }),
  );
}

/** The runs of which the vault has saved work. */
export async function savedRuns({ rescues }: Pick<KeptTask, 'rescues'>): Promise<string[]> {
  const refs = await Promise.all(rescues.map(names));
  return [...new Set(refs.flat().map((ref) => ref.replace(/\.[a-z]+$/, '')))].sort();
}

/** A run's folder stands for as long as anything of the task may be needed. */
export const isUnderWay = (home: HomeLayout, taskId: string): boolean => existsSync(`${home.runs}/${taskId}`);

/** Removes what is kept of a task, its rescue refs first: the folder stands for all that is left to do. */
export async function removeKept(home: HomeLayout, task: KeptTask, cleaned: Cleaned): Promise<boolean> {
  if (isUnderWay(home, task.taskId)) return false;
  for (const folder of task.rescues) {
    await markForPruning(folder.replace(/\/refs\/fleet\/[^/]+$/, ''));
    await rm(folder, { recursive: true, force: true });
  }
  await appendFile(home.cleaned, `${JSON.stringify(cleaned)}\n`);
  await discard(`${home.tasks}/.trash`, task.dir);
  return true;
}

/** Moves something aside at once, then removes it. */
export async function discard(trash: string, path: string): Promise<void> {
  await mkdir(trash, { recursive: true });
  const aside = `${trash}/${process.pid}-${process.hrtime.bigint()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await removeTree(aside);
}

/** When and why what was kept of a task has gone; undefined where it was not cleaned. */
export async function cleanedOf(home: HomeLayout, taskId: string): Promise<Cleaned | undefined> {
  const lines = await cleanedLines(home);
  const last = lines.findLast((line) => line.includes(`"${taskId}"`));
  try {
    return last === undefined ? undefined : (JSON.parse(last) as Cleaned);
  } catch {
    return undefined;
  }
}

/** Keeps the list of what was cleaned from growing for ever. */
export async function trimCleaned(home: HomeLayout): Promise<void> {
  const lines = await cleanedLines(home);
  if (lines.length > CLEANED_LINES) await writeText(home.cleaned, `${lines.slice(-CLEANED_LINES / 2).join('\n')}\n`);
}

async function cleanedLines(home: HomeLayout): Promise<string[]> {
  return (await readFile(home.cleaned, 'utf8').catch(() => '')).split('\n').filter(Boolean);
}

async function rescueFolders(home: HomeLayout): Promise<string[]> {
  const vaults = (await names(home.vault)).filter((name) => name.endsWith('.git'));
  const found = await Promise.all(
    vaults.map(async (vault) => {
      const refs = `${home.vault}/${vault}/refs/fleet`;
      return (await names(refs)).map((name) => `${refs}/${name}`);
    }),
  );
  return found.flat();
}

async function newest(dir: string): Promise<number> {
  const paths = [dir];
  for (const name of await names(dir)) {
    paths.push(`${dir}/${name}`);
    for (const inner of await names(`${dir}/${name}`)) paths.push(`${dir}/${name}/${inner}`);
  }
  const times = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0));
  return Math.max(...times);
}

/** Names in a folder, none where it is missing or no folder. */
export async function names(dir: string): Promise<string[]> {
  return readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
}
