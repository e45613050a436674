import { copyFile, stat, truncate } from 'node:fs/promises';
import { formatBytes } from '../../domain/values/bytes.ts';
import type { HomeLayout } from '../../domain/names.ts';
import { clean, findCleanable, hurried, type Cleaning, type CleanItem } from './clean.ts';

const EVERY_MS = 60 * 60_000;
/** After the start: a worker that just came back has better things to do. */
const FIRST_MS = 60_000;
const LOG_BYTES = 8 * 1024 * 1024;

/** Cleans the worker's home every hour by class and age, and at once where the disk is short. */
export class Cleaner {
  readonly #cleaning: () => Cleaning;
  readonly #log: (line: string) => void;
  readonly #timers: NodeJS.Timeout[];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(cleaning: () => Cleaning, log: (line: string) => void) {
    this.#cleaning = cleaning;
    this.#log = log;
    const hourly = () => void this.#take(() => this.#clean(this.#cleaning()));
    this.#timers = [setTimeout(hourly, FIRST_MS), setInterval(hourly, EVERY_MS)];
  }

  /** Finished things go before their age, until it is enough. What a person is to look at stays. */
  readonly makeRoom = (enough: () => Promise<boolean>): Promise<void> =>
    this.#take(() => this.#clean(hurried(this.#cleaning()), enough));

  async stop(): Promise<void> {
    this.#timers.forEach((timer) => clearTimeout(timer));
    await this.#turn;
  }

  #take(work: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(work).catch((error: unknown) => this.#log(`cleaning: ${String(error)}`));
    this.#turn = mine;
    return mine;
  }

  async #clean(cleaning: Cleaning, enough?: () => Promise<boolean>): Promise<void> {
    try {
      const items = await findCleanable(cleaning);
      this.#say(await clean(cleaning, enough ? items.filter(isFinished) : items, enough));
    } finally {
      // Last: to trim one takes room.
      await trimLogs(cleaning.home);
    }
  }

  #say(gone: readonly CleanItem[]): void {
    if (gone.length === 0) return;
    const bytes = gone.reduce((sum, item) => sum + item.bytes, 0);
    this.#log(`cleaned ${gone.length === 1 ? gone[0]!.what : `${gone.length} things`}, ${formatBytes(bytes)}`);
  }
}

const isFinished = (item: CleanItem): boolean => item.class !== 'set-aside';

/** Both are appended to by whoever has them open, so that they can be cut under the writer's hands. */
async function trimLogs({ workerLog, keeperLog }: HomeLayout): Promise<void> {
  for (const path of [workerLog, keeperLog]) {
    if (((await stat(path).catch(() => undefined))?.size ?? 0) <= LOG_BYTES) continue;
    await copyFile(path, `${path}.1`);
    await truncate(path);
  }
}
