import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';

/** One freed slot wakes the pollers of all claim queues; the next may poll only when the one before found nothing at once. */
const STAGGER_MS = 50;

/**
 * Lets the pollers of a worker's claim queues ask for tasks only while the worker has a free slot, and a seat for their coder. A full worker thus
 * leaves tasks in the backlog, where any other worker finds them. A permit that waits in a poll takes no slot, else one
 * queue's idle poller would starve another; `registerRun` hands a task back when it lost the race for the last slot.
 */
export class SlotGate {
  readonly #free: (queue: string) => number;
  readonly #waiting: { queue: string; admit: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `free`: slots that a task of that claim queue could have. */
  constructor(free: (queue: string) => number) {
    this.#free = free;
  }

  /** To be called when the number of free slots has changed. */
  pump = (): void => {
    if (this.#timer || this.#closed) return;
    const next = this.#waiting.findIndex(({ queue }) => this.#free(queue) > 0);
    if (next === -1) return;
    const [waiting] = this.#waiting.splice(next, 1);
    waiting?.admit();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.pump();
    }, STAGGER_MS);
  };

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  supplier(queue: string): CustomSlotSupplier<ActivitySlotInfo> {
    return {
      type: 'custom',
      reserveSlot: (_context, abort) => this.#admission(queue, abort),
      tryReserveSlot: () => null,
      markSlotUsed: () => {},
      releaseSlot: () => {},
    };
  }

  #admission(queue: string, abort: AbortSignal): Promise<SlotPermit> {
    return new Promise((resolve, reject) => {
      const admit = () => {
        abort.removeEventListener('abort', refuse);
        resolve({});
      };
      const waiting = { queue, admit };
      const refuse = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new Error('aborted'));
      };
      abort.addEventListener('abort', refuse, { once: true });
      this.#waiting.push(waiting);
      this.pump();
    });
  }
}
