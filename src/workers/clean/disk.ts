import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../../activities/worker/context.ts';
import type { Disk } from '../../activities/worker/services.ts';
import { folderBytes, folderSize, type FolderSize } from '../../adapters/git/folder-size.ts';
import { giveUpReserve, makeReserve } from '../../adapters/disk/reserve.ts';
import { Descriptors, refusesWrites, spaceOf } from '../../adapters/disk/free-space.ts';
import type { RunRecord } from '../../adapters/state/run-registry.ts';
import { formatBytes, toBytes } from '../../domain/values/bytes.ts';
import { levelOf, shortOf, type DiskLimits, type Level, type Space } from '../../domain/worker/disk.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import type { StopReason } from '../../domain/run/outcome.ts';

const TICK_MS = 1_000;
const MEASURE_MS = 60_000;
const CLEAN_MS = 30_000;
/** Less growth than this explains no full disk. */
const GROWN = { bytes: 1_000_000, files: 100 };
/** For an agent to end and its tree to go, before the next one is looked for. */
const STOP_MS = 60_000;

type Given = Pick<Deps, 'home' | 'config' | 'registry' | 'keeper' | 'holds'> & {
  log(line: string): void;
  /** Removes finished things before their age, until there is room. */
  makeRoom(enough: () => Promise<boolean>): Promise<void>;
};

/**
 * Watches the disk of the worker's home. Below the floor no new work is taken in and finished things are cleaned; where
 * receipts could not be written any more, the run that grew most is stopped. A run over its own limit always is.
 */
export class DiskGuard implements Disk {
  readonly #given: Given;
  readonly #limits: DiskLimits;
  readonly #sizes = new Map<string, FolderSize>();
  readonly #why = new Map<string, { reason: StopReason; why: string }>();
  readonly #stop = new AbortController();
  #level: Level = 'ample';
  #refused: string | undefined;
  #fullAt = Number.NEGATIVE_INFINITY;
  #stopping: { ref: RunRef; at: number } | undefined;
  #measured = { at: performance.now(), freeBytes: 0 };
  #cleanedAt = Number.NEGATIVE_INFINITY;
  readonly #descriptors = new Descriptors();
  readonly #held = new Set<string>();
  readonly #jobs = new Map<string, Promise<void>>();
  #watching: Promise<void> | undefined;

  constructor(given: Given) {
    this.#given = given;
    const { floor, reserve } = given.config.disk;
    this.#limits = { floorBytes: toBytes(floor), reserveBytes: toBytes(reserve) };
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await this.#look();
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
    await Promise.all(this.#jobs.values());
    this.#descriptors.release();
  }

  giveUpReserve(): boolean {
    this.#fullAt = performance.now();
    return giveUpReserve(this.#given.home.reserve);
  }

  async room(signal?: AbortSignal): Promise<void> {
    this.#fullAt = performance.now();
    do await sleep(TICK_MS, undefined, signal ? { signal } : {});
    while (this.#level === 'full' || this.#refused);
  }

  async wasFullSince(at: number): Promise<boolean> {
    if (levelOf(await spaceOf(this.#given.home.root), this.#limits, 'ample') === 'full')
      this.#fullAt = performance.now();
    return this.#fullAt >= at;
  }

  async excess(ref: RunRef, limitBytes: number): Promise<string | undefined> {
    const bytes = await folderBytes(this.#given.home.run(ref.taskId, ref.runId).work);
    return bytes > limitBytes ? tooLarge(bytes, limitBytes) : undefined;
  }

  why(runId: string, stopped: StopReason): string | undefined {
    const known = this.#why.get(runId);
    return known?.reason === stopped ? known.why : undefined;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      await sleep(TICK_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.#look().catch((error: unknown) => this.#given.log(`disk: ${String(error)}`));
    }
  }

  async #look(): Promise<void> {
    const { home } = this.#given;
    const space = await spaceOf(home.root);
    this.#refused = await refusesWrites(home.root);
    this.#level = levelOf(space, this.#limits, this.#level);
    const fine = this.#level === 'ample' && !this.#refused;
    if (this.#level === 'full' || this.#refused) this.#fullAt = performance.now();
    const short = this.#refused
      ? `nothing can be written to ${home.root} (${this.#refused}): mount it for writing, or mend its disk`
      : shortOf(space, this.#limits, home.root);
    this.#hold('disk', fine ? null : short);
    this.#hold(
      'descriptors',
      this.#descriptors.look() ? null : 'no file descriptors are left: start it with a higher limit (ulimit -n)',
    );

    if (this.#level === 'full') this.#once('stop', () => this.#stopGrower());
    if (this.#isMeasureDue(space)) this.#once('measure', () => this.#measure(space));
    if (fine) this.#once('reserve', () => this.#setAside(space));
    else if (!this.#refused) this.#once('clean', () => this.#clean());
  }

  /** Says so, too, when it begins and when it ends. */
  #hold(cause: string, reason: string | null): void {
    const held = this.#held.has(cause);
    this.#given.holds.set(cause, reason);
    if (held === (reason !== null)) return;
    if (reason === null) this.#held.delete(cause);
    else this.#held.add(cause);
    this.#given.log(reason ? `no new work is taken in: ${reason}` : `new work is taken in again (${cause})`);
  }

  /** One job of a kind at a time, beside the watch; what it fails at is tried again. */
  #once(kind: string, work: () => Promise<void>): void {
    if (this.#jobs.has(kind)) return;
    const job = work()
      .catch((error: unknown) => this.#given.log(`disk: ${String(error)}`))
      .finally(() => this.#jobs.delete(kind));
    this.#jobs.set(kind, job);
  }

  async #setAside({ freeBytes }: Space): Promise<void> {
    const { floorBytes, reserveBytes } = this.#limits;
    if (freeBytes > floorBytes + reserveBytes) await makeReserve(this.#given.home.reserve, reserveBytes);
  }

  async #clean(): Promise<void> {
    if (performance.now() - this.#cleanedAt < CLEAN_MS) return;
    this.#cleanedAt = performance.now();
    const { home } = this.#given;
    await this.#given.makeRoom(async () => levelOf(await spaceOf(home.root), this.#limits, 'low') === 'ample');
  }

  /** Every minute, and as soon as one run may have outgrown its limit. */
  #isMeasureDue({ freeBytes }: Space): boolean {
    const limits = this.#given.registry.list().map(({ prepared }) => prepared?.policy.limits.diskBytes ?? Infinity);
    this.#measured.freeBytes = Math.max(this.#measured.freeBytes, freeBytes);
    const taken = this.#measured.freeBytes - freeBytes;
    return performance.now() - this.#measured.at > MEASURE_MS || taken > Math.min(...limits) / 4;
  }

  /** The folders of all runs, in turn: those over their own limit are stopped. */
  async #measure({ freeBytes }: Space): Promise<void> {
    this.#measured = { at: performance.now(), freeBytes };
    const { registry, home } = this.#given;
    const runs = registry.list();
    for (const known of [...this.#sizes.keys(), ...this.#why.keys()]) {
      if (runs.some(({ runId }) => runId === known)) continue;
      this.#sizes.delete(known);
      this.#why.delete(known);
    }
    for (const run of runs) {
      const size = await folderSize(home.run(run.taskId, run.runId).work);
      this.#sizes.set(run.runId, size);
      await this.#stopLarge(run, size);
    }
  }

  async #stopLarge(run: RunRecord, { bytes }: FolderSize): Promise<boolean> {
    const limit = run.prepared?.policy.limits.diskBytes;
    if (!limit || bytes <= limit) return false;
    return this.#end(run, 'over-budget', tooLarge(bytes, limit));
  }

  /** The run that grew most since the disk had room, as long as nobody else is on the way out. */
  async #stopGrower(): Promise<void> {
    const { registry, home } = this.#given;
    if (this.#stopping && registry.find(this.#stopping.ref) && performance.now() - this.#stopping.at < STOP_MS) return;
    const grown = await Promise.all(
      registry.list().map(async (run) => {
        const now = await folderSize(home.run(run.taskId, run.runId).work);
        const before = this.#sizes.get(run.runId) ?? { bytes: 0, files: 0 };
        const [bytes, files] = [now.bytes - before.bytes, now.files - before.files];
        return { run, now, share: Math.max(bytes / GROWN.bytes, files / GROWN.files) };
      }),
    );
    for (const { run, now, share } of grown.sort((a, b) => b.share - a.share)) {
      if (share < 1) return;
      const why = `the disk was full, and its work folder had grown most, to ${formatBytes(now.bytes)} in ${now.files} files`;
      if ((await this.#stopLarge(run, now)) || (await this.#end(run, 'disk', why))) return;
    }
  }

  /** False: there is no live agent of it. */
  async #end({ taskId, runId }: RunRef, reason: StopReason, why: string): Promise<boolean> {
    if (!this.#why.has(runId)) this.#why.set(runId, { reason, why });
    const { stopping } = await this.#given.keeper.stop({ taskId, runId, reason });
    if (!stopping) return false;
    this.#stopping = { ref: { taskId, runId }, at: performance.now() };
    this.#given.log(`stopping run ${runId} of ${taskId}: ${why}`);
    return true;
  }
}

const tooLarge = (bytes: number, limit: number): string =>
  `its work folder holds ${formatBytes(bytes)}, more than limits.disk (${formatBytes(limit)})`;
