import type { RunRef } from '../../src/domain/view/task-view.ts';
import type { ActivityTask, Ending } from './activity-task.ts';
import { ACTIVITIES } from './activities.ts';
import { Attempt, type HeldRun, type Work } from './attempt.ts';
import { ActivityError, Cancelled } from './failures.ts';
import { Keeper } from './keeper.ts';
import type { Latch } from './latch.ts';
import { reap } from './reaper.ts';
import type { Poller } from './server.ts';
import type { World } from './world.ts';

const HOST_POLLS = 5;
const REAP_MS = 10_000;

/** A machine with its worker process, its keeper, its disk and its line to the server. */
export class Worker implements Poller {
  readonly hostQueue: string;
  readonly keeper: Keeper;
  readonly disk = new Map<string, HeldRun>();
  readonly vault = new Map<string, string>();
  /** Counts of what is wrong at this time; nothing where zero. */
  readonly ills = { down: 0, frozen: 0, suspended: 0, outCut: 0, inCut: 0, gone: 0 };
  readonly busy = new Map<string, number>();
  readonly chains = new Map<string, Latch>();
  readonly touched = new Map<string, number>();
  startedAt: number;
  #incarnation = 0;
  #attempts = new Set<Attempt>();
  #paused: (() => void)[] = [];
  #unsent: (() => void)[] = [];
  #swallowed: { attempt: Attempt; late: boolean }[] = [];
  #parkedPolls = { host: 0, claim: 0, until: 0 };
  #connected = true;
  #reaping = false;

  readonly world: World;
  readonly name: string;
  readonly slots: number;

  constructor(world: World, name: string, slots: number) {
    this.world = world;
    this.name = name;
    this.slots = slots;
    this.hostQueue = `host/${name}`;
    this.keeper = new Keeper(world);
    this.startedAt = world.clock.now;
  }

  get acts(): boolean {
    const { down, frozen, suspended, gone } = this.ills;
    return down + frozen + suspended + gone === 0;
  }
  get inContact(): boolean {
    return this.acts && this.#connected;
  }
  get parked(): boolean {
    return !this.inContact && this.#parkedPolls.until > this.world.clock.now;
  }
  get used(): number {
    return [...this.disk.values()].filter(({ retired }) => !retired).length;
  }

  polls(queue: string): boolean {
    const host = queue === this.hostQueue;
    if (!host && queue !== 'fleet') return false;
    if (this.inContact) return host || this.used < this.slots;
    return this.parked && this.#parkedPolls[host ? 'host' : 'claim'] > 0;
  }

  take(task: ActivityTask): void {
    const { clock, random } = this.world;
    const attempt = new Attempt(task);
    if (!this.inContact) this.#parkedPolls[task.queue === this.hostQueue ? 'host' : 'claim']--;
    const incarnation = this.#incarnation;
    clock.after(random.between(1, 20), () => {
      if (this.#incarnation !== incarnation || this.ills.gone) return;
      if (this.acts && this.ills.inCut === 0) return this.#begin(attempt);
      this.#swallowed.push({ attempt, late: this.ills.inCut === 0 || random.chance(0.5) });
    });
  }

  hears(task: ActivityTask): void {
    for (const attempt of this.#attempts) if (attempt.task === task) this.#listen(attempt);
  }

  /** Says anew what the worker can do, after `ills` has changed. */
  changed(): void {
    const { clock, random, server } = this.world;
    const line = this.acts && this.ills.outCut + this.ills.inCut === 0;
    if (!line && this.#connected) {
      this.#connected = false;
      const until = clock.now + random.between(40_000, 70_000);
      const polls = this.ills.down > 0 ? 0 : HOST_POLLS;
      this.#parkedPolls = { host: polls, claim: polls > 0 && this.used < this.slots ? 1 : 0, until };
    } else if (line && !this.#connected) {
      clock.after(random.spread(5, 5_000), () => this.#reconnect());
    }
    for (const { task, number } of this.#attempts) {
      if (!task.isAttempt(number)) continue;
      if (this.acts && this.ills.outCut === 0) task.beats();
      else task.silentSince(clock.now - random.between(0, 2_000));
    }
    this.keeper.contact(this.inContact);
    if (this.acts) for (const go of this.#paused.splice(0)) go();
    server.pumpAll();
  }

  /** The process is killed: all that it was doing ends where it stands. */
  kill(): void {
    this.ills.down++;
    this.#incarnation++;
    for (const { task, number } of this.#attempts)
      if (task.isAttempt(number)) task.silentSince(this.world.clock.now - this.world.random.between(0, 2_000));
    this.#attempts.clear();
    for (const list of [this.#paused, this.#unsent, this.#swallowed]) list.length = 0;
    for (const map of [this.busy, this.chains, this.touched]) map.clear();
    this.#parkedPolls.until = this.ills.inCut + this.ills.outCut > 0 ? this.#parkedPolls.until : 0;
    this.#reaping = false;
    this.changed();
  }
  start(): void {
    this.ills.down--;
    this.startedAt = this.world.clock.now;
    this.changed();
    this.reapLater();
  }
  shutDown(): void {
    for (const attempt of this.#attempts) attempt.cancel('shutdown');
  }

  /** Runs a piece of work on this process's time; it ends silently with the process. */
  spawn(work: Work, ended: (ending: Ending) => void): void {
    const incarnation = this.#incarnation;
    const go = (): void => {
      if (this.#incarnation !== incarnation) return;
      if (!this.acts) return void this.#paused.push(go);
      try {
        const { done, value } = work.next();
        if (done) ended({ ok: value });
        else if (typeof value === 'number') this.world.clock.after(value, go);
        else this.#first(value, go);
      } catch (error) {
        if (error instanceof Cancelled) ended({ cancelled: true });
        else if (error instanceof ActivityError) ended({ error });
        else throw error;
      }
    };
    go();
  }

  touch({ runId }: RunRef): void {
    this.touched.set(runId, this.world.clock.now);
  }

  reapLater(): void {
    if (this.#reaping || this.disk.size === 0 || this.ills.gone || this.ills.down) return;
    this.#reaping = true;
    const incarnation = this.#incarnation;
    this.world.clock.after(REAP_MS, () => {
      if (this.#incarnation !== incarnation) return;
      this.spawn(reap(this), () => {
        this.#reaping = false;
        this.reapLater();
      });
    });
  }

  #begin(attempt: Attempt): void {
    const { task } = attempt;
    const { world } = this;
    if (this.ills.down + this.ills.gone > 0) return;
    this.#attempts.add(attempt);
    if (task.isAttempt(attempt.number) && this.acts && this.ills.outCut === 0) task.beats();
    world.checker.say(`${this.name}: begins ${task.key}`);
    const activity = ACTIVITIES[task.type];
    if (!activity) throw new Error(`no activity ${task.type}`);
    this.spawn(activity(this, task.args[0] as never, attempt), (ending) => this.#report(attempt, ending));
    this.#listen(attempt);
  }

  #report(attempt: Attempt, ending: Ending): void {
    const { world } = this;
    const { task, number } = attempt;
    this.#attempts.delete(attempt);
    const said =
      'ok' in ending
        ? (JSON.stringify(ending.ok) ?? '').slice(0, 90)
        : 'error' in ending
          ? ending.error.type
          : 'cancelled';
    world.checker.say(`${this.name}: ends ${task.key}: ${said}`);
    const send = () => world.clock.after(world.random.between(1, 30), () => task.ended(number, ending));
    if (this.ills.outCut === 0) return void send();
    if (task.isAttempt(number)) task.silentSince(world.clock.now);
    this.#unsent.push(send);
  }

  #listen(attempt: Attempt): void {
    const { clock, random } = this.world;
    clock.after(random.between(20, 2_000), () => {
      if (!this.inContact || !this.#attempts.has(attempt)) return;
      if (!attempt.task.isAttempt(attempt.number)) attempt.cancel('gone');
      else if (attempt.task.cancelRequested) attempt.cancel('task');
    });
  }

  #reconnect(): void {
    if (this.#connected || !this.acts || this.ills.outCut + this.ills.inCut > 0) return;
    this.#connected = true;
    this.keeper.contact(true);
    for (const { attempt, late } of this.#swallowed.splice(0)) if (late) this.#begin(attempt);
    for (const send of this.#unsent.splice(0)) send();
    for (const attempt of this.#attempts) this.#listen(attempt);
    this.world.server.pumpAll();
  }

  #first(latches: readonly Latch[], go: () => void): void {
    let gone = false;
    const undo: (() => void)[] = [];
    const once = (): void => {
      if (gone) return;
      gone = true;
      for (const step of undo) step();
      this.world.clock.after(0, go);
    };
    for (const latch of latches) undo.push(latch.wait(once));
  }
}
