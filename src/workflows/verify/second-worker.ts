import { isCancellation, sleep } from '@temporalio/workflow';
import type { Failure } from '../../domain/agent/failure.ts';
import type { Replayed, SecondWorker } from '../../domain/worker/second-verdict.ts';
import type { Verified } from '../../domain/view/task-view.ts';
import { WorkerLost, type WorkerActivities } from '../worker/worker-activities.ts';

/** So many second workers lost in a row are more than bad luck. */
const MOST_LOST = 5;
const PAUSE = '5s';

/**
 * Has another worker verify again, from nothing, what the first one accepted. It waits for one for as long as it takes; one
 * that is lost is replaced. A failure: the second worker could not, which says nothing about the result.
 */
export async function verifyElsewhere(
  host: WorkerActivities,
  say: (message: string | null) => void,
): Promise<Verified | { failure: Failure }> {
  let avoid: string | null = null;
  for (let lost = 0; lost < MOST_LOST; lost += 1) {
    const second = await findSecondWorker(host, { avoid, say });
    const answer = await replayOn(host, second);
    if (answer && 'failure' in answer) return answer;
    if (answer) {
      const order = { ...host.ref, replayed: answer, publicKey: second.publicKey };
      return host.call('compare the verdicts', (on) => on.compareReplay(order));
    }
    avoid = second.hostQueue;
    say(`worker ${second.name}, which verified the result as well, was lost: another one is looked for`);
    await sleep(PAUSE);
  }
  return {
    failure: { reason: 'host-lost', message: `${MOST_LOST} workers were lost that verified the result as well` },
  };
}

async function findSecondWorker(
  host: WorkerActivities,
  { avoid, say }: { avoid: string | null; say: (message: string | null) => void },
): Promise<SecondWorker> {
  const find = (wait: boolean) =>
    host.call('find a second worker', (on) => on.findSecondWorker({ ...host.ref, avoid, wait }));
  const there = await find(false);
  if (!there) say('it waits for a second worker, as verify.where is other');
  const found = there ?? (await find(true));
  if (!found) throw new Error('no second worker');
  say(`worker ${found.name} verifies the result as well`);
  return found;
}

/** Undefined: it was lost. */
async function replayOn(
  host: WorkerActivities,
  second: SecondWorker,
): Promise<Replayed | { failure: Failure } | undefined> {
  const offered = await host.call('hand over the result', (on) => on.offerResult(host.ref));
  if (!offered.ok) return offered;
  try {
    const answer = await host
      .beside(second)
      .call(`verify again on ${second.name}`, (on) => on.replayResult(offered.order));
    if (answer.ok) return answer.replayed;
    return answer.failure.reason === 'machine-fault' ? undefined : answer;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof WorkerLost) || error.stopped) throw error;
    return undefined;
  }
}
