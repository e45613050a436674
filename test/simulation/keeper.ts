import type { RunRef } from '../../src/domain/view/task-view.ts';
import type { AgentOutcome, StopReason } from '../../src/domain/run/outcome.ts';
import type { AgentPlan } from './agents.ts';
import type { Timer } from './clock.ts';
import { Latch } from './latch.ts';
import type { World } from './world.ts';

/** Of the defaults: the deadline, the tick that looks at it, and the two ladders. */
const SELF_KILL_MS = 30_000;
const TICK_MS = 1_000;
const FENCE_MS = 5_000;
const LADDER_MS = 22_000;
const FENCED: readonly StopReason[] = ['host-lost', 'killed', 'superseded'];

export interface Agent extends RunRef {
  readonly keeper: Keeper;
  readonly ended: Latch;
  readonly plan: AgentPlan;
  stopped: StopReason | null;
  /** It died with its machine: nothing says how. */
  crashed: boolean;
  exit: Pick<AgentOutcome, 'exitCode' | 'stopped'> | undefined;
  end: Timer | undefined;
}

/** Holds the agents of one machine, and ends them by itself without contact. It outlives the worker, not the machine. */
export class Keeper {
  readonly agents = new Map<string, Agent>();
  readonly #world: World;
  #lastContact: number;
  #inContact = true;
  #check: Timer | undefined;
  #suspendedUntil = -Infinity;

  constructor(world: World) {
    this.#world = world;
    this.#lastContact = world.clock.now;
  }

  /** Nothing on a sleeping machine has an effect; once awake, its clock shows what it missed within a tick. */
  get excused(): boolean {
    return this.#world.clock.now < this.#suspendedUntil;
  }
  suspend(ms: number): void {
    this.#suspendedUntil = this.#world.clock.now + ms + TICK_MS + FENCE_MS;
  }

  /** Proofs come every three seconds while there is contact; without, the last one ages. */
  contact(there: boolean): void {
    const { clock, random } = this.#world;
    // Before it counts, what was missed is seen, as by a tick.
    if (there && !this.provedContact()) this.#fence();
    if (there) this.#lastContact = clock.now;
    else if (this.#inContact) this.#lastContact = Math.max(this.#lastContact, clock.now - random.between(0, 3_000));
    this.#inContact = there;
    this.#watch();
  }
  provedContact(): boolean {
    return this.#inContact || this.#world.clock.now - this.#lastContact < SELF_KILL_MS;
  }

  /** Undefined: it was asked for too long ago. */
  launch(ref: RunRef, plan: AgentPlan, askedAt: number): Agent | undefined {
    const { clock, checker } = this.#world;
    if (clock.now - askedAt >= SELF_KILL_MS) return undefined;
    this.#lastContact = Math.max(this.#lastContact, Math.min(askedAt, clock.now));
    this.#watch();
    const agent: Agent = {
      ...{ taskId: ref.taskId, runId: ref.runId, plan, keeper: this, ended: new Latch() },
      ...{ stopped: null, crashed: false, exit: undefined, end: undefined },
    };
    this.agents.set(ref.runId, agent);
    checker.launched(agent);
    agent.end = clock.after(plan.ms, () => this.#ended(agent));
    return agent;
  }

  /** The first reason stays; a fence makes a stop that is under way faster. */
  stop(runId: string, reason: StopReason): void {
    const agent = this.agents.get(runId);
    if (!agent || agent.ended.isOpen) return;
    agent.stopped ??= reason;
    agent.end?.cancel();
    const { clock, random } = this.#world;
    const most = FENCED.includes(reason) ? FENCE_MS : LADDER_MS;
    agent.end = clock.after(random.chance(0.7) ? random.between(5, 200) : random.between(0, most), () =>
      this.#ended(agent),
    );
  }

  /** The machine is gone or boots: everything dies at once, and nothing is written down. */
  die(): void {
    for (const agent of this.agents.values()) {
      if (agent.ended.isOpen) continue;
      agent.end?.cancel();
      agent.crashed = true;
      this.#world.checker.died(agent);
      agent.ended.open();
    }
  }

  #watch(): void {
    this.#check?.cancel();
    if (this.#inContact) return;
    const { clock, random } = this.#world;
    const at =
      Math.max(this.#lastContact + SELF_KILL_MS, this.#suspendedUntil - TICK_MS - FENCE_MS) +
      random.between(0, TICK_MS);
    this.#check = clock.after(at - clock.now, () => this.#fence());
  }

  #fence(): void {
    if (this.#world.mutation === 'no-self-kill') return;
    for (const { runId } of this.agents.values()) this.stop(runId, 'host-lost');
  }

  #ended(agent: Agent): void {
    const { plan, stopped } = agent;
    agent.exit = { exitCode: plan.kind === 'crash' ? 139 : 0, stopped: stopped ?? plan.stopped ?? null };
    this.#world.checker.died(agent);
    agent.ended.open();
  }
}
