import type { TaskAlert as Alert } from '../../src/activities/services/send-alert.ts';
import type { Manners } from './agents.ts';
import { Checker } from './checker.ts';
import { Clock, virtualDate } from './clock.ts';
import { endsWell } from './end.ts';
import { Faults } from './faults.ts';
import { People } from './people.ts';
import { Random } from './random.ts';
import { Server } from './server.ts';
import { Worker } from './worker.ts';

/** Defects that a test plants to see that they are found. */
export type Mutation = 'no-grace' | 'no-self-kill' | 'stale-launch' | 'overwrite' | 'forget-to-tell';

const MOST = { events: 300_000, ms: 1_000 * 86_400_000 };
const MANNERS = {
  mixed: { good: 6, bad: 2, crash: 1, error: 0.5, limited: 1, stopped: 1, poison: 0, broken: 0 },
  good: { good: 1, bad: 0, crash: 0, error: 0, limited: 0, stopped: 0, poison: 0, broken: 0 },
  bad: { good: 1, bad: 6, crash: 2, error: 0, limited: 0, stopped: 1, poison: 0, broken: 0 },
  limited: { good: 0.1, bad: 0.2, crash: 0, error: 0, limited: 10, stopped: 0, poison: 0, broken: 0 },
  poison: { good: 1, bad: 0, crash: 0, error: 0, limited: 0, stopped: 0, poison: 9, broken: 0 },
  broken: { good: 1, bad: 0, crash: 0, error: 0, limited: 0, stopped: 0, poison: 0, broken: 2 },
} satisfies Record<string, Manners>;
const USUAL = { mixed: 6, good: 4, bad: 2, limited: 0.3, poison: 1, broken: 1 };

export interface Schedule {
  seed: number;
  violations: string[];
  trace: string[];
  events: number;
  /** How often each kind of thing happened, to see that the schedules reach what they should. */
  reached: Record<string, number>;
}

/** One schedule: some tasks, workers, people and faults, all chosen by the seed. */
export class World {
  readonly random: Random;
  readonly clock = new Clock();
  readonly checker = new Checker(() => this.clock.elapsed);
  readonly server: Server;
  readonly workers: Worker[] = [];
  readonly branches = new Map<string, string>();
  readonly alerts: Alert[] = [];
  /** Tasks whose result a person accepted. */
  readonly accepted = new Set<string>();
  readonly people: People;
  /** Chance that a step of a run finds broken infrastructure. */
  readonly flaky: number;
  readonly faults: Faults;
  readonly #manners = new Map<string, Manners>();
  readonly #reached: Record<string, number> = {};

  readonly seed: number;
  readonly mutation: Mutation | undefined;

  constructor(seed: number, mutation?: Mutation) {
    this.seed = seed;
    this.mutation = mutation;
    const random = (this.random = new Random(seed));
    this.server = new Server(this);
    this.flaky = random.pick([0, 0, 0.02]);
    for (let i = random.weighted({ 1: 1, 2: 4, 3: 2, 4: 1 }); this.workers.length < Number(i);)
      this.workers.push(new Worker(this, `w${this.workers.length + 1}`, random.between(1, 3)));
    this.server.pollers.push(...this.workers);
    this.people = new People(this);
    this.faults = new Faults(this);
    for (let n = Number(random.weighted({ 1: 4, 2: 2, 3: 1, 6: 0.5 })); n > 0; n--) this.#give(`task-${n}`);
  }

  async run(): Promise<Schedule> {
    using _date = virtualDate(this.clock);
    const ended = await this.clock.run(MOST);
    if (!ended)
      this.checker.violation(`no end after ${this.clock.events} events and ${this.clock.elapsed / 3_600_000} hours`);
    else endsWell(this);
    const { violations, trace } = this.checker;
    return { seed: this.seed, violations, trace, events: this.clock.events, reached: this.#reached };
  }

  manners(taskId: string): Manners {
    return this.#manners.get(taskId) ?? MANNERS.good;
  }

  /** Whether a reviewer looks at its tasks first: by the seed alone, so that other schedules stay what they are. */
  get gated(): boolean {
    return this.seed % 8 === 7;
  }

  /** Whether a second worker has to come to the same verdict. */
  get elsewhere(): boolean {
    return this.seed % 8 === 6;
  }

  /** Whether a person has to say yes, before each run and to each result. */
  get approved(): boolean {
    return this.seed % 8 === 5;
  }

  /** Whether agents ask people. */
  get asks(): boolean {
    return this.seed % 8 === 4;
  }

  /** A worker has come to a place, `<place> <task id>`, where it may be struck, or a person may say something. */
  reached(worker: Worker, place: string): void {
    const [name = '', taskId = ''] = place.split(' ');
    this.count(name);
    this.faults.reached(worker);
    this.people.reached(taskId);
  }

  count(what: string): void {
    this.#reached[what] = (this.#reached[what] ?? 0) + 1;
  }

  alerted(alert: Alert): void {
    this.checker.say(`alert: ${alert.key}`);
    this.alerts.push(alert);
    this.people.alerted(alert);
  }

  /** An agent that takes its machine down. */
  poisoned(worker: Worker, ms: number): void {
    this.clock.after(ms / 2, () => this.faults.inject(worker, 'reboot', this.random.spread(5_000, 120_000)));
  }

  #give(taskId: string): void {
    const { random } = this;
    this.#manners.set(taskId, MANNERS[random.weighted(USUAL)]);
    const task = {
      objective: 'work',
      repo: 'https://example.org/repo.git',
      retry: {
        maxAttempts: Number(random.weighted({ 1: 1, 2: 1, 3: 3, 40: 0.4 })),
        backoff: random.pick(['1s', '30s', '10m']),
      },
      deliver: random.chance(0.9) ? 'branch' : 'none',
      ...(this.approved ? { approval: random.pick(['before-run', 'before-deliver', 'both']) } : {}),
    };
    this.clock.after(random.between(0, 5_000), () => {
      this.server.start(taskId, task);
      this.people.gave(taskId);
    });
  }
}

export const simulate = (seed: number, mutation?: Mutation): Promise<Schedule> => new World(seed, mutation).run();
