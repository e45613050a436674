import { coderText } from '../../domain/worker/worker.ts';
import type { RunningWorker } from '../../workers/worker.ts';
import { oneLine } from './text.ts';

/** What is said when a worker has been attached. */
export function attached(worker: RunningWorker): { facts: object; text: string } {
  const { name, machine, hostQueue, queues, coders, slots } = worker;
  const has = coders.length ? coders.map((coder) => oneLine(coderText(coder), 60)).join(', ') : 'no coder found';
  return {
    facts: { worker: { name, machine, hostQueue, queues, coders, slots: slots.total } },
    text: `worker ${name} attached on machine ${machine}: ${slots.total} slot${slots.total === 1 ? '' : 's'}, ${has}`,
  };
}
