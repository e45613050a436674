import type { Client } from '@temporalio/client';
import { Presence } from '../../activities/worker/presence.ts';
import type { Deps } from '../../activities/worker/context.ts';
import type { Closed, SeatServices } from '../../activities/worker/services.ts';
import { leaseOf } from '../../config.ts';
import { wayOf, type Credential } from '../../domain/routing/credential.ts';
import type { RunRef } from '../../domain/view/task-view.ts';
import {
  holds,
  reaches,
  refusalOf,
  type CredentialRecord,
  type Reach,
  type Refusal,
  type SeatHolder,
  type SeatReport,
} from '../../domain/scheduling/seats.ts';
import { CredentialWire } from './credential-wire.ts';

const EVERY_MS = 2_000;
/** A state that has led to no `holdSeats` for so long did not hear that this worker is there, or lost it. */
const ATTEND_MS = 10_000;
/** Longer than the state needs to hear of a seat that was given back. */
const HEARD_MS = 10_000;

type Given = Pick<Deps, 'config' | 'worker' | 'registry' | 'coders' | 'log'>;

interface Known {
  declared: Credential;
  presence: Presence;
  /** As last read; undefined before the first time. */
  record: CredentialRecord | undefined;
  saidAt: number;
}

/**
 * This worker's view of its credentials: read from the memo of each every two seconds, corrected by its own deeds at once.
 * What the state says beside that decides: a seat is asked for, and may be refused.
 */
export class CredentialSeats implements SeatServices {
  readonly #given: Given;
  readonly #wire: CredentialWire;
  readonly #known = new Map<string, Known>();
  /** Runs for which a seat is just asked for. */
  readonly #taking = new Set<string>();
  /** Runs whose seats this worker has given back, and when. */
  readonly #returned = new Map<string, number>();
  /** What the server has not taken yet. */
  #untold: (() => Promise<void>)[] = [];
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #changed: () => void = () => {};

  constructor(given: Given, client: Client) {
    this.#given = given;
    this.#wire = new CredentialWire(client);
    this.admit();
  }

  /** Takes up the credentials of coders that are here now. */
  admit(): void {
    const { config, coders } = this.#given;
    for (const [name, declared] of Object.entries(config.credentials))
      if (coders.has(declared.coder) && !this.#known.has(name))
        this.#known.set(name, {
          ...{ declared, presence: new Presence(), record: undefined, saidAt: Number.NEGATIVE_INFINITY },
        });
  }

  get any(): boolean {
    return this.#known.size > 0;
  }

  /** Called when a coder may have opened or closed. */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** Says that this worker is there; resolves once the state of each is known, or the server did not answer. */
  async start(): Promise<void> {
    if (Object.keys(this.#given.config.credentials).length === 0) return;
    await this.look();
    this.#timer = setInterval(() => void this.look(), EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch(() => undefined)
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  of = (coder: string): string[] =>
    [...this.#known].flatMap(([name, { declared }]) => (declared.coder === coder ? [name] : []));

  closed = (coder: string): Closed | undefined => {
    const refusals = this.of(coder).map((name) => this.#refusal(name));
    if (refusals.length === 0 || refusals.includes(undefined)) return undefined;
    const said = refusals.flatMap((refusal) => refusal ?? []);
    const [first] = said.flatMap(({ until }) => until ?? []).toSorted();
    const full = said.every((refusal) => refusal.full);
    return {
      ...{ coder, why: said.map(({ why }) => why).join('; ') },
      ...(first ? { until: first } : {}),
      ...(full ? { full } : {}),
    };
  };

  /** Whether a task of a claim queue that is pinned to that coder, or to none, could have a seat. */
  opens(
    pinned: string | undefined,
    { defaultCoder, config, coders }: Pick<Deps, 'defaultCoder' | 'config' | 'coders'>,
  ): boolean {
    const possible = pinned ? [pinned] : config.routes.length > 0 ? [...coders.keys()] : [defaultCoder() ?? ''];
    return possible.some((coder) => !this.closed(coder));
  }

  first = (coder: string): string | null => {
    const known = this.of(coder);
    const fit = known.find((name) => {
      const { record } = this.#known.get(name)!;
      return !record?.bad && !(record?.resting && Date.parse(record.resting.until) > Date.now());
    });
    return fit ?? known[0] ?? null;
  };

  presence = (credential: string): Presence => this.#known.get(credential)?.presence ?? new Presence();

  take = async (credential: string, { taskId, runId }: RunRef): Promise<true | string> => {
    const refusal = this.#refusal(credential);
    if (refusal) return refusal.why;
    const { name: worker, hostQueue } = this.#given.worker;
    this.#taking.add(runId);
    try {
      const taken = await this.#wire.lease(credential, { taskId, runId, worker, hostQueue });
      if (taken !== true) {
        void this.look();
        return taken;
      }
      const seat = { taskId, runId, worker, hostQueue, since: new Date().toISOString() };
      this.#note(credential, (record) => ({ ...record, seats: [...record.seats, seat] }));
      return true;
    } finally {
      this.#taking.delete(runId);
    }
  };

  giveBack = async (credential: string, { runId, tokens }: RunRef & { tokens: number }): Promise<void> => {
    this.#returned.set(runId, performance.now());
    this.#note(credential, (record) => ({ ...record, seats: record.seats.filter((seat) => seat.runId !== runId) }));
    await this.#tell(() => this.#wire.giveBack(credential, { runId, tokens }));
  };

  report = async (credential: string, report: SeatReport): Promise<void> => {
    await this.#tell(() => this.#wire.report(credential, report));
    await this.look();
  };

  others = async ({ credential, coder, ...reach }: Reach & { credential: string; coder: string }): Promise<boolean> => {
    const other = (one: CredentialRecord) => one.coder === coder && one.name !== credential && reaches(one, reach);
    const own = this.of(coder).flatMap((name) => this.#known.get(name)?.record ?? []);
    return own.some(other) || (await this.#wire.all()).some(other);
  };

  #refusal(credential: string): Refusal | undefined {
    const record = this.#known.get(credential)?.record;
    return record ? refusalOf(record, Date.now()) : { why: `the state of credential ${credential} is not known yet` };
  }

  #note(credential: string, change: (record: CredentialRecord) => CredentialRecord): void {
    const known = this.#known.get(credential);
    if (!known?.record) return;
    known.record = change(known.record);
    this.#changed();
  }

  /** Tried once now, and where that fails with each later look. */
  async #tell(say: () => Promise<void>): Promise<void> {
    await say().catch(() => this.#untold.push(say));
  }

  async #look(): Promise<void> {
    const untold = this.#untold.splice(0);
    for (const say of untold) await this.#tell(say);
    for (const [name, known] of this.#known) await this.#lookAt(name, known).catch(() => undefined);
    for (const [runId, at] of this.#returned)
      if (performance.now() - at > HEARD_MS && !this.#given.registry.holds(runId)) this.#returned.delete(runId);
    this.#changed();
  }

  async #lookAt(name: string, known: Known): Promise<void> {
    const runs = this.#runs(name);
    if (!known.record || (!known.presence.attended && performance.now() - known.saidAt > ATTEND_MS)) {
      await this.#wire.name({ name, coder: known.declared.coder, holder: this.#holder(known.declared), runs });
      known.saidAt = performance.now();
    }
    const record = await this.#wire.read(name);
    if (!record) return;
    known.record = record;
    const { hostQueue } = this.#given.worker;
    const own = record.seats.filter((seat) => seat.hostQueue === hostQueue);
    // A claim that was not made after all, or whose end the server did not hear of.
    for (const { taskId, runId } of own)
      if (!this.#taking.has(runId) && !this.#returned.has(runId) && !this.#given.registry.holds(runId))
        await this.giveBack(name, { taskId, runId, tokens: 0 });
    // Returned by the state while this worker was not heard of; its agents ran on, as its server was down as well.
    const current = this.#runs(name).filter((run) => runs.some(({ runId }) => runId === run.runId));
    if (current.every((run) => holds(record, run))) return;
    await this.#wire.name({ name, coder: known.declared.coder, holder: this.#holder(known.declared), runs: current });
  }

  /** The runs here that work under it. */
  #runs(name: string): RunRef[] {
    const runs = this.#given.registry.list().filter((run) => run.credential === name && !this.#returned.has(run.runId));
    return runs.map(({ taskId, runId }) => ({ taskId, runId }));
  }

  #holder(declared: Credential): SeatHolder {
    const { worker, config } = this.#given;
    const { heartbeatMs, graceMs } = leaseOf(config);
    return {
      ...{ worker: worker.name, machine: worker.machine, hostQueue: worker.hostQueue },
      ...{ queues: worker.queues, since: worker.startedAt },
      ...{ seats: declared.seats, softCeiling: declared.softCeiling, how: wayOf(declared) },
      leaseMs: heartbeatMs + graceMs,
    };
  }
}
