import type { ActivitySlotInfo, CustomSlotSupplier, SlotPermit } from '@temporalio/worker';

/** One freed slot wakes the pollers of all claim queues; the next may poll only when the one before found nothing at once. */
const STAGGER_MS = 50;

/**
 * Lets the pollers of a worker's claim queues ask for tasks only while the worker has a free slot. A full worker thus
 * leaves tasks in the backlog, where any other worker finds them. A permit that waits in a poll takes no slot, else one
 * queue's idle poller would starve another; `registerRun` hands a task back when it lost the race for the last slot.
 */
export class SlotGate {
  readonly #free: () => number;
  readonly #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(free: () => number) {
    this.#free = free;
  }

  /** To be called when the number of free slots has changed. */
  pump = (): void => {
    if (this.#timer || this.#closed || this.#waiting.length === 0 || this.#free() <= 0) return;
    this.#waiting.shift()?.();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.pump();
    }, STAGGER_MS);
  };

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  supplier(): CustomSlotSupplier<ActivitySlotInfo> {
    return {
      type: 'custom',
      reserveSlot: (_context, abort) => this.#admission(abort),
      tryReserveSlot: () => null,
      markSlotUsed: () => {},
      releaseSlot: () => {},
    };
  }

  #admission(abort: AbortSignal): Promise<SlotPermit> {
    return new Promise((resolve, reject) => {
      const admit = () => {
        abort.removeEventListener('abort', refuse);
        resolve({});
      };
      const refuse = () => {
        this.#waiting.splice(this.#waiting.indexOf(admit), 1);
        reject(new Error('aborted'));
      };
      abort.addEventListener('abort', refuse, { once: true });
      this.#waiting.push(admit);
      this.pump();
    });
  }
}
