import { FleetError } from '../../domain/error.ts';
import type { TaskState } from '../../domain/task/state.ts';
import { ATTRIBUTES } from '../../search-attributes.ts';
import { enqueueOnce, type Enqueued } from './enqueue-once.ts';
import { describeTask, stateOf } from '../read/view.ts';
import { mapBounded, type Ends, type FleetConnection } from '../connection.ts';

/** A task that a file became: its id says where the file is, a label says which text it was made of. */

export interface ToShip {
  id: string;
  /** Not checked yet. */
  input: { labels?: unknown };
  /** Stands for the file's text, 16 hex digits. */
  text: string;
}

export interface Shipped {
  state: TaskState;
  /** Null where no file made it. */
  text: string | null;
}

const LABEL = 'text:';
const TEXT_LABEL = /^text:[0-9a-f]{16}$/;
const WIDTH = 12;

export class Shipping {
  readonly #wire: FleetConnection;
  readonly #prepared: () => Promise<void>;

  constructor(wire: FleetConnection, ends: Pick<Ends, 'prepare'>) {
    this.#wire = wire;
    let prepared: Promise<void> | undefined;
    this.#prepared = () =>
      (prepared ??= ends.prepare().catch((error: unknown) => {
        prepared = undefined;
        throw error;
      }));
  }

  /** Makes the task once, however often and by how many this is called. @throws as `enqueueOnce` */
  async ship({ id, input, text }: ToShip): Promise<Enqueued> {
    await this.#prepared();
    const { labels = [] } = input;
    const labelled = { ...input, labels: Array.isArray(labels) ? [...(labels as unknown[]), LABEL + text] : labels };
    return enqueueOnce(this.#wire, { id, input: labelled });
  }

  /** Those that the server knows. */
  async shipped(ids: readonly string[]): Promise<Map<string, Shipped>> {
    const found = await mapBounded([...new Set(ids)], WIDTH, async (id) => {
      try {
        const described = await describeTask(this.#wire, id);
        const labels = described.typedSearchAttributes.get(ATTRIBUTES.labels) ?? [];
        const text = labels.find((label) => TEXT_LABEL.test(label))?.slice(LABEL.length) ?? null;
        return [[id, { state: stateOf(described), text }] as const];
      } catch (error) {
        if (error instanceof FleetError) return [];
        throw error;
      }
    });
    return new Map(found.flat());
  }
}
