import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { HomeLayout } from '../../domain/names.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import { readJson, writeJson } from '../disk/json-file.ts';
import { removeTree } from '../disk/remove-tree.ts';
import type { Prepared, RunRecord } from './run-record.ts';
import { upgraded } from './upgrade-record.ts';

export type { Prepared, Resumed, RunRecord } from './run-record.ts';

/** The runs that hold a slot, kept on disk: the slot table of a restarted worker is what is found there. */
export class RunRegistry {
  readonly #home: HomeLayout;
  readonly #server: string;
  readonly #runs = new Map<string, RunRecord>();
  readonly #borrowed = new Map<string, readonly string[]>();
  readonly #busy = new Map<string, number>();
  readonly #chains = new Map<string, Promise<unknown>>();
  readonly #touched = new Map<string, number>();
  #changed: () => void = () => {};
  /** Runs found when it was opened whose record a failing disk has left unreadable: not this worker's any more. */
  readonly torn: RunRef[] = [];

  private constructor(home: HomeLayout, server: string) {
    this.#home = home;
    this.#server = server;
  }

  /** @param server identity of the server that this worker is attached to: only its runs hold slots */
  static async open(home: HomeLayout, server: string): Promise<RunRegistry> {
    const registry = new RunRegistry(home, server);
    await removeTree(`${home.runs}/.trash`);
    await mkdir(home.runs, { recursive: true });
    const tasks = await readdir(home.runs, { withFileTypes: true });
    for (const { name: task } of tasks.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))) {
      for (const run of await readdir(`${home.runs}/${task}`)) {
        const { dir, record: file } = home.run(task, run);
        const record = await readJson<RunRecord>(file);
        if (record) registry.#runs.set(run, upgraded(record, server));
        else if (existsSync(file)) registry.torn.push({ taskId: task, runId: run });
        else await removeTree(dir);
      }
      // An empty one would say for ever that the task is under way here.
      await rmdir(`${home.runs}/${task}`).catch(() => undefined);
    }
    return registry;
  }

  /** Takes a run that cannot be read, or saved, out of the way, with all that it made. Nothing of it may live. */
  async setAside({ taskId, runId }: RunRef): Promise<string> {
    const to = `${this.#home.runs}/.torn/${taskId}-${runId}`;
    await mkdir(dirname(to), { recursive: true });
    await rename(this.#home.run(taskId, runId).dir, to).catch(ignoreMissing);
    await rmdir(`${this.#home.runs}/${taskId}`).catch(() => undefined);
    return to;
  }

  /** Called after each change of the slot table. */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** Slots taken. */
  get size(): number {
    return this.list().length;
  }

  /** The runs that hold a slot. */
  list(): RunRecord[] {
    return this.#own().filter(({ retired }) => !retired);
  }

  /** Runs whose folders wait for the receipts of a late result. */
  retired(): RunRecord[] {
    return this.#own().filter(({ retired }) => retired);
  }

  /** Runs of other servers: they hold no slot here, and are that server's to judge, should it come back. */
  ofOthers(): RunRecord[] {
    return [...this.#runs.values()].filter(({ server }) => server !== this.#server);
  }

  /** Notes since when runs are of other servers, and forgets it of those whose server is back. */
  async noteLeft(): Promise<void> {
    for (const run of this.#runs.values()) {
      const { leftAt, ...record } = run;
      const here = run.server === this.#server;
      if (here === (leftAt === undefined)) continue;
      if (here) delete run.leftAt;
      else run.leftAt = new Date().toISOString();
      await writeJson(this.#home.run(run.taskId, run.runId).record, here ? record : run);
    }
  }

  /** Frees the slot of a run that its task does not own any more, and keeps its folder. */
  async retire(ref: RunRef): Promise<void> {
    const record = this.#runs.get(ref.runId);
    if (!record) return;
    await writeJson(this.#home.run(ref.taskId, ref.runId).record, { ...record, retired: true });
    record.retired = true;
    this.#changed();
  }

  /** Whether the run has its folder here, retired or not. */
  holds(runId: string): boolean {
    return this.#runs.has(runId);
  }

  find({ taskId, runId }: RunRef): RunRecord | undefined {
    const record = this.#runs.get(runId);
    return record?.taskId === taskId ? record : undefined;
  }

  /** Takes a slot, if `cap` leaves one. Disk holds the record before anything else of the run exists. */
  async claim(record: RunRecord, cap: number): Promise<boolean> {
    if (this.size >= cap) return false;
    this.#runs.set(record.runId, record);
    this.#touch(record.runId);
    try {
      await mkdir(this.#home.run(record.taskId, record.runId).work, { recursive: true });
      await writeJson(this.#home.run(record.taskId, record.runId).record, record);
    } catch (error) {
      this.#runs.delete(record.runId);
      await removeTree(this.#home.run(record.taskId, record.runId).dir);
      throw error;
    } finally {
      this.#changed();
    }
    return true;
  }

  /** Notes what a run under preparation borrows from; its record on disk says so only when it is prepared. */
  borrow({ runId }: RunRef, ...baseDirs: readonly string[]): () => void {
    this.#borrowed.set(runId, baseDirs);
    return () => void this.#borrowed.delete(runId);
  }

  /** Base stores that must stay. */
  basesInUse(): Set<string> {
    return new Set([
      ...[...this.#borrowed.values()].flat(),
      ...[...this.#runs.values()].flatMap(({ prepared }) => (prepared ? basesOf(prepared) : [])),
    ]);
  }

  async prepared(ref: RunRef, prepared: Prepared): Promise<void> {
    const record = this.#runs.get(ref.runId);
    if (!record) return;
    record.prepared = prepared;
    await writeJson(this.#home.run(ref.taskId, ref.runId).record, record);
  }

  /** Frees the slot and removes the run's folder; harmless for a run that is not there. */
  async release(ref: RunRef): Promise<void> {
    const { dir } = this.#home.run(ref.taskId, ref.runId);
    await mkdir(`${this.#home.runs}/.trash`, { recursive: true });
    const trash = `${this.#home.runs}/.trash/${ref.runId}-${process.hrtime.bigint()}`;
    await rename(dir, trash).catch(ignoreMissing);
    this.#runs.delete(ref.runId);
    this.#borrowed.delete(ref.runId);
    this.#touched.delete(ref.runId);
    this.#changed();
    await removeTree(trash);
    await rmdir(`${this.#home.runs}/${ref.taskId}`).catch(() => undefined);
  }

  /**
   * Runs an activity of a run once the one before has really ended: an attempt that the server gave up may still be at
   * work. The reaper leaves busy runs alone.
   */
  async using<T>(ref: RunRef, work: () => Promise<T>): Promise<T> {
    const before = this.#chains.get(ref.runId) ?? Promise.resolve();
    const mine = before.then(work);
    this.#chains.set(
      ref.runId,
      mine.catch(() => undefined),
    );
    this.#busy.set(ref.runId, (this.#busy.get(ref.runId) ?? 0) + 1);
    try {
      return await mine;
    } finally {
      const left = (this.#busy.get(ref.runId) ?? 1) - 1;
      this.#busy.set(ref.runId, left);
      if (left === 0) this.#chains.delete(ref.runId);
      this.#touch(ref.runId);
    }
  }

  /** Runs that nothing has worked on for `ms`. */
  quietFor(ms: number): RunRecord[] {
    return this.list().filter(
      ({ runId }) => !this.#busy.get(runId) && performance.now() - (this.#touched.get(runId) ?? 0) >= ms,
    );
  }

  #own(): RunRecord[] {
    return [...this.#runs.values()].filter(({ server }) => server === this.#server);
  }

  #touch(runId: string): void {
    if (this.#runs.has(runId)) this.#touched.set(runId, performance.now());
    else this.#busy.delete(runId);
  }
}

/** The task of a run that was set aside, by the name of its folder. */
export const taskOfSetAside = (name: string): string => name.replace(/-\d+-[0-9a-f]+$/, '');
/** Its base store, and those of its submodules. */
export const basesOf = ({ baseDir, submodules }: Pick<Prepared, 'baseDir' | 'submodules'>): string[] => [
  baseDir,
  ...submodules.map(({ gitDir }) => gitDir),
];

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
