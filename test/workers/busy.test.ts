import { expect, test } from '@jest/globals';
import type { WorkerStatus } from '@temporalio/worker';
import { areBusy } from '../../src/workers/temporal.ts';

/** A worker that was seen with so many activations and activities, look after look; the last of them stays. */
function worker(...looks: [activations: number, activities: number][]) {
  let look = 0;
  return {
    getStatus: () => {
      const [numInFlightWorkflowActivations, numInFlightActivities] = looks[Math.min(look, looks.length - 1)]!;
      look += 1;
      return { numInFlightWorkflowActivations, numInFlightActivities } as WorkerStatus;
    },
  };
}

test.each([
  ['a workflow that is carried on at every look', [worker([0, 0]), worker([1, 0])], true],
  ['a claim that is under way', [worker([0, 1])], true],
  ['a query that is answered soon', [worker([1, 0], [0, 0])], false],
  ['nothing', [worker([0, 0])], false],
])('%s', async (_name, workers, busy) => {
  expect(await areBusy(workers)).toBe(busy);
});
