import type { TaskInput } from '../../domain/task/schema.ts';
import { enqueueOnce, type Enqueued } from '../start/enqueue-once.ts';
import { readStamps, type Stamp } from '../read/stamps.ts';
import type { Ends, FleetConnection } from '../connection.ts';

export type { Stamp };

/** What a channel does beside what everybody can: again and again, and at any time. */
export class ChannelCalls {
  readonly #wire: FleetConnection;
  readonly #ends: Ends;
  #prepared: Promise<void> | undefined;

  constructor(wire: FleetConnection, ends: Ends) {
    this.#wire = wire;
    this.#ends = ends;
  }

  /** One task, once for its id, however often it is called. @throws what may go well in a while */
  async enqueueOnce(task: { id: string; input: TaskInput }): Promise<Enqueued> {
    await this.#prepare();
    return enqueueOnce(this.#wire, task);
  }

  /** How those stand that wait for a person, and those that are named, as lists have it. */
  async stamps(ids: readonly string[]): Promise<Map<string, Stamp>> {
    await this.#prepare();
    return readStamps(this.#wire, ids);
  }

  /** Lists by an attribute that nobody registered yet are refused. */
  #prepare(): Promise<void> {
    this.#prepared ??= this.#ends.prepare().catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }
}
