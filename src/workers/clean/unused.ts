import { stat } from 'node:fs/promises';
import { isFetching } from '../../adapters/git/source/mirror.ts';
import { discard, names } from '../../adapters/state/retained-tasks.ts';
import { keptPackages } from '../../adapters/state/packages.ts';
import { readJson } from '../../adapters/disk/json-file.ts';
import { removeTree } from '../../adapters/disk/remove-tree.ts';
import { basesOf, taskOfSetAside, type RunRecord } from '../../adapters/state/run-registry.ts';
import type { HomeLayout } from '../../domain/names.ts';

/** Something that nothing refers to. */
export interface Unused {
  what: string;
  path: string;
  touchedAt: number;
  /** Goes whatever its age. */
  rubbish?: true;
  remove(): Promise<void>;
}

/** What was moved aside and not removed: whoever did it was killed. Always safe. */
export async function leftovers(home: HomeLayout): Promise<Unused[]> {
  const trashes = [home.runs, home.tasks, home.mirrors, home.bases, home.packages].map((dir) => `${dir}/.trash`);
  const found = await Promise.all(trashes.map(async (trash) => (await names(trash)).map((name) => `${trash}/${name}`)));
  return Promise.all(
    found.flat().map(async (path) => {
      const item = { ...(await facts(path)), what: 'leftover', rubbish: true as const };
      return { ...item, remove: () => removeTree(path) };
    }),
  );
}

/** Runs whose record was damaged, or whose work could not be saved, with what they made: for a person to look at. */
export async function setAsideRuns(home: HomeLayout): Promise<(Unused & { taskId: string })[]> {
  const dir = `${home.runs}/.torn`;
  return Promise.all(
    (await names(dir)).map(async (name) => ({
      ...(await facts(`${dir}/${name}`)),
      what: `run ${name}, which was set aside`,
      taskId: taskOfSetAside(name),
      remove: () => discard(`${home.runs}/.trash`, `${dir}/${name}`),
    })),
  );
}

/** Mirrors and base stores that no run borrows from, and packages, of which runs have copies. Only for the worker of this home, or while there is none. */
export async function unusedStores(home: HomeLayout, inUse: ReadonlySet<string>): Promise<Unused[]> {
  const borrowed = new Set([...inUse, ...(await borrowedBases(home))]);
  const mirrors = (await names(home.mirrors)).filter((name) => name.endsWith('.git'));
  const keys = (await names(home.bases)).filter((name) => !name.startsWith('.'));
  const bases = await Promise.all(
    keys.map(async (key) => (await names(`${home.bases}/${key}`)).map((name) => `${key}/${name}`)),
  );
  const repositories = await Promise.all([
    ...mirrors.map(async (name) => {
      const found = await facts(`${home.mirrors}/${name}`);
      const remove = async () => {
        if (!isFetching(found.path)) await discard(`${home.mirrors}/.trash`, found.path);
      };
      return { ...found, what: `mirror ${name}`, remove };
    }),
    ...bases
      .flat()
      .filter((name) => name.endsWith('.git') && !borrowed.has(`${home.bases}/${name}`))
      .map(async (name) => {
        const found = await facts(`${home.bases}/${name}`);
        return { ...found, what: `base ${name}`, remove: () => discard(`${home.bases}/.trash`, found.path) };
      }),
  ]);
  const packages = (await keptPackages(home.packages)).map(({ path, key, usedAt }) => ({
    ...{ path, touchedAt: usedAt, what: `packages ${key.slice(0, 12)}` },
    remove: () => discard(`${home.packages}/.trash`, path),
  }));
  return [...repositories, ...packages];
}

async function borrowedBases(home: HomeLayout): Promise<string[]> {
  const tasks = (await names(home.runs)).filter((name) => !name.startsWith('.'));
  const runs = await Promise.all(
    tasks.map(async (task) => (await names(`${home.runs}/${task}`)).map((run) => home.run(task, run).record)),
  );
  const records = await Promise.all(runs.flat().map((path) => readJson<RunRecord>(path)));
  return records.flatMap((record) => (record?.prepared ? basesOf(record.prepared) : []));
}

const facts = async (path: string): Promise<{ path: string; touchedAt: number }> => ({
  path,
  touchedAt: (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now(),
});
