import { findProgram } from '../adapters/find-program.ts';
import { mapBounded } from '../client/wire.ts';
import type { Coder } from '../ports.ts';
import { probeCoder, usable, whyNot, type Probed, type UsableCoder } from './probe-coders.ts';

/** Between looks at which programs are there: files only, no program is started. */
const LOOK_MS = 5_000;
/** Until a program that did not tell its version, or is too old, is asked again; doubled each time. */
const ASK_FIRST_MS = 15_000;
const ASK_LONGEST_MS = 600_000;
/** How long a worker's start waits for versions. */
const START_MS = 15_000;
const WIDTH = 2;

interface Watched {
  known: Iterable<Coder>;
  /** Of those, the one that the configuration names for tasks that name none. */
  wanted: string | undefined;
  env: NodeJS.ProcessEnv;
  log(line: string): void;
  /** For tests. */
  times?: { lookMs: number; startMs: number; askMs: number };
}

/**
 * The coders that a worker can use, kept up to date: a program that is installed later is found, one that did not tell its
 * version is used and asked again, one that is gone, or turns out to be too old, is used no more.
 */
export class CoderWatch {
  /** In the order in which they are known, not in which they were found. */
  readonly coders = new Map<string, UsableCoder>();
  readonly #watched: Watched;
  readonly #probed = new Map<string, Probed>();
  readonly #askAgain = new Map<string, { at: number; afterMs: number }>();
  #changed: () => unknown = () => {};
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopped = false;

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
    watch.#timer = setInterval(() => void watch.look(), lookMs);
    return watch;
  }

  get defaultCoder(): string | undefined {
    return this.#watched.wanted ?? this.coders.keys().next().value;
  }

  /** Whether it can be used here; of none in particular, whether there is any. */
  has(name: string | undefined): boolean {
    return name === undefined ? this.coders.size > 0 : this.coders.has(name);
  }

  /** Called when there is another coder, or one less. */
  onChange(listener: () => unknown): void {
    this.#changed = listener;
  }

  /** One at a time. */
  look(): Promise<void> {
    this.#looking ??= mapBounded([...this.#watched.known], WIDTH, (coder) => this.#look(coder))
      .then(() => undefined)
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(coder: Coder): Promise<void> {
    if (this.#stopped) return;
    const { env } = this.#watched;
    const before = this.#probed.get(coder.name);
    const there = await findProgram(coder.command[0] ?? '', env);
    if (there && (before?.state === 'here' || (this.#askAgain.get(coder.name)?.at ?? 0) > performance.now())) return;
    const probed: Probed = there ? await probeCoder(coder, env) : { coder, state: 'missing' };
    if (probed.state === 'unknown' || probed.state === 'too-old') this.#later(coder.name);
    else this.#askAgain.delete(coder.name);
    this.#probed.set(coder.name, probed);
    this.#tell(probed, before);
    if (this.#publish()) await this.#changed();
  }

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
      if (why && (probed.state === 'too-old' || name === wanted || before)) log(why);
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
