import type { Worker } from './worker.ts';
import type { World } from './world.ts';

const KINDS = {
  crash: 4,
  restart: 2,
  reboot: 1,
  gone: 0.7,
  'cut both ways': 3,
  'cut out': 1.5,
  'cut in': 1.5,
  freeze: 2,
  suspend: 1,
} as const;
type Kind = keyof typeof KINDS;

/** What goes wrong in one schedule, at random times and at random places in the protocol. All but a lost machine heals. */
export class Faults {
  readonly #world: World;
  #left: number;
  /** Whether anything went wrong. */
  struck = false;
  readonly #atPoint: number;

  constructor(world: World) {
    const { random, clock } = world;
    this.#world = world;
    this.#left = random.chance(0.1) ? 0 : random.between(1, 8);
    this.#atPoint = random.pick([0, 0.02, 0.1, 0.4]);
    for (let i = random.between(0, this.#left); i > 0; i--)
      clock.after(random.spread(500, 1_500_000), () => this.#strike(random.pick(world.workers)));
  }

  /** A worker has come to a durable step. */
  reached(worker: Worker): void {
    if (this.#world.random.chance(this.#atPoint)) this.#strike(worker);
  }

  inject(worker: Worker, kind: Kind, ms: number): void {
    const { clock, checker } = this.#world;
    const { ills } = worker;
    this.struck = true;
    this.#world.count(kind);
    checker.say(`${worker.name}: FAULT ${kind} for ${ms} ms`);
    const during = (...names: (keyof typeof ills)[]): void => {
      for (const name of names) ills[name]++;
      worker.changed();
      clock.after(ms, () => {
        for (const name of names) ills[name]--;
        checker.say(`${worker.name}: ${kind} is over`);
        worker.changed();
      });
    };
    const down = (): void => {
      worker.kill();
      clock.after(ms, () => {
        checker.say(`${worker.name}: starts`);
        worker.start();
      });
    };
    if (kind === 'crash') down();
    else if (kind === 'restart') {
      worker.shutDown();
      clock.after(300, down);
    } else if (kind === 'reboot') {
      worker.keeper.die();
      down();
    } else if (kind === 'gone') {
      ills.gone = 1;
      worker.keeper.die();
      worker.kill();
    } else if (kind === 'suspend') {
      worker.keeper.suspend(ms);
      during('suspended');
    } else if (kind === 'cut both ways') during('outCut', 'inCut');
    else during(({ 'cut out': 'outCut', 'cut in': 'inCut', freeze: 'frozen' } as const)[kind]);
  }

  #strike(worker: Worker): void {
    const { random, workers } = this.#world;
    if (this.#left === 0 || worker.ills.gone) return;
    this.#left--;
    const kind = random.weighted(KINDS);
    const last = workers.filter(({ ills }) => !ills.gone).length === 1;
    this.inject(worker, kind === 'gone' && last ? 'reboot' : kind, random.spread(100, 300_000));
  }
}
