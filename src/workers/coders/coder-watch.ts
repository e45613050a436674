import { findProgram } from '../../adapters/program/find-program.ts';
import { mapBounded } from '../../client/connection.ts';
import type { Coder } from '../../ports.ts';
import { probeCoder, usable, whyNot, type Probed, type UsableCoder } from './probe-coders.ts';

/** Between looks at which programs are there: files only, no program is started. */
const LOOK_MS = 5_000;
/** Until a program that did not tell its version, cannot run, or is too old, is asked again; doubled each time. */
const ASK_FIRST_MS = 15_000;
const ASK_LONGEST_MS = 600_000;
/** How long a worker's start waits for versions. */
const START_MS = 15_000;
const WIDTH = 2;
const ASK_AGAIN: readonly Probed['state'][] = ['unknown', 'broken', 'too-old'];

interface Watched {
  known: Iterable<Coder>;
  /** The coder that the configuration names for tasks that name none. */
  wanted: string | undefined;
  env: NodeJS.ProcessEnv;
  log(line: string): void;
  /** For tests. */
  times?: { lookMs: number; startMs: number; askMs: number };
}

/**
 * The coders that a worker can use, kept up to date: a program that is installed later is found, one that did not tell its
 * version is used and asked again, one that is gone, cannot run, or turns out to be too old, is used no more.
 */
export class CoderWatch {
  /** In the order in which they are known, not in which they were found. */
  readonly coders = new Map<string, UsableCoder>();
  readonly #watched: Watched;
  readonly #probed = new Map<string, Probed>();
  readonly #askAgain = new Map<string, { at: number; afterMs: number }>();
  readonly #stop = new AbortController();
  #changed: () => unknown = () => {};
  /** What the listener has not taken in yet: also a call of it that failed. */
  #untold = false;
  #telling: Promise<void> = Promise.resolve();
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  private constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Resolves when all were asked, or some are so slow that their versions come later. */
  static async start(watched: Watched): Promise<CoderWatch> {
    const watch = new CoderWatch(watched);
    const { startMs = START_MS, lookMs = LOOK_MS } = watched.times ?? {};
    for (const coder of watched.known)
      if (await findProgram(coder.command[0] ?? '', watched.env))
        watch.#probed.set(coder.name, {
          coder,
          state: 'unknown',
          version: null,
          why: 'its version is still being asked',
        });
    watch.#publish();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([watch.look(), new Promise((resolve) => (timer = setTimeout(resolve, startMs)))]);
    clearTimeout(timer);
    watch.#timer = setInterval(() => void watch.look().catch(watch.#failed), lookMs);
    return watch;
  }

  get defaultCoder(): string | undefined {
    return this.#watched.wanted ?? this.coders.keys().next().value;
  }

  /** Whether it can be used here; of none in particular, whether there is any. */
  has(name: string | undefined): boolean {
    return name === undefined ? this.coders.size > 0 : this.coders.has(name);
  }

  /**
   * Called at the next look, since one may have been found meanwhile, and when there is another coder, or one less: one call at
   * a time. One that fails is made again at the next look.
   */
  onChange(listener: () => unknown): void {
    this.#changed = listener;
    this.#untold = true;
  }

  /** One at a time. */
  look(): Promise<void> {
    this.#looking ??= mapBounded([...this.#watched.known], WIDTH, (coder) => this.#look(coder))
      .then(() => this.#tellListener())
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Ends a program that is being asked. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearInterval(this.#timer);
    await this.#looking?.catch(() => undefined);
  }

  async #look(coder: Coder): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const { env } = this.#watched;
    const before = this.#probed.get(coder.name);
    const there = await findProgram(coder.command[0] ?? '', env);
    if (there && (before?.state === 'here' || (this.#askAgain.get(coder.name)?.at ?? 0) > performance.now())) return;
    const probed: Probed = there ? await probeCoder(coder, env, { signal }) : { coder, state: 'missing' };
    if (signal.aborted) return;
    if (ASK_AGAIN.includes(probed.state)) this.#later(coder.name);
    else this.#askAgain.delete(coder.name);
    this.#probed.set(coder.name, probed);
    this.#tell(probed, before);
    if (!this.#publish()) return;
    this.#untold = true;
    await this.#tellListener();
  }

  #tellListener(): Promise<void> {
    const tell = async () => {
      if (!this.#untold || this.#stop.signal.aborted) return;
      this.#untold = false;
      try {
        await this.#changed();
        this.#failure = undefined;
      } catch (error) {
        this.#untold = true;
        this.#failed(error);
      }
    };
    return (this.#telling = this.#telling.then(tell));
  }

  /** Said once, however often it is tried again. */
  #failed = (error: unknown): void => {
    const failure = String(error);
    if (failure !== this.#failure)
      this.#watched.log(`which coders are here could not be taken in: ${failure}; it is tried again`);
    this.#failure = failure;
  };

  #later(name: string): void {
    const first = this.#watched.times?.askMs ?? ASK_FIRST_MS;
    const afterMs = Math.min(ASK_LONGEST_MS, (this.#askAgain.get(name)?.afterMs ?? first / 2) * 2);
    this.#askAgain.set(name, { at: performance.now() + afterMs, afterMs });
  }

  #tell(probed: Probed, before: Probed | undefined): void {
    const { log, wanted } = this.#watched;
    const { name } = probed.coder;
    if (probed.state === 'unknown' && (before?.state !== 'unknown' || before.why !== probed.why))
      log(`coder ${name} is here, its version is not known: ${probed.why}; it is asked again`);
    else if (probed.state === 'here' && before && before.state !== 'unknown')
      log(`coder ${name} was found: ${probed.version}`);
    else if (before?.state !== probed.state) {
      const why = whyNot(probed);
      // One that nobody asked for may be missing.
      if (why && (probed.state !== 'missing' || name === wanted || before)) log(why);
    }
  }

  /** Whether there is another coder now, or one less. */
  #publish(): boolean {
    const before = [...this.coders.keys()].join();
    const now = usable([...this.#watched.known].flatMap(({ name }) => this.#probed.get(name) ?? []));
    this.coders.clear();
    for (const [name, found] of now) this.coders.set(name, found);
    return [...this.coders.keys()].join() !== before;
  }
}
