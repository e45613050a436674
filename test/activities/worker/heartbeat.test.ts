import { CancelledFailure, Context } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from '@jest/globals';
import { heartbeating, isTaskCancelled, cancellable } from '../../../src/activities/worker/heartbeat.ts';
import type { Progress } from '../../../src/domain/view/task-view.ts';

const progress = (): Progress => ({ runId: '1-a', state: 'running' });

test('beats at once, and goes on until the work is done', async () => {
  const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 40 });
  const beats: unknown[] = [];
  const fourth = new Promise<void>((resolve) =>
    environment.on('heartbeat', (details: unknown) => beats.push(details) === 4 && resolve()),
  );
  expect(await environment.run(() => heartbeating(progress, () => fourth.then(() => 'done')))).toBe('done');
  expect(beats[0]).toEqual(progress());
});

test('work is left off when the activity is cancelled, and a worker that shuts down is told from a person', async () => {
  for (const [reason, byPerson] of [
    ['CANCELLED', true],
    ['WORKER_SHUTDOWN', false],
  ] as const) {
    const environment = new MockActivityEnvironment();
    const left = environment.run(async () => {
      const forever = new Promise<never>(() => {});
      return cancellable(progress, () => forever).catch((error: unknown) => ({
        error,
        person: isTaskCancelled(),
        at: Context.current().info.attempt,
      }));
    });
    environment.cancel(reason, { cancelRequested: byPerson, workerShutdown: !byPerson } as never);
    const { error, person } = (await left) as { error: unknown; person: boolean };
    expect(error).toBeInstanceOf(CancelledFailure);
    expect(person).toBe(byPerson);
  }
});
