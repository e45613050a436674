import { lstatSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { raw } from './checkout.ts';
import { same, type Entry } from '../entries.ts';
import type { ObjectFormat } from '../init.ts';
import { readFileEntry, readLinkEntry, type Reader } from '../read-entry.ts';
import { SLICE_MS } from '../capture/walk.ts';

/** What became of a checkout's files since the last look, by path. */
export interface Touched {
  /** They have another content, mode or kind, or are gone. */
  changed: string[];
  /** They were written again, and are as they were. */
  rewritten: string[];
  /** New files beside one of the checkout with the same name but for its ending: an import may take them in its place. */
  shadows: string[];
}

const CODE = /\.(?:py|[mc]?[jt]sx?)$/;

/**
 * Watches the files of a checkout between commands, when nothing in it runs. A look asks the kernel for each file's state, whose
 * time of change nobody in a sandbox can set, and reads only those that were written to.
 */
export class TrackedFiles {
  readonly #dir: string;
  readonly #entries: ReadonlyMap<string, Entry>;
  /** What they hold, where that is not what they were laid with. */
  readonly #held = new Map<string, Entry | undefined>();
  readonly #format: ObjectFormat;
  readonly #stems: ReadonlyMap<string, ReadonlySet<string>>;
  #states: Map<string, string>;
  #names: Map<string, Set<string>>;

  private constructor(of: { dir: string; entries: ReadonlyMap<string, Entry>; format: ObjectFormat }) {
    this.#dir = of.dir;
    this.#entries = of.entries;
    this.#format = of.format;
    const stems = new Map<string, Set<string>>();
    for (const [path] of of.entries) {
      if (!CODE.test(path)) continue;
      const { dir, name } = posix.parse(path);
      stems.set(dir, (stems.get(dir) ?? new Set()).add(name));
    }
    this.#stems = stems;
    this.#states = new Map();
    this.#names = new Map();
  }

  /** `entries`: what the files were laid with, without submodules. */
  static async of(files: {
    dir: string;
    entries: ReadonlyMap<string, Entry>;
    format: ObjectFormat;
  }): Promise<TrackedFiles> {
    const tracked = new TrackedFiles(files);
    tracked.#states = await tracked.#look();
    tracked.#names = tracked.#list();
    return tracked;
  }

  /** What it tells of once, it does not tell of again. */
  async touched(): Promise<Touched> {
    const [before, states] = [this.#states, await this.#look()];
    const found: Touched = { changed: [], rewritten: [], shadows: this.#shadows() };
    const reader: Reader = {
      ...{ format: this.#format, violations: [], buffer: Buffer.allocUnsafe(1024 * 1024) },
      ...{ maxFileBytes: 1024 ** 3, budget: 16 * 1024 ** 3 },
    };
    for (const [path, state] of states) {
      if (state === before.get(path)) continue;
      const was = this.#held.has(path) ? this.#held.get(path) : this.#entries.get(path);
      const now = await this.#read(reader, path);
      if (now ? same(was, now) : was === undefined) found.rewritten.push(path);
      else found.changed.push(path);
      this.#held.set(path, now);
    }
    this.#states = states;
    return found;
  }

  async #look(): Promise<Map<string, string>> {
    const states = new Map<string, string>();
    let sliceEnd = performance.now() + SLICE_MS;
    for (const [path, entry] of this.#entries) {
      const stat = this.#stat(path, entry);
      states.set(path, stat ? `${stat.ctimeMs} ${stat.ino} ${stat.size} ${stat.mode}` : '');
      if (performance.now() < sliceEnd) continue;
      await new Promise((resolve) => setImmediate(resolve));
      sliceEnd = performance.now() + SLICE_MS;
    }
    return states;
  }

  #stat(path: string, entry: Entry | undefined) {
    try {
      return lstatSync(raw(this.#dir, path, entry), { throwIfNoEntry: false });
    } catch {
      // A file stands where a folder was, or a folder is closed.
      return undefined;
    }
  }

  async #read(reader: Reader, path: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(path);
    const place = { path, raw: raw(this.#dir, path, entry) };
    const stat = this.#stat(path, entry);
    if (stat?.isFile()) return readFileEntry(reader, place);
    return stat?.isSymbolicLink() ? readLinkEntry(reader, place)?.entry : undefined;
  }

  #shadows(): string[] {
    const names = this.#list();
    const found = [...names].flatMap(([dir, there]) =>
      [...there].filter((name) => !this.#names.get(dir)?.has(name)).map((name) => posix.join(dir, name)),
    );
    this.#names = names;
    return found;
  }

  /** Files that no commit has, by folder, with the name of one of them but for the ending. */
  #list(): Map<string, Set<string>> {
    const names = new Map<string, Set<string>>();
    for (const [dir, stems] of this.#stems) {
      const beside = this.#folder(dir).filter(
        (name) =>
          CODE.test(name) &&
          stems.has(posix.parse(name).name) &&
          !this.#entries.has(dir === '' ? name : `${dir}/${name}`),
      );
      if (beside.length > 0) names.set(dir, new Set(beside));
    }
    return names;
  }

  #folder(dir: string): string[] {
    try {
      return readdirSync(`${this.#dir}/${dir}`);
    } catch {
      return [];
    }
  }
}
